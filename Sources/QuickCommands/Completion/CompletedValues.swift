/// The values that a shell completes an option or an argument with, if the agent returns them in one answer.
///
/// A test compares the commands here with the declarations in `authc-full` (`Completions`).
enum CompletedValues {
    case sessions, providers, outbox, scopes

    /// `nil` for any other argument.
    /// - Parameters:
    ///   - command: its words, with spaces between them.
    ///   - argument: as the script names it.
    init?(of command: Text, argument: Text) {
        switch argument {
        case "--session" where Self.hasSession(command): self = .sessions
        case "--scope" where Self.hasScope(command): self = .scopes
        case "positional@0":
            switch command {
            case "use": self = .sessions
            case "login", "register", "password request-reset", "password reset", "provider show", "provider forget":
                self = .providers
            case "outbox show", "outbox flush", "outbox drop": self = .outbox
            default: return nil
            }
        default: return nil
        }
    }

    /// Whether the command has `--session`.
    private static func hasSession(_ command: Text) -> Bool {
        switch command {
        case "call", "env", "exec", "export", "http add", "login", "logout", "mcp", "outbox drop", "outbox flush",
            "outbox list", "password change", "password request-reset", "password reset", "password set",
            "policy test", "proxy", "refresh", "register", "request", "status", "token", "trust", "validate", "wait",
            "watch", "whoami", "helper aws", "helper cargo", "helper curl", "helper docker", "helper git",
            "helper install", "helper kubernetes", "helper netrc", "helper pip", "helper sasl", "helper ssh-cert",
            "helper terraform", "helper wget":
            true
        default: false
        }
    }

    /// Whether the command has `--scope` for one session. That of `login` is completed with the scopes of several.
    private static func hasScope(_ command: Text) -> Bool {
        switch command {
        case "env", "exec", "helper aws", "http add", "policy test", "token": true
        default: false
        }
    }

    /// The values in the agent's answer, with their escapes; `nil` for another form of answer.
    func list(in answer: JSONValue) -> [Text]? {
        switch self {
        case .sessions: SessionValues.list(answer)?.map { $0.session }
        case .providers: answer.list("providers") { ProviderValues($0)?.name }
        case .outbox: answer.list("entries") { OutboxValues($0)?.id }
        case .scopes: SessionValues(answer).map(Self.scopes(of:))
        }
    }

    private static func scopes(of status: SessionValues) -> [Text] {
        guard var list = status.scopes.flatMap({ JSONList(array: $0) }) else { return [] }
        var scopes: [Text] = []
        while let scope = list.next()?.value.string { scopes.append(scope) }
        return scopes
    }
}
