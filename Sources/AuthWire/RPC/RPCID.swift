/// The id of a JSON-RPC 2.0 request (§4), which is returned unchanged.
///
/// A number outside of 64 bits is returned as the nearest double, as every JSON peer must expect (RFC 8259 §6).
public enum RPCID: Hashable, Sendable {
    case null
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)

    /// `nil` for a boolean, an array or an object.
    public init?(_ json: JSON) {
        switch json {
        case .null: self = .null
        case .integer(let value): self = .integer(value)
        case .unsigned(let value): self = .unsigned(value)
        case .number(let value): self = .number(value)
        case .string(let value): self = .string(value)
        case .bool, .array, .object: return nil
        }
    }

    public var json: JSON {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .number(let value): .number(value)
        case .string(let value): .string(value)
        }
    }
}
