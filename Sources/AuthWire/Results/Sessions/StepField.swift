/// One of the values that a field can have.
public struct FieldChoice: WireObject {
    /// The answer.
    public var value = ""
    /// For the user.
    public var label = ""

    public init(blank: Blank) {}
    public init(value: String, label: String) {
        self.value = value
        self.label = label
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("value", &value, .string)
        try visitor.required("label", &label, .string)
    }
}

/// A value that a sign-in asks the user for.
public struct StepField: WireObject {
    public var name = ""
    public var label = ""
    /// To be read without echo and never shown.
    public var secret = false
    public var optional = false
    /// What it is, for a client that can help with it: `text`, `email`, `password`, `new-password` (typed twice),
    /// `code`, `id-token`, `key` or `agreement` (a question that is answered with `yes` or `no`).
    public var kind: String?

    /// The ``kind`` of a question that only `yes` agrees to.
    public static let agreement = "agreement"
    /// The answer that agrees.
    public static let yes = "yes"
    /// The ``kind`` of a password that the account does not have yet.
    public static let newPassword = "new-password"
    /// What the value must satisfy, in words.
    public var rules: [String]?
    /// The value if the user gives none.
    public var value: String?
    /// The value is one of these.
    public var choices: [FieldChoice]?

    public init(blank: Blank) {}
    public init(
        name: String, label: String, secret: Bool = false, optional: Bool = false, kind: String? = nil,
        rules: [String]? = nil, value: String? = nil, choices: [FieldChoice]? = nil
    ) {
        self.name = name
        self.label = label
        self.secret = secret
        self.optional = optional
        self.kind = kind
        self.rules = rules
        self.value = value
        self.choices = choices
    }

    public mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("name", &name, .string)
        try visitor.required("label", &label, .string)
        try visitor.written("secret", &secret, .bool)
        try visitor.written("optional", &optional, .bool)
        try visitor.optional("kind", &kind, .string)
        try visitor.optional("rules", &rules, .strings)
        try visitor.optional("value", &value, .string)
        try visitor.optional("choices", &choices, .list())
    }
}
