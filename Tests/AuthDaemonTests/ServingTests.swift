import AuthDaemon
import AuthWire
import NIOCore
import TestSupport
import Testing

@Suite("What clients receive", .timeLimit(.minutes(1)))
struct ServingTests {
    @Test("a live token comes from memory, and so do states")
    func memory() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let token = try client.ask("token.get")["result"]
                #expect(token?["access_token"]?.stringValue == TestServer.token)
                #expect(token?["session"] == "shop")
                #expect(try client.ask("session.status")["result"]?["state"] == "active")
                #expect(try client.ask("session.list")["result"]?["sessions"]?.arrayValue?.count == 1)
                #expect(try client.ask("network.status")["result"]?["state"] == "online")
                #expect(try client.ask("agent.info")["result"]?["store"]?["kind"] == "memory")
                #expect(try client.ask("agent.stats")["result"]?["requests"] == 6)
                #expect(rig.counters.waiting == 0)
            }
        }
    }

    @Test("agent.info names each area of the protocol once, and the lock")
    func features() async throws {
        try await TestServer.run { rig in
            let info = try await onThread { try rig.dial().ask("agent.info")["result"] }
            let features = info?["features"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let areas = Set(AgentMethods.all.map { String($0.name.prefix { $0 != "." }) })
            #expect(Set(features) == areas.union(["lock"]) && features.count == areas.count + 1)
            #expect(areas.isSuperset(of: ["audit", "policy", "consent", "cluster", "session", "token", "store"]))
        }
    }

    @Test("an error has a kind: an unknown session, an unknown provider, an unsupported method")
    func errors() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("token.get", ["session": "other"]).errorKind == "unknown_session")
                #expect(try client.ask("session.status", ["session": "other"]).errorKind == "unknown_session")
                #expect(try client.ask("provider.show", ["provider": "other"]).errorKind == "unknown_provider")
                #expect(try client.ask("outbox.drop", ["id": "x"]).errorKind == "not_found")
                #expect(try client.ask("agent.lock").errorKind == "validation")
                for method in ["token.get", "session.logout", "session.export"] {
                    #expect(try client.ask(method, ["sesion": "other"]).errorCode == -32602, "\(method)")
                }
            }
        }
    }

    @Test("a thousand requests at once are answered, in order because all are ready at once")
    func pipelined() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send((0..<1000).map { RawClient.request("token.get", id: .integer($0)) }.joined())
                for id in 0..<1000 { #expect(try client.json()["id"] == .integer(Int64(id))) }
            }
        }
    }

    /// The response to a request that only waits for its timeout. Its time begins when the request is read, so time passes
    /// until the response is there.
    private static func late(_ client: RawClient, _ rig: TestServer) throws -> JSON {
        for _ in 0..<200_000 {
            if let answer = try client.jsonAlready() { return answer }
            rig.pass(.milliseconds(100))
            rig.turn()
        }
        throw Failure("a request that waits for its end is not answered")
    }

    @Test("responses are sent when they are ready: a waiting request does not delay others")
    func orderOfReadiness() async throws {
        try await TestServer.run(time: ManualTime()) { rig in
            try await onThread {
                let client = try rig.dial()
                let patient: JSON = ["session": "nobody", "until": "active", "timeout_ms": 100]
                try client.send(RawClient.request("session.wait", patient, id: "slow"))
                try client.send(RawClient.request("agent.ping", id: "fast"))
                #expect(try client.json()["id"] == "fast")
                let late = try Self.late(client, rig)
                #expect(late["id"] == "slow")
                #expect(late.errorKind == "timeout")
            }
        }
    }

    @Test("a client that has closed its side still gets its responses, as with `nc -N`")
    func halfClosed() async throws {
        try await TestServer.run(time: ManualTime()) { rig in
            try await onThread {
                let client = try rig.dial()
                let patient: JSON = ["session": "nobody", "until": "active", "timeout_ms": 50]
                try client.send(RawClient.request("session.wait", patient) + RawClient.request("agent.ping"))
                client.endWriting()
                #expect(try client.json()["result"] != nil)
                #expect(try Self.late(client, rig).errorKind == "timeout")
                #expect(try client.line() == nil)
            }
        }
    }

    @Test("more responses than fit into the socket reach a client that has closed its side")
    func halfClosedWithMuchToRead() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(String(repeating: RawClient.request("rpc.discover"), count: 300))
                client.endWriting()
                #expect(try client.rest().split(separator: "\n").count == 300)
            }
        }
    }

    @Test("a batch is answered with one array when it is complete, and notifications get no response")
    func batch() async throws {
        try await TestServer.run(time: ManualTime()) { rig in
            try await onThread {
                let client = try rig.dial()
                let requests = [
                    RawClient.request(
                        "session.wait", ["session": "x", "until": "active", "timeout_ms": 20], id: "late"),
                    RawClient.request("agent.ping", id: 1), RawClient.request("agent.ping", id: nil), "3",
                ]
                try client.send("[" + requests.joined(separator: ",").replacing("\n", with: "") + "]\n")
                let answers = try Self.late(client, rig).arrayValue
                #expect(answers?.count == 3)
                #expect(answers?.contains { $0["id"] == 1 && $0["result"] != nil } == true)
                #expect(answers?.contains { $0["id"] == "late" && $0.errorKind == "timeout" } == true)
                #expect(answers?.contains { $0.errorCode == -32600 } == true)
                let silent = RawClient.request("agent.ping", id: nil).dropLast()
                try client.send("[\(silent),\(silent)]\n\(silent)\n")
                #expect(try client.ask("agent.ping", id: "next")["id"] == "next")
            }
        }
    }

    @Test("a large batch between two lines reaches a client that reads little at a time, in order")
    func slowReader() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let discover = RawClient.request("rpc.discover", id: 2).dropLast()
                let batch = "[" + Array(repeating: discover, count: 20).joined(separator: ",") + "]\n"
                let (first, last) = (RawClient.request("agent.ping"), RawClient.request("agent.ping", id: 3))
                try client.send(first + batch + last)
                client.endWriting()
                let text = try client.rest(readingAtMost: 1000)
                let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
                try #require(lines.count == 4 && lines[3].isEmpty)
                #expect(try JSON(parsing: String(lines[0]))["id"] == 1)
                #expect(lines[1].utf8.count > 300 << 10)
                let answers = try #require(try JSON(parsing: String(lines[1])).arrayValue)
                let whole = try rig.dial().ask("rpc.discover", id: 2)
                #expect(answers == Array(repeating: whole, count: 20))
                #expect(try JSON(parsing: String(lines[2]))["id"] == 3)
            }
        }
    }

    @Test("a batch with more requests than a connection may have in progress is one error")
    func hugeBatch() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send("[" + String(repeating: "1,", count: 200_000) + "1]\n")
                #expect(try client.json().errorKind == "too_large")
            }
        }
    }

    @Test("ids of every type are returned unchanged", arguments: ["1", "\"a\"", "null", "1.5", "9007199254740993"])
    func ids(id: String) async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"agent.ping\"}\n")
                #expect(try client.line()?.contains("\"id\":\(id),") == true)
            }
        }
    }

    @Test("when it stops, the agent lets requests in progress finish and then closes every connection")
    func gracefulEnd() async throws {
        var limits = ConnectionLimits()
        limits.stopGrace = .seconds(20)
        try await TestServer.run(limits: limits, time: ManualTime()) { rig in
            let client = try rig.dial()
            try client.send(
                RawClient.request("session.wait", ["session": "x", "until": "active", "timeout_ms": 200], id: "late"))
            let idle = try rig.dial()
            let (waiting, unused) = (Held(client), Held(idle))
            try await onThread { try BadClientTests.until(rig.dial()) { rig.counters.waiting == 1 } }
            await rig.stop()
            try await onThread {
                let (unasked, answer, end) = (
                    try unused.client.line(), try Self.late(waiting.client, rig), try waiting.client.line()
                )
                #expect(unasked == nil)
                #expect(answer.errorKind == "timeout")
                #expect(end == nil)
            }
        }
    }

    @Test("requests that do not finish in time get an error that the agent stops")
    func impatientEnd() async throws {
        var limits = ConnectionLimits()
        limits.stopGrace = .zero
        try await TestServer.run(limits: limits) { rig in
            let waiting = Held(try rig.dial())
            try waiting.client.send(BadClientTests.waiting(1))
            try await onThread { try BadClientTests.until(rig.dial()) { rig.counters.waiting == 1 } }
            await rig.stop()
            try await onThread {
                let (answer, end) = (try waiting.client.json(), try waiting.client.line())
                #expect(answer["error"] != nil)
                #expect(end == nil)
            }
        }
    }
}

// @unchecked Sendable: threads use it one after the other, and the end of the first is awaited in between.
final class Held: @unchecked Sendable {
    let client: RawClient

    init(_ client: RawClient) {
        self.client = client
    }
}
