import AuthWire
import CommandArguments
import Glibc

/// The desktop runs this at the end of a sign-in whose redirect has a private scheme.
struct Redirect: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "redirect", abstract: "Send the redirect address of a sign-in to the agent.",
        discussion: "The desktop runs this. The agent ignores an address that no sign-in waits for.",
        shouldDisplay: false)

    @OptionGroup var common: GeneralOptions

    @Argument(help: "The address. Default: read from stdin.", completion: .nothing)
    var address: String?

    /// Longer than any address; the agent's own limit is lower.
    private static let longest = 64 << 10

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        try options.prepareForSecrets()
        var text = if let address { address } else { try Self.fromInput() }
        while text.last?.isWhitespace == true { text.removeLast() }
        _ = try options.connect().call(LoginRedirect(address: text))
        return .done
    }

    private static func fromInput() throws(Failure) -> String {
        String(decoding: try FileText.read(STDIN_FILENO, named: "stdin", atMost: longest), as: UTF8.self)
    }
}
