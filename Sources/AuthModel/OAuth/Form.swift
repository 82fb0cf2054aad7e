import AuthWire

/// A field of `application/x-www-form-urlencoded`, as the token endpoint accepts it (RFC 6749 §B).
package struct FormField: Sendable, Equatable {
    package let name: String
    package let value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

package enum Form {
    package static let mediaType = "application/x-www-form-urlencoded"

    package static func encode(_ fields: [FormField]) -> String {
        fields.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
    }

    /// Percent-encodes everything but unreserved characters. A form may have that for a space too.
    package static func encode(_ text: String) -> String { PercentEncoding.encode(text) }

    /// `nil` if an escape is invalid or its bytes are not UTF-8.
    package static func decode(_ text: String) -> [FormField]? {
        var fields: [FormField] = []
        for pair in text.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decoded(halves[0]), let value = halves.count == 2 ? decoded(halves[1]) : "" else {
                return nil
            }
            fields.append(FormField(name, value))
        }
        return fields
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard rest.count >= 2, rest.prefix(2).allSatisfy(\.isHexDigit),
                    let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
                else { return nil }
                bytes.append(value)
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension [FormField] {
    /// The value of a name that occurs once; a repeated name counts as missing (RFC 6749 §3.1).
    package subscript(_ name: String) -> String? {
        let found = filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }
}
