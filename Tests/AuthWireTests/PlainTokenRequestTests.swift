import AuthWire
import Testing

struct PlainTokenRequestTests {
    private func plain(_ line: [UInt8]) -> PlainTokenRequest? { PlainTokenRequest(line.span) }

    @Test("what a client writes is recognised, with and without a session", arguments: [nil, "work", "a.b_c-9"])
    func clientsOwn(session: String?) throws {
        let name = try session.map { name throws(AgentError) in try SessionName(name) }
        for id: Int64 in [0, 7, 999_999_999_999_999_999] {
            let line = RPCRequest(id: .integer(id), TokenGet(session: name)).json.serialized()
            let seen = try #require(plain(line))
            #expect(seen.session == name)
            #expect(Array(line[seen.id]) == Array(String(id).utf8))
        }
    }

    @Test(
        "any other spelling is left to the full reader",
        arguments: PlainRequestLines.others(method: TokenGet.name) + [
            #"{"jsonrpc":"2.0","id":1,"method":"token.reject","params":{}}"#
        ])
    func others(line: String) {
        #expect(plain(Array(line.utf8)) == nil)
    }

    @Test("a name of 64 is recognised, a longer one is not")
    func longestName() {
        func line(_ count: Int) -> [UInt8] {
            let name = String(repeating: "n", count: count)
            return Array(#"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":"\#(name)"}}"#.utf8)
        }
        #expect(plain(line(64))?.session?.text.utf8.count == 64)
        #expect(plain(line(65)) == nil)
    }

    @Test("whatever is recognised, the full reader reads the same", arguments: 0..<4)
    func agreesWithTheReader(part: Int) throws {
        let forms = [
            #"{"jsonrpc":"2.0","id":7,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":120,"method":"token.get","params":{"session":"work-2"}}"#,
        ]
        var recognised = 0
        try PlainRequestLines.mutate(forms, rounds: 20_000, seed: UInt64(part) + 41) { line throws in
            guard let seen = plain(line) else { return }
            recognised += 1
            guard case .single(.success(let request)) = RPCIncoming(line: line), request.method == TokenGet.name else {
                Issue.record("recognised, but not read: \(String(decoding: line, as: UTF8.self))")
                return
            }
            #expect(try TokenGet(params: request.params) == TokenGet(session: seen.session))
            #expect(request.id?.json.serialized() == Array(line[seen.id]))
        }
        // A third is not mutated at all.
        #expect(recognised > 5_000)
    }
}
