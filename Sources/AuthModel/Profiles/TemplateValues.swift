package import AuthWire

/// What the places of a template may be filled with. An empty text is no value.
package struct TemplateValues: Sendable {
    /// The names that a session gives, as far as its provider tells them.
    package enum Name {
        package static let environment = "environment"
        package static let accessToken = "access_token"
        package static let refreshToken = "refresh_token"
        package static let userID = "user.id"
        package static let userEmail = "user.email"
        package static let userName = "user.name"
    }

    private var values: [String: Secret] = [:]
    /// Values that are JSON of another kind than text, where they stand alone in a body.
    private var typed: [String: JSON] = [:]
    /// Values that may hold a slash in a path: arguments of the type `path`, and what the provider itself gave.
    private var withSlashes: Set<String> = []

    /// What the access token is bound to, if to anything.
    package private(set) var proofKey: Secret?

    package subscript(name: String) -> Secret? { values[name] }

    /// At sign-in: what a person gave.
    package init(environment: String, fields: [String: Secret], method: SignInMethod) {
        addFields(fields, method)
        set(Name.environment, Secret(environment))
    }

    /// With a session: what a person gave, and what the session knows.
    package init(_ record: SessionRecord, fields: [String: Secret], method: SignInMethod) {
        self.init(record)
        addFields(fields, method)
    }

    /// Later: what the session knows.
    package init(_ record: SessionRecord) {
        set(Name.environment, Secret(record.environment))
        set(Name.accessToken, record.tokens.accessToken)
        proofKey = record.tokens.proofKey
        set(Name.refreshToken, record.tokens.refreshToken)
        set(Name.userID, record.user?.id.map(Secret.init))
        set(Name.userEmail, record.user?.email.map(Secret.init))
        set(Name.userName, record.user?.name.map(Secret.init))
        withSlashes = [Name.userID, Name.userEmail, Name.userName]
    }

    /// The same text for every name, to see what a template comes to.
    package init(standIn text: String, for names: [String]) {
        for name in names { set(name, Secret(text)) }
    }

    /// An empty answer is none: then what the field begins with. An ID token gives its claims too, as `{field.claim}`.
    private mutating func addFields(_ fields: [String: Secret], _ method: SignInMethod) {
        for field in method.fields {
            let given = fields[field.name].flatMap { $0.isEmpty ? nil : $0 }
            guard let answer = given ?? field.value.map({ Secret($0) }) else { continue }
            set(field.name, answer)
            guard field.kind == FieldKind.idToken else { continue }
            for (claim, text) in JWTClaims.texts(of: answer) { set("\(field.name).\(claim)", Secret(text)) }
        }
    }

    /// What a caller gives: JSON of its own kind in a body, its text everywhere else.
    package mutating func assign(_ name: String, _ value: JSON, isPath: Bool = false) {
        typed[name] = value
        if isPath { withSlashes.insert(name) }
        set(name, Secret(value.stringValue ?? value.text()))
    }

    /// Whether the value may hold a slash if it is part of a path.
    func mayHoldSlash(_ name: String) -> Bool { withSlashes.contains(name) }

    /// `nil` where there is only a text.
    package func json(_ name: String) -> JSON? { typed[name] }

    private mutating func set(_ name: String, _ value: Secret?) {
        guard let value, !value.isEmpty else { return }
        values[name] = value
    }
}
