/// A place in a JSON value (RFC 6901, the string form of §3).
///
/// In a list, a step `id=mfa` also names the first element whose member `id` has this value, and `=mfa` the first element that
/// is this value. RFC 6901 has no meaning for such a step in a list.
public struct JSONPointer: Sendable, Equatable, Hashable, CustomStringConvertible {
    public let text: String
    private let tokens: [String]

    /// - Parameter text: empty for the whole value, otherwise `/` before each step, with `~1` for `/` and `~0` for `~`.
    public init(_ text: String) throws(JSONPointerError) {
        self.text = text
        guard !text.isEmpty else {
            tokens = []
            return
        }
        guard text.utf8.first == UInt8(ascii: "/") else {
            throw JSONPointerError(text: text, reason: "must be empty or begin with '/'")
        }
        var tokens: [String] = []
        for part in text.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            tokens.append(try Self.token(part, of: text))
        }
        self.tokens = tokens
    }

    private init() {
        text = ""
        tokens = []
    }

    /// The whole value.
    public static let whole = JSONPointer()

    /// The value at this place; `nil` if there is none. `-`, the place after an array's end, never has one (§4).
    public func find(in value: JSON) -> JSON? {
        var value = value
        for token in tokens {
            switch value {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                guard let element = Self.element(token, of: elements) else { return nil }
                value = element
            default:
                return nil
            }
        }
        return value
    }

    public var description: String { text }

    private static func token(
        _ part: Substring.UTF8View, of text: String
    ) throws(JSONPointerError) -> String {
        var bytes: [UInt8] = []
        var afterTilde = false
        for byte in part {
            switch (afterTilde, byte) {
            case (true, UInt8(ascii: "0")): bytes.append(UInt8(ascii: "~"))
            case (true, UInt8(ascii: "1")): bytes.append(UInt8(ascii: "/"))
            case (true, _): throw JSONPointerError(text: text, reason: "'~' must be followed by 0 or 1")
            case (false, UInt8(ascii: "~")): break
            case (false, _): bytes.append(byte)
            }
            afterTilde = !afterTilde && byte == UInt8(ascii: "~")
        }
        guard !afterTilde else { throw JSONPointerError(text: text, reason: "'~' must be followed by 0 or 1") }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func element(_ token: String, of elements: [JSON]) -> JSON? {
        if let index = index(token) {
            // Not with `?:`: its `nil` would be the JSON `null`.
            guard index < elements.count else { return nil }
            return elements[index]
        }
        guard let equals = token.utf8.firstIndex(of: UInt8(ascii: "=")) else { return nil }
        let (name, value) = (String(token[..<equals]), token[equals...].utf8.dropFirst())
        return elements.first { element in
            switch name.isEmpty ? element : element[name] {
            case nil, .null, .array, .object: false
            case let found?: (found.stringValue ?? found.text()).utf8.elementsEqual(value)
            }
        }
    }

    /// Digits without a leading zero (§4).
    private static func index(_ token: String) -> Int? {
        let digits = token.utf8
        guard digits.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            digits.count == 1 || digits.first != UInt8(ascii: "0")
        else { return nil }
        return Int(token)
    }
}

/// Why a text is not a JSON Pointer.
public struct JSONPointerError: Error, Sendable, Equatable, CustomStringConvertible {
    public let text: String
    public let reason: String

    public init(text: String, reason: String) {
        self.text = text
        self.reason = reason
    }

    public var description: String { "JSON Pointer '\(text)': \(reason)" }
}
