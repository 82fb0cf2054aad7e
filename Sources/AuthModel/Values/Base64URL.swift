import AuthWire

/// RFC 4648 §5 without padding, as OAuth and JOSE write bytes.
package enum Base64URL {
    package static func encode(_ bytes: [UInt8]) -> String {
        let letters = Base64.encode(bytes).utf8.filter { $0 != UInt8(ascii: "=") }.map { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: letter
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// `nil` for other characters, an impossible length or leftover bits.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        guard !text.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let letters = text.map { letter in
            switch letter {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: letter
            }
        }
        let padding = String(repeating: "=", count: (4 - letters.count % 4) % 4)
        return Base64.decode(String(decoding: letters, as: UTF8.self) + padding)
    }

    /// Not guessable: 32 bytes of the system's random source (RFC 7636 §7.1).
    package static func random() -> String {
        var source = SystemRandomNumberGenerator()
        let words = (0..<4).map { _ in source.next() as UInt64 }
        return encode(words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> ($0 * 8)) } })
    }
}
