/// Writes the members of one object.
struct ObjectEncoder: MemberVisitor {
    typealias Failure = Never

    private(set) var object = JSONObject()

    mutating func required<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) {
        object[key] = field.write(value)
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ field: Field<Value>) {
        if let value { object[key] = field.write(value) }
    }

    mutating func optional<Value: Equatable>(
        _ key: String, _ value: inout Value, _ field: Field<Value>, default defaultValue: Value
    ) {
        if value != defaultValue { object[key] = field.write(value) }
    }

    mutating func written<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) {
        object[key] = field.write(value)
    }
}
