/// Percent-encoding (RFC 3986 §2), and which paths are safe to send.
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)
    /// A gateway, a proxy and an application may each decode a path once. A text that still changes after this many rounds was
    /// built to hide something.
    private static let maxRounds = 4

    /// Encodes everything but unreserved characters, so that the value stays one query value or part of one path segment. A
    /// server may decode a path more than once: see ``isOneSegment(_:)`` and ``isPath(_:)``.
    package static func encode(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a path may be sent (§3.3): it contains only path characters and complete escapes. However often it is decoded,
    /// it has no NUL and no segment that means "here" or "up".
    package static func isPath(_ text: String) -> Bool {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/"), isEncoded(text),
            let readings = readings(of: text)
        else { return false }
        return readings.allSatisfy { reading in
            !reading.contains(0) && reading.split(whereSeparator: isSlash).allSatisfy { !isDotSegment($0) }
        }
    }

    /// Whether a value, however often it is decoded, contains no slash or backslash.
    package static func isOneSegment(_ value: String) -> Bool {
        readings(of: value)?.allSatisfy { !$0.contains(where: isSlash) } ?? false
    }

    private static func isEncoded(_ text: String) -> Bool {
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, rest.prefix(2).allSatisfy(\.isHexDigit) else { return false }
                rest = rest.dropFirst(2)
            } else {
                guard byte.isUnreserved || "!$&'()*+,;=:@/".utf8.contains(byte) else { return false }
            }
        }
        return true
    }

    /// The text, decoded zero times, once, twice, and so on, until decoding changes nothing.
    /// - Returns: `nil` if it still changes after ``maxRounds``.
    private static func readings(of text: String) -> [[UInt8]]? {
        var reading = Array(text.utf8)
        var readings = [reading]
        for _ in 0..<maxRounds {
            let next = decoded(reading)
            guard next != reading else { return readings }
            readings.append(next)
            reading = next
        }
        return decoded(reading) == reading ? readings : nil
    }

    /// One round. An incomplete escape is kept, as lenient servers do.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let value = UInt8(hexDigits: bytes[index + 1], bytes[index + 2])
            {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Windows servers, and URL parsers such as those of browsers, read a backslash as a slash.
    private static func isSlash(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "/") || byte == UInt8(ascii: "\\") }

    /// `.` and `..`, even with parameters (`..;x`), which servlet containers remove first.
    private static func isDotSegment(_ segment: ArraySlice<UInt8>) -> Bool {
        let name = segment.prefix { $0 != UInt8(ascii: ";") }
        return name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
    }
}

extension UInt8 {
    fileprivate init?(hexDigits high: UInt8, _ low: UInt8) {
        guard high.isHexDigit, low.isHexDigit else { return nil }
        self.init(String(decoding: [high, low], as: UTF8.self), radix: 16)
    }
}
