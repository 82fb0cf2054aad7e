/// A JSON value (RFC 8259).
///
/// Whole numbers are exact to 64 bits. `1` and `1.0` are different values. Strings compare byte by byte (§8.3), not by Unicode
/// equivalence.
public enum JSON: Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    /// A number above `Int64.max`.
    case unsigned(UInt64)
    /// Finite when read. Any other value is written as `null`.
    case number(Double)
    case string(String)
    case array([JSON])
    case object(JSONObject)
}

extension JSON: Equatable {
    public static func == (left: JSON, right: JSON) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let one), .bool(let other)): one == other
        case (.integer(let one), .integer(let other)): one == other
        case (.unsigned(let one), .unsigned(let other)): one == other
        case (.number(let one), .number(let other)): one == other
        case (.string(let one), .string(let other)): one.isSameText(as: other)
        case (.array(let one), .array(let other)): one == other
        case (.object(let one), .object(let other)): one == other
        default: false
        }
    }
}

extension JSON {
    /// `.unsigned` only if the number does not fit in `.integer`.
    public init(_ value: UInt64) {
        if let small = Int64(exactly: value) { self = .integer(small) } else { self = .unsigned(value) }
    }

    public var isNull: Bool {
        if case .null = self { true } else { false }
    }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    /// A whole number in any notation (`3`, `3.0`, `3e0`).
    public var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .number(let value): Int64(exactly: value)
        default: nil
        }
    }

    /// Any number, rounded to the nearest double.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .unsigned(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }

    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    public var arrayValue: [JSON]? {
        if case .array(let value) = self { value } else { nil }
    }

    public var objectValue: JSONObject? {
        if case .object(let value) = self { value } else { nil }
    }

    /// The member of an object; `nil` for any other value.
    public subscript(_ key: String) -> JSON? { objectValue?[key] }

    /// The element of an array; `nil` if there is none.
    public subscript(_ index: Int) -> JSON? {
        guard case .array(let values) = self, values.indices.contains(index) else { return nil }
        return values[index]
    }

    /// The type for a message, such as "a string".
    var kindName: String {
        switch self {
        case .null: "null"
        case .bool: "a boolean"
        case .integer, .unsigned, .number: "a number"
        case .string: "a string"
        case .array: "an array"
        case .object: "an object"
        }
    }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(nilLiteral: ()) { self = .null }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(floatLiteral value: Double) { self = .number(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: JSON...) { self = .array(elements) }

    /// The last of equal keys wins.
    public init(dictionaryLiteral elements: (String, JSON)...) {
        var object = JSONObject(reserving: max(elements.count, 4))
        for (key, value) in elements { object[key] = value }
        self = .object(object)
    }
}
