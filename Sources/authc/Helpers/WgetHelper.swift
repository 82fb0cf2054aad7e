import AuthConnection
import AuthWire
import CommandArguments
import Glibc

/// wget's configuration (wget(1), WGETRC) in a file without a name: wget accepts no pipe, and a token in its arguments would be
/// visible to every program.
struct WgetHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "wget", abstract: "Run wget with the token for a URL.",
        usage: "authc helper wget [<options>] <url> [-- <option of wget> ...]",
        discussion: """
            wget sends the token with every request: give one URL. Options that add others are refused, and redirects are \
            not followed. wget reads this configuration instead of ~/.wgetrc.
            """)

    @OptionGroup var common: CommonOptions

    @Argument(help: "What wget requests, with the token.", completion: .origins)
    var url: String

    @Argument(
        parsing: .postTerminator, help: ArgumentHelp("Options of wget.", valueName: "option"), completion: .nothing)
    var words: [String] = []

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if let refused = WgetOptions.firstRefused(in: words) {
            throw .usage(
                "wget would send the token to every server it contacts: pass one URL, and no option that adds others",
                hint: "'\(Visible.line(refused))' is not one of: \(WgetOptions.text)")
        }
        try Self.checkVersion()
        let token = try HelperToken(options: options, origin: url).get()
        guard token.accessToken.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw .usage("wget's configuration cannot contain this token: it has a space")
        }
        // wget sends its headers to the host of a redirect as well.
        let file = try TokenDescriptor.make(
            "header = Authorization: Bearer \(token.accessToken)\nmax_redirect = 0\n")
        let program = ChildProgram(
            command: ["wget", url] + words, variables: [("WGETRC", "/proc/self/fd/\(file.number)")],
            descriptors: [(file.number, file)])
        try program.replaceThis()
    }

    /// Wget2 does not read WGETRC, and follows redirects.
    private static func checkVersion() throws(Failure) {
        let output = try TokenDescriptor.make("")
        let command = ["env", "LC_ALL=C", "wget", "--version"]
        let status = try ChildProgram(command: command, variables: [], descriptors: [(STDOUT_FILENO, output)]).run()
        lseek(output.number, 0, SEEK_SET)
        let bytes = try FileText.read(output.number, named: "wget --version", atMost: Helper.longestRequest)
        let text = String(decoding: bytes, as: UTF8.self)
        guard status != ExitStatus.commandNotFound.rawValue else {
            throw Failure(status: .commandNotFound, kind: "command_not_found", message: "wget is not on the PATH")
        }
        guard text.hasPrefix("GNU Wget ") else {
            let found = text.hasPrefix("GNU Wget2 ") ? "Wget2" : "another program"
            throw .usage("the helper needs GNU Wget 1; this wget is \(found)")
        }
    }
}

/// The options of wget that add no request to another server. Abbreviations are unknown, so that no other option is one.
enum WgetOptions {
    private static let flags = [
        "-q", "-v", "-nv", "-nc", "-c", "-S", "-N", "-4", "-6", "--spider", "--content-on-error",
    ]
    private static let withValue = [
        "--output-document", "--directory-prefix", "--output-file", "--timeout", "--tries", "--limit-rate",
        "--progress", "--header", "--user-agent", "--ca-certificate", "--method", "--body-data", "--body-file",
    ]
    /// Its value is the rest of the word, or the next word.
    private static let output = ["-O", "-qO"]

    static var text: String {
        (output.map { $0 + " FILE" } + flags + withValue.map { $0 + "=" }).joined(separator: " ")
    }

    static func firstRefused(in words: [String]) -> String? {
        var isValue = false
        for word in words {
            if isValue {
                isValue = false
            } else if output.contains(word) {
                isValue = true
            } else if !isAccepted(word) {
                return word
            }
        }
        return isValue ? words.last : nil
    }

    private static func isAccepted(_ word: String) -> Bool {
        flags.contains(word) || output.contains(where: word.hasPrefix)
            || withValue.contains { word.hasPrefix($0 + "=") }
    }
}
