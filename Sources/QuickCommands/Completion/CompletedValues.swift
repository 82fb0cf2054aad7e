/// The values that an option or an argument is completed with, for those that the agent returns in one answer.
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
        case "--session" where Self.haveSession(command): self = .sessions
        case "--scope" where Self.haveScope(command): self = .scopes
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

    /// The commands with `--session`.
    private static func haveSession(_ command: Text) -> Bool {
        switch command {
        case "call", "env", "exec", "export", "http add", "login", "logout", "mcp", "outbox drop", "outbox flush",
            "outbox list", "password change", "password request-reset", "password reset", "password set",
            "policy test", "proxy", "refresh", "register", "request", "status", "token", "trust", "validate", "wait",
            "watch", "whoami":
            true
        case "helper aws", "helper cargo", "helper curl", "helper docker", "helper git", "helper install",
            "helper kubernetes", "helper netrc", "helper pip", "helper sasl", "helper ssh-cert", "helper terraform",
            "helper wget":
            true
        default: false
        }
    }

    /// The commands with `--scope`, other than `login`: that is completed with scopes of several sessions.
    private static func haveScope(_ command: Text) -> Bool {
        switch command {
        case "env", "exec", "helper aws", "http add", "policy test", "token": true
        default: false
        }
    }

    /// The values in the agent's answer, with their escapes; `nil` for another form of answer.
    func list(in answer: JSONValue) -> [Text]? {
        switch self {
        case .sessions: SessionValues.list(answer)?.map { $0.session }
        case .providers: Self.list(in: answer, "providers") { ProviderValues($0)?.name }
        case .outbox: Self.list(in: answer, "entries") { OutboxValues($0)?.id }
        case .scopes: SessionValues(answer).map(Self.scopes(of:))
        }
    }

    /// - Parameters:
    ///   - key: the member that is an array.
    ///   - read: returns the value of an element; `nil` for another form of element.
    private static func list(in answer: JSONValue, _ key: StaticString, _ read: (JSONValue) -> Text?) -> [Text]? {
        guard var members = JSONList(object: answer) else { return nil }
        var values: [Text]?
        while let member = members.next() {
            guard member.key.equals(key) else { continue }
            guard var list = JSONList(array: member.value) else { return nil }
            var found: [Text] = []
            while let element = list.next() {
                guard let value = read(element.value) else { return nil }
                found.append(value)
            }
            values = found
        }
        return values
    }

    private static func scopes(of status: SessionValues) -> [Text] {
        guard var list = status.scopes.flatMap({ JSONList(array: $0) }) else { return [] }
        var scopes: [Text] = []
        while let scope = list.next()?.value.string { scopes.append(scope) }
        return scopes
    }
}
