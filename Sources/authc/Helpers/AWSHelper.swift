import AuthWire
import CommandArguments

/// AWS's protocol of a `credential_process`, version 1.
struct AWSHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "aws", abstract: "Give AWS's command line and SDKs the credentials of a role.",
        discussion: """
            They call it, as the credential_process of a profile. It exchanges the session's token at the Security Token \
            Service (AssumeRoleWithWebIdentity). The token must be a JWT that the role's trust policy accepts.
            """)

    @Option(name: [.short, .long], help: "The session.", completion: .sessions)
    var session: String?

    @Option(help: ArgumentHelp("The role.", valueName: "arn"), completion: .nothing)
    var role: String

    @Option(
        help: ArgumentHelp("The Security Token Service. Default: \(EndpointClient.usualSTS).", valueName: "url"),
        completion: .nothing)
    var sts: String?

    @Option(help: "Use a token for this scope. Can be repeated.", completion: .scopes)
    var scope: [String] = []

    @Option(help: "Use a token for this audience.", completion: .nothing)
    var audience: String?

    @OptionGroup var common: SocketOption

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        var options = options
        options.session = session
        var words = [try InstalledProgram.gateway(), "aws", "--role", role]
        if let session = try options.chosenSession() { words += ["--session", session.text] }
        if let sts { words += ["--sts", sts] }
        for scope in scope { words += ["--scope", scope] }
        if let audience { words += ["--audience", audience] }
        if let socket = options.socket { words += ["--socket", socket] }
        try ChildProgram(command: words, variables: []).replaceThis()
    }
}
