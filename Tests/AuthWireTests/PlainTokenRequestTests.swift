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
        arguments: [
            "", "{", #"{"jsonrpc":"2.0","id":"#, #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}"#,
            #"{"jsonrpc":"2.0","id":01,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":-1,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1.5,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":"1","method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1000000000000000000,"method":"token.get","params":{}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}} "#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{}}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":""}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":"A"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":"a","scopes":["x"]}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":"\u0061"}}"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.get","params":{"session":"a"#,
            #"{"jsonrpc":"2.0","id":1,"method":"token.reject","params":{}}"#,
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
        ].map { Array($0.utf8) }
        let bytes = Array("{}[]\",:.019azAZ_- \\\n\u{0}\u{E9}".utf8)
        var random = SplitMix(seed: UInt64(part) + 41)
        var recognised = 0
        for round in 0..<20_000 {
            var line = forms[round % forms.count]
            for _ in 0..<Int.random(in: 0...2, using: &random) {
                let place = Int.random(in: 0..<line.count, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: line[place] = bytes.randomElement(using: &random) ?? 0
                case 1: line.insert(bytes.randomElement(using: &random) ?? 0, at: place)
                default: line.remove(at: place)
                }
            }
            guard let seen = plain(line) else { continue }
            recognised += 1
            guard case .single(.success(let request)) = RPCIncoming(line: line), request.method == TokenGet.name else {
                Issue.record("recognised, but not read: \(String(decoding: line, as: UTF8.self))")
                continue
            }
            #expect(try TokenGet(params: request.params) == TokenGet(session: seen.session))
            #expect(request.id?.json.serialized() == Array(line[seen.id]))
        }
        // A third is not mutated at all.
        #expect(recognised > 5_000)
    }
}
