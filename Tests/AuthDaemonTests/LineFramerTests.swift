import AuthDaemon
import NIOCore
import Testing

@Suite("Lines out of a stream")
struct LineFramerTests {
    @Test("lines are the same however the bytes come", arguments: [1, 2, 3, 7, 100])
    func anyPieces(size: Int) {
        var framer = LineFramer(limit: 20)
        var lines: [String] = []
        let text = Array("one\n\ntwo and a half\r\nthree\nrest".utf8)
        for start in stride(from: 0, to: text.count, by: size) {
            framer.append(ByteBuffer(bytes: text[start..<min(start + size, text.count)]))
            while case .line(let line) = framer.next() { lines.append(String(buffer: line)) }
            framer.keepRest()
        }
        #expect(lines == ["one", "", "two and a half\r", "three"])
        #expect(framer.rest == 4)
    }

    @Test("the limit holds for lines that end and for those that do not")
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
}
