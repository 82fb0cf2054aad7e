import AuthWire
import CommandArguments

/// curl's configuration on stdin (curl(1), -K): a token in curl's arguments would be visible to every program.
struct CurlHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "curl", abstract: "Print a line of configuration with the token for curl.",
        discussion: "authc helper curl URL | curl -K - URL")

    @OptionGroup var common: CommonOptions

    @Argument(help: "Where curl sends the token.", completion: .origins)
    var url: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let token = try HelperToken(options: options, origin: url).get()
        let value = token.accessToken.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        try Output.result("header = \"Authorization: Bearer \(value)\"")
        return .done
    }
}

/// netrc(5), for programs that read nothing else.
struct NetrcHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "netrc", abstract: "Print a line of a netrc file with the token as the password.",
        discussion: "curl --netrc-file <(authc helper netrc URL) URL")

    @OptionGroup var common: CommonOptions

    @Option(help: "The user name. Some servers require a particular one.", completion: .nothing)
    var user = HelperToken.standardUser

    @Argument(help: "Where the program sends the token.", completion: .origins)
    var url: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let token = try HelperToken(options: options, origin: url).get()
        guard Self.isWord(token.accessToken), Self.isWord(user) else {
            throw .usage("a netrc file cannot have spaces in a user name or token")
        }
        try Output.result("machine \(Self.host(of: url)) login \(user) password \(token.accessToken)")
        return .done
    }

    /// Scalars: a space may be one character with what is before or after it.
    private static func isWord(_ text: String) -> Bool {
        !text.unicodeScalars.contains { $0.properties.isWhitespace }
    }

    /// Bytes: a slash with a combining mark is another character, but the agent and other programs still see the slash.
    private static func host(of url: String) -> Substring {
        let slash = UInt8(ascii: "/")
        return Substring(url.utf8.drop { $0 != slash }.drop { $0 == slash }.prefix { !"/:?#".utf8.contains($0) })
    }
}

/// The first response of SASL's OAuth mechanisms, in base64.
struct SASLHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "sasl", abstract: "Print the first response of XOAUTH2 or OAUTHBEARER for a mail server.",
        discussion: "msmtp, mbsync and mutt make it themselves, with `authc token -s NAME` as the password command.")

    @OptionGroup var common: CommonOptions

    @Option(
        help: "xoauth2 or oauthbearer (RFC 7628).", completion: .words(SASLMechanism.self), transform: mechanismWord)
    var mechanism: SASLMechanism = .xoauth2

    @Option(help: "The user at the server. Default: the account's e-mail address.", completion: .nothing)
    var user: String?

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        let request = TokenRequest(session: try options.chosenSession(), timeout: options.timeout)
        let needed: [TokenValue] = user == nil ? [.accessToken, .userEmail] : [.accessToken]
        let credential = try Credential(request, for: needed, from: try options.connect())
        let user = if let user { user } else { try credential.value(.userEmail) }
        // A control character could add fields.
        guard user.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { throw .usage("--user: invalid characters") }
        let response = mechanism.response(user: user, token: credential.token.accessToken)
        try Output.result(Base64.encode(Array(response.utf8)))
        return .done
    }
}

enum SASLMechanism: String, CaseIterable {
    case xoauth2, oauthbearer

    func response(user: String, token: String) -> String {
        switch self {
        // Google's "XOAUTH2 Protocol".
        case .xoauth2: return "user=\(user)\u{1}auth=Bearer \(token)\u{1}\u{1}"
        case .oauthbearer:
            // saslname, RFC 5801 §4.
            let name = user.replacing("=", with: "=3D").replacing(",", with: "=2C")
            return "n,a=\(name),\u{1}auth=Bearer \(token)\u{1}\u{1}"
        }
    }
}

private func mechanismWord(_ text: String) throws(ValidationError) -> SASLMechanism { try word(text) }
