package import AuthWire

/// Values for the placeholders of a template. An empty text counts as no value.
package struct TemplateValues: Sendable, Equatable {
    /// Names whose values come from the session, as far as its provider reports them.
    package enum Name {
        package static let environment = "environment"
        package static let accessToken = "access_token"
        package static let refreshToken = "refresh_token"
        package static let userID = "user.id"
        package static let userEmail = "user.email"
        package static let userName = "user.name"

        static let all: Set = [environment, accessToken, refreshToken, userID, userEmail, userName]
    }

    private var values: [String: Secret] = [:]
    /// JSON values that are not strings, used if they are a whole value of a body.
    private var typed: [String: JSON] = [:]
    /// Values that may contain a slash in a path: arguments of type `path`, and what the provider itself issued.
    private var withSlashes: Set<String> = []

    /// The names of answers, of their claims, and of what responses had for them.
    private var answers: Set<String> = []

    /// The key that the access token is bound to.
    package private(set) var proofKey: Secret?

    package subscript(name: String) -> Secret? { values[name] }

    var accessToken: Secret? {
        get { values[Name.accessToken] }
        set { set(Name.accessToken, newValue) }
    }

    /// For a request of another program.
    package init(accessToken: Secret) {
        set(Name.accessToken, accessToken)
    }

    /// For a sign-in.
    package init(environment: String, fields: [String: Secret], method: SignInMethod) {
        addFields(fields, method)
        set(Name.environment, Secret(environment))
    }

    /// For a request of a sign-in.
    init(_ given: SignInValues, method: SignInMethod) {
        self.init(environment: given.environment, fields: given.fields, method: method)
        for (name, value) in given.stepFields { set(name, value) }
        for (name, value) in given.captured {
            set(name, value)
            withSlashes.insert(name)
            answers.insert(name)
        }
    }

    private mutating func set(_ name: String, _ value: IssuedValue) {
        typed[name] = value.json
        set(name, value.text)
    }

    /// For a request with a session and answers of the user.
    package init(_ record: SessionRecord, fields: [String: Secret], method: SignInMethod) {
        self.init(record)
        addFields(fields, method)
    }

    /// For a request with a session.
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

    /// The same text for every name, to see what a template produces.
    package init(standIn text: String, for names: [String]) {
        for name in names { set(name, Secret(text)) }
    }

    /// An empty answer is replaced by the field's initial value. An ID token also provides its claims, as `{field.claim}`.
    private mutating func addFields(_ fields: [String: Secret], _ method: SignInMethod) {
        for field in method.fields {
            let given = fields[field.name].flatMap { $0.isEmpty ? nil : $0 }
            guard let answer = given ?? field.value.map({ Secret($0) }) else { continue }
            set(field.name, answer)
            answers.insert(field.name)
            guard field.kind == FieldKind.idToken else { continue }
            for (claim, text) in JWTClaims.texts(of: answer) {
                set("\(field.name).\(claim)", Secret(text))
                answers.insert("\(field.name).\(claim)")
            }
        }
    }

    /// An argument: JSON of its type in a body, its text everywhere else.
    package mutating func assign(_ name: String, _ value: JSON, isPath: Bool = false) {
        typed[name] = value
        if isPath { withSlashes.insert(name) }
        set(name, Secret(value.stringValue ?? value.text()))
    }

    /// Whether the value may contain a slash as part of a path.
    func mayHoldSlash(_ name: String) -> Bool { withSlashes.contains(name) }

    /// Whether the value is an answer of the user, or comes from one.
    func isAnswer(_ name: String) -> Bool { answers.contains(name) }

    /// `nil` if the value is text.
    package func json(_ name: String) -> JSON? { typed[name] }

    private mutating func set(_ name: String, _ value: Secret?) {
        guard let value, !value.isEmpty else { return }
        values[name] = value
    }
}
