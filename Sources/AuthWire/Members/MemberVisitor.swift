/// Visits the members of an object: reads, writes or describes them.
public protocol MemberVisitor {
    associatedtype Failure: Error

    /// A required member.
    mutating func required<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) throws(Failure)

    /// A member that may be absent, which is `nil`.
    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ field: Field<Value>) throws(Failure)

    /// A member that is omitted if it has its default value.
    mutating func optional<Value: Equatable>(
        _ key: String, _ value: inout Value, _ field: Field<Value>, default defaultValue: Value
    ) throws(Failure)

    /// A member that is always written, but may be absent when read. Then the blank object's value stays.
    mutating func written<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) throws(Failure)
}
