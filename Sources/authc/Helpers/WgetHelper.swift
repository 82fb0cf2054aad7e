import ArgumentParser
import AuthClient
import AuthWire

/// wget's configuration (wget(1), WGETRC) in a file without a name: wget accepts no pipe, and a token in its arguments would be
/// visible to every program.
struct WgetHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "wget", abstract: "Run wget with the token for a URL.",
        usage: "authc helper wget [<options>] <url> [-- <option of wget> ...]",
        discussion: "wget reads this configuration in place of ~/.wgetrc, and does not follow redirects.")

    @OptionGroup var common: CommonOptions

    @Argument(help: "What wget requests, with the token.")
    var url: String

    @Argument(parsing: .postTerminator, help: ArgumentHelp("Options of wget.", valueName: "option"))
    var words: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let token = try HelperToken(options: options, origin: url).get()
        guard token.accessToken.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .usage("wget's configuration cannot have this token: it has spaces or control characters")
        }
        // wget sends its headers to the host of a redirect as well.
        let file = try TokenDescriptor.make(
            "header = Authorization: Bearer \(token.accessToken)\nmax_redirect = 0\n")
        let program = ChildProgram(
            command: ["wget", url] + words, variables: [("WGETRC", "/proc/self/fd/\(file.number)")],
            descriptor: (file.number, file))
        try program.replaceThis()
    }
}
