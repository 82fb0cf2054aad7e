import AuthDaemon
import NIOCore
import Testing

@Suite("Lines of a stream")
struct LineFramerTests {
    @Test("lines do not depend on how the bytes arrive", arguments: [1, 2, 3, 7, 100])
    func anyPieces(size: Int) {
        var framer = LineFramer(limit: 20)
        var lines: [String] = []
        let text = Array("one\n\ntwo and a half\r\nthree\nrest".utf8)
        for start in stride(from: 0, to: text.count, by: size) {
            framer.append(ByteBuffer(bytes: text[start..<min(start + size, text.count)]))
            while case .line(let line) = framer.next() { lines.append(String(buffer: line)) }
            framer.copyRest()
        }
        #expect(lines == ["one", "", "two and a half\r", "three"])
        #expect(framer.rest == 4)
    }

    @Test("the limit applies to complete and incomplete lines")
    func limit() {
        var framer = LineFramer(limit: 4)
        framer.append(ByteBuffer(string: "1234\n12345\n"))
        let (fits, ended) = (framer.next(), framer.next())
        #expect(fits == .line(ByteBuffer(string: "1234")))
        #expect(ended == .tooLong)
        framer = LineFramer(limit: 4)
        framer.append(ByteBuffer(string: "1234"))
        let unended = framer.next()
        #expect(unended == nil)
        framer.append(ByteBuffer(string: "5"))
        let endless = framer.next()
        #expect(endless == .tooLong)
    }

    @Test("a line is incomplete from its first byte to its end, and its buffered bytes are counted")
    func midLine() {
        var framer = LineFramer(limit: 100_000)
        #expect(!framer.isInMidLine)
        framer.append(ByteBuffer(string: "one\ntw"))
        // Not searched yet: it may be a complete line.
        #expect(!framer.isInMidLine)
        let (first, none) = (framer.next(), framer.next())
        #expect(first != nil && none == nil && framer.isInMidLine)
        framer.copyRest()
        #expect(framer.storedBytes >= 2 && framer.storedBytes < 100)
        framer.append(ByteBuffer(repeating: UInt8(ascii: "o"), count: 50_000))
        let still = framer.next()
        #expect(still == nil && framer.isInMidLine && framer.storedBytes > 50_000)
        framer.append(ByteBuffer(string: "\n"))
        let (second, end) = (framer.next(), framer.next())
        #expect(second != nil && end == nil && !framer.isInMidLine && framer.storedBytes == 0)
    }
}
