/// One thing that a sign-in asks a person for.
public struct StepField: Sendable, Equatable {
    public var name: String
    public var label: String
    /// To be read without echo and never shown.
    public var secret: Bool
    public var optional: Bool
    /// What it is, for a client that can help with it: `text`, `email`, `password`, `new-password` (typed twice),
    /// `code`, `id-token` or `agreement` (a question that is answered with `yes` or `no`).
    public var kind: String?

    /// The ``kind`` of a question that only `yes` agrees to.
    public static let agreement = "agreement"
    /// In words: what the answer must be like.
    public var rules: [String]?
    /// What is taken when a person gives nothing.
    public var value: String?

    public init(
        name: String, label: String, secret: Bool = false, optional: Bool = false, kind: String? = nil,
        rules: [String]? = nil, value: String? = nil
    ) {
        self.name = name
        self.label = label
        self.secret = secret
        self.optional = optional
        self.kind = kind
        self.rules = rules
        self.value = value
    }

    public init(_ json: JSON) throws(AgentError) {
        let members = try Members(result: json)
        name = try members.required("name", .string)
        label = try members.required("label", .string)
        secret = try members.optional("secret", .bool) ?? false
        optional = try members.optional("optional", .bool) ?? false
        kind = try members.optional("kind", .string)
        rules = try members.optional("rules", .strings)
        value = try members.optional("value", .string)
    }

    public var json: JSON {
        var object: JSONObject = [
            "name": .string(name), "label": .string(label), "secret": .bool(secret), "optional": .bool(optional),
        ]
        object["kind"] = kind.map(JSON.string)
        object["rules"] = rules.map(JSON.strings)
        object["value"] = value.map(JSON.string)
        return .object(object)
    }
}
