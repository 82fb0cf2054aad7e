import AuthGateway
import Testing

@Suite("The bridge: standard input")
struct BridgeLinesTests {
    @Test("is split into lines, in pieces of any size; empty lines do not count", arguments: [1, 3, 100])
    func lines(piece: Int) {
        var lines = BridgeLines(limit: 8)
        let bytes = Array("a\n\r\n  \nbb\r\n123456789\n12345678\nend".utf8)
        var found: [BridgeLines.Line] = []
        for start in stride(from: 0, to: bytes.count, by: piece) {
            found += lines.append(Array(bytes[start..<min(start + piece, bytes.count)]))
        }
        found += lines.finish()
        let expected = ["a", "bb", nil, "12345678", "end"] as [String?]
        #expect(found == expected.map { $0.map { .text(Array($0.utf8)) } ?? .tooLong })
        #expect(lines.finish() == [])
    }
}
