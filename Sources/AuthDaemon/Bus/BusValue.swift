import AuthWire

/// A value of a D-Bus message, as far as the interface uses them (D-Bus specification, "Type System").
enum BusValue: Equatable {
    case string(String)
    case path(String)
    case bool(Bool)
    /// An integer with 64 bits.
    case integer(Int64)
    case double(Double)
    case strings([String])
    /// `a{sv}`, in this order.
    case table([Entry])

    struct Entry: Equatable {
        let key: String
        let value: BusValue
    }

    var signature: String {
        switch self {
        case .string: "s"
        case .path: "o"
        case .bool: "b"
        case .integer: "x"
        case .double: "d"
        case .strings: "as"
        case .table: "a{sv}"
        }
    }

    /// The members of a JSON object that D-Bus has types for. Others are left out.
    static func table(_ object: JSONObject) -> BusValue {
        .table(object.compactMap { key, value in BusValue(value).map { Entry(key: key, value: $0) } })
    }

    private init?(_ json: JSON) {
        switch json {
        case .bool(let value): self = .bool(value)
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .double(Double(value))
        case .number(let value): self = .double(value)
        case .string(let value): self = .string(value)
        case .array(let values): self = .strings(values.compactMap(\.stringValue))
        case .object(let object): self = .table(object)
        case .null: return nil
        }
    }
}
