import AuthGateway
import Testing

@Suite("Server-sent events")
struct EventStreamParserTests {
    private static func events(_ text: String, piece: Int? = nil) throws -> ([String], EventStreamParser) {
        var parser = EventStreamParser(limit: 1000)
        let bytes = Array(text.utf8)
        var found: [String] = []
        for start in stride(from: 0, to: bytes.count, by: piece ?? max(1, bytes.count)) {
            let part = Array(bytes[start..<min(bytes.count, start + (piece ?? bytes.count))])
            found += try parser.append(part).map { "\($0.type)|\(String(decoding: $0.data, as: UTF8.self))" }
        }
        return (found, parser)
    }

    @Test(
        "are read as the WHATWG standard says, in pieces of any size",
        arguments: [
            // The examples of the standard.
            ("data: YHOO\ndata: +2\ndata: 10\n\n", ["message|YHOO\n+2\n10"]),
            (
                ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n",
                ["message|first event", "message|second event", "message| third event"]
            ),
            ("data\n\ndata\ndata\n\ndata:", ["message|", "message|\n"]),
            ("data:test\n\ndata: test\n\n", ["message|test", "message|test"]),
            ("event: add\ndata: 1\n\ndata: 2\n\n", ["add|1", "message|2"]),
            // Every kind of line end, even mixed.
            ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["message|a", "message|b", "message|c"]),
            ("data: a\r\ndata: b\r\n\r\n", ["message|a\nb"]),
            // A byte order mark at the beginning, and elsewhere.
            ("\u{FEFF}data: a\n\n", ["message|a"]), ("\u{FEFF}\u{FEFF}data: a\n\n", []),
            // An unknown field, an event without data, an event that does not end.
            ("what: x\ndata: a\n\nevent: b\n\ndata: c\n", ["message|a"]),
        ] as [(String, [String])])
    func standard(text: String, expected: [String]) throws {
        for piece in [nil, 1, 2, 3, 7] { #expect(try Self.events(text, piece: piece).0 == expected) }
    }

    @Test("the first bytes of a byte order mark that is none belong to the stream")
    func halfMark() throws {
        var parser = EventStreamParser(limit: 1000)
        #expect(try parser.append([0xEF]) == [])
        #expect(try parser.append(Array("x: 1\ndata: a\n\n".utf8)).map(\.data) == [Array("a".utf8)])
    }

    @Test("an id counts from the end of its event on, an empty one resets it, and one with NUL does not count")
    func ids() throws {
        #expect(try Self.events("id: 1\ndata: a\n").1.lastEventID == "")
        #expect(try Self.events("id: 1\ndata: a\n\n").1.lastEventID == "1")
        // Without data there is no event, and the id counts.
        #expect(try Self.events("id: 2\n\n").1.lastEventID == "2")
        #expect(try Self.events("id: 1\ndata: a\n\nid\ndata: b\n\n").1.lastEventID == "")
        #expect(try Self.events("id: 1\ndata: a\n\nid: 2\0\ndata: b\n\n").1.lastEventID == "1")
        #expect(try Self.events("id: 1\ndata: a\n\ndata: b\n\n").1.lastEventID == "1")
    }

    @Test("only digits are a pause")
    func retry() throws {
        #expect(try Self.events("retry: 250\n\n").1.retry == .milliseconds(250))
        #expect(try Self.events("retry: 2.5\n\nretry: -1\n\nretry\n\n").1.retry == nil)
        let long = try #require(try Self.events("retry: 99999999999999999999999\n\n").1.retry)
        #expect(long > .seconds(1000))
    }

    @Test("an event may be as long as the limit; comments and skipped fields may be longer")
    func limit() throws {
        let comment = ":" + String(repeating: "x", count: 5000) + "\n"
        let text = String(repeating: "y", count: 900)
        #expect(try Self.events(comment + "data: \(text)\n\n", piece: 64).0 == ["message|\(text)"])
        for large in [
            "data: " + String(repeating: "y", count: 1001), String(repeating: "data: 12345678\n", count: 200),
        ] {
            #expect(throws: EventStreamParser.TooLarge.self) { try Self.events(large, piece: 64) }
        }
    }
}
