/// Reads the members of one object. An error names the key and what was expected, never the value.
///
/// `null` is the same as an absent key, unless the field accepts it. In a store, it is damage: the agent never writes it.
struct ObjectDecoder: MemberVisitor {
    /// Where the object comes from. It decides the error.
    enum Source {
        /// The caller: -32602.
        case params
        /// The agent, read by a client.
        case result
        /// A store of the agent. The message is a reason, without the object's name.
        case store
    }

    private let object: JSONObject
    private let source: Source
    /// The number of keys that belong to a member.
    private(set) var knownKeys = 0

    init(_ object: JSONObject, from source: Source) {
        self.object = object
        self.source = source
    }

    mutating func required<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) throws(AgentError) {
        guard let found = try read(key, field) else { throw problem(key, field, found: nil) }
        value = found
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ field: Field<Value>) throws(AgentError) {
        value = try read(key, field)
    }

    mutating func optional<Value: Equatable>(
        _ key: String, _ value: inout Value, _ field: Field<Value>, default defaultValue: Value
    ) throws(AgentError) {
        value = try read(key, field) ?? defaultValue
    }

    mutating func written<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) throws(AgentError) {
        if let found = try read(key, field) { value = found }
    }

    private mutating func read<Value>(_ key: String, _ field: Field<Value>) throws(AgentError) -> Value? {
        guard let json = object[key] else { return nil }
        knownKeys += 1
        let isNull = json.isNull && !field.acceptsNull
        if isNull, source != .store { return nil }
        if !isNull, let value = try field.read(json, source) { return value }
        guard field.ignoresInvalid else { throw problem(key, field, found: json.kindName) }
        return nil
    }

    /// - Parameter found: `nil` if the member is missing.
    private func problem<Value>(_ key: String, _ field: Field<Value>, found: String?) -> AgentError {
        let kind = found ?? "nothing"
        return switch source {
        case .params: .invalidParams("params.\(key): expected \(field.expectation), found \(kind).")
        case .result: .internalError("The agent's result: \(key): expected \(field.expectation), found \(kind).")
        case .store where found == nil: .internalError("'\(key)' is missing")
        case .store: .internalError("'\(key)' should be \(field.expectation), not \(kind)")
        }
    }
}
