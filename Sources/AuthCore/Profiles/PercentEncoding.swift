/// How values come into URLs (RFC 3986 §2).
package enum PercentEncoding {
    private static let digits = Array("0123456789ABCDEF".utf8)

    /// Everything but the unreserved characters encoded: the value stays one path segment or one query value.
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

    /// Whether a path may be sent as it is (§3.3): path characters and whole escapes only, and no segment that a server
    /// takes as "here" or "up", however it is written.
    package static func isPath(_ text: String) -> Bool {
        guard text.isEmpty || text.utf8.first == UInt8(ascii: "/") else { return false }
        return text.utf8.split(separator: UInt8(ascii: "/")).allSatisfy { isSegment(Array($0)) }
    }

    private static func isSegment(_ bytes: [UInt8]) -> Bool {
        var decoded: [UInt8] = []
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%") {
                guard index + 2 < bytes.count, bytes[index + 1].isHexDigit, bytes[index + 2].isHexDigit,
                    let value = UInt8(String(decoding: bytes[(index + 1)...(index + 2)], as: UTF8.self), radix: 16)
                else { return false }
                decoded.append(value)
                index += 3
            } else {
                guard byte.isUnreserved || "!$&'()*+,;=:@".utf8.contains(byte) else { return false }
                decoded.append(byte)
                index += 1
            }
        }
        return decoded != Array(".".utf8) && decoded != Array("..".utf8)
    }
}
