import AuthWire
import Testing

@Suite("Plain requests for a status")
struct PlainStatusRequestTests {
    private func plain(_ line: String) -> PlainStatusRequest? { PlainStatusRequest(Array(line.utf8).span) }

    @Test("what clients write is recognised, with and without a session", arguments: [nil, "work", "a.b_c-9"])
    func clientsOwn(session: String?) throws {
        let name = try session.map { name throws(AgentError) in try SessionName(name) }
        for id: Int64 in [0, 7, 999_999_999_999_999_999] {
            let request = RPCRequest(id: .integer(id), SessionStatusGet(SessionParams(session: name)))
            let line = request.json.serialized()
            let found = PlainStatusRequest(line.span)
            let seen = try #require(found)
            #expect(seen.question.method == .status && seen.question.session == name)
            #expect(Array(line[seen.id]) == Array(String(id).utf8))
            #expect(seen.question.request(id: .integer(id)) == request)
        }
    }

    @Test("each of the methods is recognised, and no other one", arguments: PlainStatusRequest.Method.allCases)
    func methods(method: PlainStatusRequest.Method) throws {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"\#(method.name)","params":{}}"#
        #expect(try #require(plain(line)).question.method == method)
        for name in ["session.statuses", "session.use", "agent.ping", "token.get", ""] {
            #expect(plain(line.replacing(method.name, with: name)) == nil)
        }
    }

    @Test("any other spelling is left to the full reader", arguments: PlainStatusRequest.Method.allCases)
    func others(method: PlainStatusRequest.Method) {
        for line in PlainRequestLines.others(method: method.name) { #expect(plain(line) == nil, "\(line)") }
    }

    @Test("whatever is recognised, the full reader reads the same", arguments: 0..<4)
    func agreesWithTheReader(part: Int) throws {
        let forms = [
            #"{"jsonrpc":"2.0","id":7,"method":"session.status","params":{"session":"work-2"}}"#,
            #"{"jsonrpc":"2.0","id":120,"method":"session.list","params":{}}"#,
            #"{"jsonrpc":"2.0","id":120,"method":"network.status","params":{}}"#,
        ]
        var recognised = 0
        try PlainRequestLines.mutate(forms, rounds: 5000, seed: UInt64(part) + 43) { line in
            guard let seen = PlainStatusRequest(line.span) else { return }
            recognised += 1
            let id = try #require(Int64(String(decoding: line[seen.id], as: UTF8.self)))
            #expect(RPCIncoming(line: line) == .single(.success(seen.question.request(id: .integer(id)))))
        }
        // A third is not mutated at all.
        #expect(recognised > 1250)
    }
}
