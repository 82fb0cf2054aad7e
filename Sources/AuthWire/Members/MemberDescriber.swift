/// The description of one member for `rpc.discover`.
package struct MemberDescription: Sendable, Equatable {
    package let name: String
    package let type: MemberType
    package let isRequired: Bool
}

/// JSON Schema's names of types.
package enum MemberType: String, Sendable {
    case string, integer, number, boolean, object, array
    /// A value of any type: a schema without a type.
    case any
}

/// Lists the members of an object.
struct MemberDescriber: MemberVisitor {
    typealias Failure = Never

    private(set) var list: [MemberDescription] = []

    mutating func required<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) {
        list.append(MemberDescription(name: key, type: field.type, isRequired: true))
    }

    mutating func optional<Value>(_ key: String, _ value: inout Value?, _ field: Field<Value>) {
        list.append(MemberDescription(name: key, type: field.type, isRequired: false))
    }

    mutating func optional<Value: Equatable>(
        _ key: String, _ value: inout Value, _ field: Field<Value>, default defaultValue: Value
    ) {
        list.append(MemberDescription(name: key, type: field.type, isRequired: false))
    }

    mutating func written<Value>(_ key: String, _ value: inout Value, _ field: Field<Value>) {
        list.append(MemberDescription(name: key, type: field.type, isRequired: false))
    }
}
