internal import Glibc

/// Compares the bytes of a line with the usual form of a request.
struct PlainRequestScan {
    /// Params that may name a session, and have nothing else.
    struct Params {
        var session: SessionName?
    }

    private(set) var offset = 0

    mutating func consume(_ text: StaticString, of line: Span<UInt8>) -> Bool {
        let count = text.utf8CodeUnitCount
        guard count <= line.count - offset else { return false }
        let isThere = unsafe line.extracting(offset..<offset + count).withUnsafeBytes { bytes in
            // Both have this length.
            unsafe bytes.baseAddress.map { unsafe memcmp($0, text.utf8Start, count) == 0 } ?? true
        }
        if isThere { offset += count }
        return isThere
    }

    /// The start of a request, up to its id.
    /// - Returns: the place of the id: a whole number of at most 18 digits, without leading zeros (RFC 8259 §6).
    mutating func readID(of line: Span<UInt8>) -> Range<Int>? {
        guard consume(RPCReply.head, of: line) else { return nil }
        let start = offset
        while offset < line.count, Self.digits.contains(line[offset]) { offset += 1 }
        let count = offset - start
        guard count > 0, count <= Self.idDigits, count == 1 || line[start] != Self.digits.lowerBound else { return nil }
        return start..<offset
    }

    /// The rest of the line, after the brace that begins the params.
    mutating func readParams(of line: Span<UInt8>) -> Params? {
        var params = Params()
        if consume(#""session":""#, of: line) {
            guard let name = readName(of: line), consume("\"", of: line) else { return nil }
            params.session = name
        }
        return consume("}}", of: line) && offset == line.count ? params : nil
    }

    private mutating func readName(of line: Span<UInt8>) -> SessionName? {
        let start = offset
        while offset < line.count, line[offset] != .quote { offset += 1 }
        return SessionName(line.extracting(start..<offset))
    }

    private static let idDigits = 18
    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}
