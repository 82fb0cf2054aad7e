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

    @Test(
        "a long line is kept in parts and is whole, wherever it begins and ends",
        arguments: [1000, 16_384, 65_535, 70_000])
    func parts(size: Int) {
        var framer = LineFramer(limit: 200_000)
        let long = (0..<200_000).map { UInt8(ascii: "a") + UInt8($0 % 26) }
        let text = Array("one\n".utf8) + long + Array("\ntwo\n".utf8)
        var (lines, storedAtMost): ([[UInt8]], Int) = ([], 0)
        for start in stride(from: 0, to: text.count, by: size) {
            framer.append(ByteBuffer(bytes: text[start..<min(start + size, text.count)]))
            while let piece = framer.next() {
                switch piece {
                case .line(let line):
                    #expect(line.readableBytes <= 65_536)
                    lines.append(Array(line.readableBytesView))
                case .longLine(let parts):
                    #expect(parts.dropLast().allSatisfy { $0.storageCapacity <= max(128 << 10, size) })
                    lines.append(parts.flatMap { Array($0.readableBytesView) })
                case .tooLong: Issue.record("too long")
                }
            }
            framer.copyRest()
            storedAtMost = max(storedAtMost, framer.storedBytes)
        }
        #expect(lines == [Array("one".utf8), long, Array("two".utf8)])
        #expect(storedAtMost >= 190_000 && storedAtMost < 500_000)
        #expect(framer.rest == 0 && framer.storedBytes == 0 && !framer.isInMidLine)
        // One byte more than the limit.
        framer.append(ByteBuffer(bytes: long))
        let unended = framer.next()
        framer.copyRest()
        framer.append(ByteBuffer(string: "x"))
        let endless = framer.next()
        #expect(unended == nil && endless == .tooLong)
    }

    @Test(
        "whether a line is long depends on its bytes, not on how they arrive",
        arguments: [1, 50_100, 65_536, 65_537])
    func longest(count: Int) {
        let text = [UInt8](repeating: 7, count: count) + [UInt8(ascii: "\n")]
        for size in [1000, 16_384, 50_000, 70_000] {
            var framer = LineFramer(limit: 100_000)
            var found: [LineFramer.Piece] = []
            for start in stride(from: 0, to: text.count, by: size) {
                framer.append(ByteBuffer(bytes: text[start..<min(start + size, text.count)]))
                while let piece = framer.next() { found.append(piece) }
                framer.copyRest()
            }
            switch found.first {
            case .line(let line):
                #expect(Array(line.readableBytesView) == text.dropLast())
                #expect(count <= 65_536 || size > count)
            case .longLine(let parts):
                #expect(count > 65_536 && parts.flatMap { Array($0.readableBytesView) } == text.dropLast())
            default: Issue.record("\(count) bytes, \(size) at once: no line")
            }
            #expect(found.count == 1)
        }
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
