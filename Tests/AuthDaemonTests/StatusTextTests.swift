import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

/// Statuses that are answered with the text of an earlier answer: everything that could change it must end that.
@Suite("Repeated requests for a status", .timeLimit(.minutes(1)))
struct StatusTextTests {
    private typealias Rules = AccessControlTests

    /// The result of a request in the plain form, which is that of the same request in another form.
    private static func result(_ client: RawClient, _ method: String, _ session: String? = nil) throws -> JSON? {
        let params: JSONObject = session.map { ["session": .string($0)] } ?? [:]
        let other = try client.ask(method, .object(params), id: "other")
        var results: [JSON?] = []
        for id in 7...8 {
            let request = RPCRequest(id: .integer(Int64(id)), method: method, params: .object(params))
            try client.send(request.json.text() + "\n")
            let answer = try client.json()
            #expect(answer["id"] == .integer(Int64(id)))
            #expect(answer["error"] == other["error"])
            results.append(answer["result"])
        }
        #expect(results == [other["result"], other["result"]])
        return results.last ?? nil
    }

    @Test("have the result of other requests, and of the state now")
    func changes() async throws {
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                let client = try rig.dial()
                for method in PlainStatusRequest.Method.allCases.map(\.name) {
                    for session in ["shop", "work"] { #expect(try Self.result(client, method, session) != nil) }
                }
                rig.board.prefer(try SessionName("work"))
                #expect(try Self.result(client, "session.status")?["session"] == "work")
                rig.board.prefer(try SessionName("shop"))
                #expect(try Self.result(client, "session.status")?["session"] == "shop")
                rig.board.put(network: .portal, providers: [:])
                #expect(try Self.result(client, "network.status")?["state"] == "portal")
                var snapshot = try #require(rig.board.snapshot(try SessionName("shop")))
                snapshot.status.state = .stale
                rig.board.put(snapshot)
                #expect(try Self.result(client, "session.status", "shop")?["state"] == "stale")
                rig.board.put(lock: LockStatus(isLocked: true, since: 5))
                #expect(try Self.result(client, "session.status", "shop")?["locked_since"] == 5)
                rig.board.remove(try SessionName("work"))
                #expect(try Self.result(client, "session.status", "work") == nil)
                #expect(try Self.result(client, "session.list")?["sessions"]?.arrayValue?.count == 1)
            }
        }
    }

    @Test("are decided about by each rule that may concern them, for each client")
    func rules() async throws {
        let hiding = Rules.rule("hidden") {
            $0.request.sessions = Rules.texts("work")
            $0.request.classes = [.status]
        }
        let listing = Rules.rule("no-list") { $0.request.methods = Rules.texts("session.list") }
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.result(client, "session.status", "work") != nil)
                #expect(try Self.result(client, "session.list") != nil)
                rig.access.change { $0 = Rules.policy(hiding) }
                #expect(try Self.result(client, "session.status", "work") == nil)
                #expect(try Self.result(client, "session.status", "shop") != nil)
                rig.access.change { $0 = Rules.policy(listing) }
                #expect(try Self.result(client, "session.list") == nil)
                rig.access.change { $0 = AccessPolicy() }
                #expect(try Self.result(client, "session.list") != nil)
                #expect(try Self.result(client, "session.status", "work") != nil)
            }
        }
    }

    @Test("count as requests, several at once too")
    func counted() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let before = rig.counters.requests
                let line = { (id: Int64) in
                    RPCRequest(id: .integer(id), SessionStatusGet(SessionParams())).json.text() + "\n"
                }
                try client.send((1...50).map(line).joined())
                for id in 1...50 { #expect(try client.json()["id"] == .integer(Int64(id))) }
                #expect(rig.counters.requests == before + 50)
            }
        }
    }

    @Test("a text is kept for its version, if it is short, and only a few are kept")
    func kept() throws {
        func question(_ number: Int) throws -> PlainStatusRequest.Question {
            let request = RPCRequest(
                id: .integer(1), SessionStatusGet(SessionParams(session: try SessionName("s\(number)"))))
            let line = request.json.serialized()
            let plain = PlainStatusRequest(line.span)
            return try #require(plain).question
        }
        let (old, new) = (StatusTexts.Version(board: 1, rules: 1), StatusTexts.Version(board: 2, rules: 1))
        let (one, two, three) = (try question(1), try question(2), try question(3))
        var texts = StatusTexts()
        texts.keep([1], of: one, at: old)
        #expect(texts.text(of: one, at: old) == [1])
        #expect(texts.text(of: one, at: new) == nil)
        #expect(texts.text(of: one, at: StatusTexts.Version(board: 1, rules: 2)) == nil)
        texts.keep([2], of: two, at: new)
        #expect(texts.text(of: one, at: new) == nil && texts.text(of: two, at: new) == [2])
        texts.keep([UInt8](repeating: 0, count: 5000), of: three, at: new)
        #expect(texts.text(of: three, at: new) == nil && texts.text(of: two, at: new) == [2])
        for number in 4..<40 { texts.keep([3], of: try question(number), at: new) }
        let kept = try (4..<40).count { texts.text(of: try question($0), at: new) != nil }
        #expect(kept <= 8)
    }
}
