import AuthWire

/// A session's values by the names that `--json FIELD,…` and `--format` use.
struct SessionFields {
    private let values: JSONObject

    /// Those of the protocol, and some that are for people.
    static let names = SessionStatus.memberList.map(\.name) + UserSummary.memberList.map { "user." + $0.name } + own
    private static let own = ["name", "account", "left"]

    /// - Parameter json: the same status as the agent sent it.
    init(_ status: SessionStatus, _ json: JSON, now: Double) {
        var values = json.objectValue ?? JSONObject()
        values["name"] = .string(status.session.text)
        let account = StatusCard.who(status)
        values["account"] = account.isEmpty ? nil : .string(account)
        let left = status.expiresAt.map { $0 - now } ?? 0
        values["left"] = status.state == .active && left > 0 ? .string(Span.text(seconds: left)) : nil
        self.values = values
    }

    subscript(_ name: String) -> JSON? {
        name.hasPrefix("user.") ? values["user"]?[String(name.dropFirst(5))] : values[name]
    }

    /// An object with these fields; `null` for one that the session does not have.
    func json(_ names: [String]) -> JSON {
        var object = JSONObject()
        for name in names { object[name] = self[name] ?? .null }
        return .object(object)
    }

    /// For a line of text.
    func text(_ name: String) -> String {
        switch self[name] {
        case nil, .null: ""
        case .string(let text): text
        case .number(let number): Int64(exactly: number).map { "\($0)" } ?? "\(number)"
        case .array(let list): list.map { $0.stringValue ?? $0.text() }.joined(separator: " ")
        case let value?: value.text()
        }
    }

    /// - Throws: a usage error that names all fields.
    static func check(_ name: String, option: String) throws(Failure) {
        guard !names.contains(name) else { return }
        let near = NameAdvice.meant(name, among: names).map { $0 + " " } ?? ""
        throw .usage(
            "\(option): there is no field '\(Visible.line(name))'",
            hint: near + "The fields are " + names.joined(separator: ", "))
    }
}

/// How the sessions are printed: `--json`, `--json FIELD,…` or `--format TEMPLATE`.
enum SessionFormat {
    case screen
    case json
    case fields([String])
    case template(SessionTemplate)

    /// - Parameter json: the value of `--json`; empty without one.
    init(json: String?, template: String?) throws(Failure) {
        switch (json, template) {
        case (nil, nil): self = .screen
        case (nil, let template?): self = .template(try SessionTemplate(template))
        case ("", nil): self = .json
        case (let json?, nil):
            let names = json.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
            for name in names { try SessionFields.check(name, option: "--json") }
            self = .fields(names)
        default: throw .usage("use --json or --format, not both")
        }
    }
}
