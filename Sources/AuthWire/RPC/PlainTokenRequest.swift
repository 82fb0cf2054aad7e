internal import Glibc

/// A `token.get` in the usual form, recognised from its bytes, because it is the most frequent request.
///
/// ``RPCRequest`` reads the same lines with the same meaning, and all others.
public struct PlainTokenRequest: Equatable, Sendable {
    /// The place of the id: a whole number of at most 18 digits, which is returned unchanged.
    public let id: Range<Int>
    public let session: SessionName?

    private static let idDigits = 18

    /// - Parameter line: without its line feed.
    public init?(_ line: Span<UInt8>) {
        var scan = Scan()
        guard scan.consume(RPCReply.head, of: line), let id = scan.readNumber(of: line, digits: Self.idDigits),
            scan.consume(#","method":"token.get","params":{"#, of: line)
        else { return nil }
        self.id = id
        if scan.consume(#""session":""#, of: line) {
            guard let name = scan.readName(of: line), scan.consume("\"", of: line) else { return nil }
            session = name
        } else {
            session = nil
        }
        guard scan.consume("}}", of: line), scan.offset == line.count else { return nil }
    }

    /// The place of the id, if the line begins like a plain request.
    public static func id(of line: Span<UInt8>) -> Range<Int>? {
        var scan = Scan()
        guard scan.consume(RPCReply.head, of: line) else { return nil }
        return scan.readNumber(of: line, digits: idDigits)
    }

    private struct Scan {
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

        /// A whole number without leading zeros (RFC 8259 §6).
        mutating func readNumber(of line: Span<UInt8>, digits limit: Int) -> Range<Int>? {
            let start = offset
            while offset < line.count, Self.digits.contains(line[offset]) { offset += 1 }
            let count = offset - start
            guard count > 0, count <= limit, count == 1 || line[start] != Self.digits.lowerBound else { return nil }
            return start..<offset
        }

        mutating func readName(of line: Span<UInt8>) -> SessionName? {
            let start = offset
            while offset < line.count, line[offset] != .quote { offset += 1 }
            return SessionName(line.extracting(start..<offset))
        }

        private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    }
}
