import AuthWire
import CommandArguments
import Glibc

/// git's credential helper (git-credential(1), gitcredentials(7)).
struct GitHelper: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "git", abstract: "Give git a token as the password.",
        discussion: "git calls it: `authc helper install git --for https://git.example.org` configures that.")

    @OptionGroup var common: CommonOptions

    @Option(
        help: "The user name if git does not send one. Some servers require a particular one.", completion: .nothing)
    var user = HelperToken.standardUser

    @Argument(
        help: ArgumentHelp("get, store or erase.", valueName: "action"), completion: .list(["get", "store", "erase"]))
    var action: String

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        // The request contains a secret.
        if action == "erase" { try options.prepareForSecrets() }
        let bytes = try FileText.read(STDIN_FILENO, named: "stdin", atMost: Helper.longestRequest)
        let request = GitCredential(String(decoding: bytes, as: UTF8.self))
        switch action {
        case "get": try get(request, options)
        case "erase":
            if let url = request.origin, let token = request.secret {
                try HelperToken(options: options, origin: url).reject(token)
            }
        // A helper ignores what it does not know (gitcredentials(7)); authd stores its own tokens.
        default: break
        }
        return .done
    }

    private func get(_ request: GitCredential, _ options: Options) throws(Failure) {
        guard let url = request.origin else { return }
        let token = try HelperToken(options: options, origin: url).get()
        try Output.result(request.answer(token, user: user))
    }
}

/// The attributes that git sends and reads, one per line (git-credential(1), INPUT/OUTPUT FORMAT).
struct GitCredential {
    private var values: [String: String] = [:]
    private var lists: [String: [String]] = [:]

    init(_ text: String) {
        for bytes in text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) {
            // An empty line ends the list.
            guard !bytes.isEmpty else { break }
            guard !bytes.contains(UInt8(ascii: "\r")), !bytes.contains(0) else { continue }
            let halves = bytes.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                .map { String(Substring($0)) }
            guard halves.count == 2 else { continue }
            if halves[0].hasSuffix("[]") {
                // An empty value clears the list.
                lists[halves[0]] = halves[1].isEmpty ? [] : lists[halves[0], default: []] + [halves[1]]
            } else {
                values[halves[0]] = halves[1]
            }
        }
    }

    /// `nil` for protocols other than HTTP and HTTPS.
    var origin: String? {
        guard let scheme = values["protocol"], let host = values["host"], ["http", "https"].contains(scheme) else {
            return nil
        }
        // git has decoded it: https://good.example%2f.evil.example/ has this host.
        // Scalars: a slash with a combining mark is another character.
        guard !host.unicodeScalars.contains(where: { "/?#\\@".unicodeScalars.contains($0) }) else { return nil }
        return "\(scheme)://\(host)"
    }

    /// The secret that the server refused.
    var secret: String? { values["credential"] ?? values["password"] }

    /// Since 2.46, git lets the helper choose the scheme: Bearer, if the server offers it (RFC 6750).
    private var usesBearer: Bool {
        lists["capability[]", default: []].contains("authtype")
            && lists["wwwauth[]", default: []].contains { $0.lowercased().hasPrefix("bearer") }
    }

    func answer(_ token: TokenResult, user: String) -> String {
        var lines: [String]
        if usesBearer {
            lines = ["capability[]=authtype", "authtype=Bearer", "credential=\(token.accessToken)", "ephemeral=1"]
        } else {
            lines = ["username=\(values["username"] ?? user)", "password=\(token.accessToken)"]
        }
        if let end = token.expirySecond { lines.append("password_expiry_utc=\(end)") }
        return lines.joined(separator: "\n")
    }
}
