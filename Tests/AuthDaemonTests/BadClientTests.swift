import AuthDaemon
import AuthWire
import NIOCore
import TestSupport
import Testing

/// Each error is reported to its client, and other clients do not wait.
@Suite("A misbehaving client does not affect others", .timeLimit(.minutes(1)))
struct BadClientTests {
    @Test(
        "a broken line gets a parse error without an id, and the connection stays open",
        arguments: [
            "nonsense", "{\"jsonrpc\":\"2.0\",", "", "\u{FEFF}{}", "{} {}",
        ])
    func brokenLine(line: String) async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(line + "\n")
                let answer = try client.json()
                #expect(answer.errorCode == -32700)
                #expect(answer["id"] == .null)
                #expect(try client.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("bytes that are not UTF-8 are a broken line")
    func brokenUTF8() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(
                    Array("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"".utf8) + [0xFF, 0xFE, 0x22, 0x7D, 0x0A])
                #expect(try client.json().errorCode == -32700)
            }
        }
    }

    @Test("an unknown method and wrong params get JSON-RPC's codes, with the key")
    func wrongRequests() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("agent.dance").errorCode == -32601)
                let wrong = try client.ask("token.get", ["min_valid_ms": "soon"], id: "x")
                #expect(wrong.errorCode == -32602)
                #expect(wrong["id"] == "x")
                #expect(wrong["error"]?["message"]?.stringValue?.contains("min_valid_ms") == true)
                #expect(try client.ask("agent.ping", [1, 2]).errorCode == -32602)
                try client.send("{\"jsonrpc\":\"2.0\",\"id\":7}\n")
                #expect(try client.json().errorCode == -32600)
            }
        }
    }

    @Test("a line that is too long gets too_large and closes its connection, while others are served")
    func tooLongLine() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let other = try rig.dial()
                let client = try rig.dial()
                // More than the limit without a line feed: the error comes before the end of the line, and the client may
                // write on for a moment.
                try client.send([UInt8](repeating: UInt8(ascii: "x"), count: Limits.lineBytes + 100_000))
                #expect(try other.ask("agent.ping")["result"] != nil)
                let answer = try client.json()
                #expect(answer.errorKind == "too_large")
                #expect(answer["id"] == .null)
                #expect(try client.line() == nil)
                #expect(try other.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("a line of exactly the limit is accepted")
    func longestLine() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let request = RawClient.request("agent.ping").dropLast()
                let padding = String(repeating: " ", count: Limits.lineBytes - request.utf8.count)
                try client.send(request + padding + "\n")
                #expect(try client.json()["result"] != nil)
                try client.send(request + padding + " \n")
                #expect(try client.json().errorKind == "too_large")
            }
        }
    }

    @Test("half a line and silence get an error 10 s after the connection", arguments: ["", "{\"jsonrpc\":"])
    func silence(half: String) async throws {
        try await TestServer.run(time: ManualTime()) { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(half)
                // Its time begins later.
                let other = try rig.dial()
                #expect(try other.ask("agent.ping")["result"] != nil)
                rig.pass(.seconds(10) - .nanoseconds(1))
                #expect(try other.ask("agent.ping")["result"] != nil)
                #expect(rig.counters.refusals == 0)
                rig.pass(.nanoseconds(1))
                #expect(try client.json().errorKind == "timeout")
                #expect(try client.line() == nil)
                #expect(try other.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test(
        "each line has 10 s from its first byte, and between lines a connection may be idle forever")
    func lateLine() async throws {
        try await TestServer.run(time: ManualTime()) { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                let ping = RawClient.request("agent.ping")
                for client in [client, other] { #expect(try client.ask("agent.ping")["result"] != nil) }
                rig.pass(.seconds(3600))
                // The half line is read with the line before it: its time has begun when that is answered.
                for _ in 1...3 {
                    try client.send(ping + ping.prefix(10))
                    #expect(try client.json()["result"] != nil)
                    rig.pass(.seconds(9))
                    try client.send(String(ping.dropFirst(10)))
                    #expect(try client.json()["result"] != nil)
                    rig.pass(.seconds(9))
                }
                try client.send(ping + ping.prefix(10))
                #expect(try client.json()["result"] != nil)
                rig.pass(.seconds(10) - .nanoseconds(1))
                #expect(try other.ask("agent.ping")["result"] != nil)
                #expect(rig.counters.refusals == 0)
                rig.pass(.nanoseconds(1))
                #expect(try client.json().errorKind == "timeout")
                #expect(try client.line() == nil)
                #expect(try other.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("half a line at the end of a connection is ignored")
    func halfLineThenEnd() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                try client.send(RawClient.request("agent.ping") + "{\"jsonrpc\":\"2.0\"")
                client.endWriting()
                #expect(try client.rest().split(separator: "\n").count == 1)
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("a client that never reads is not read from either, and others are served")
    func clientThatNeverReads() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let other = try rig.dial()
                let deaf = try rig.dial()
                let burst = Array(String(repeating: RawClient.request("rpc.discover"), count: 100).utf8)
                var taken = 0
                var still = 0
                // Bytes that are not accepted after many turns of the loop are never accepted.
                while still < 50, taken < 64 << 20 {
                    let count = deaf.sendWithoutWaiting(burst)
                    taken += count
                    still = count == 0 ? still + 1 : 0
                    #expect(try other.ask("agent.ping")["result"] != nil)
                }
                #expect(taken < 4 << 20)
            }
        }
    }

    @Test("a subscriber that never reads loses its connection")
    func subscriberThatNeverReads() async throws {
        var limits = ConnectionLimits()
        limits.pauseAbove = 8 << 10
        limits.closeAbove = 64 << 10
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                let deaf = try rig.dial()
                try deaf.send(RawClient.request("events.subscribe"))
                _ = try deaf.json()
                var sent = 0
                while rig.counters.refusals == 0, sent < 100_000 {
                    rig.publisher.publish(AgentEvent(topic: .agent, name: "noise", at: 0))
                    sent += 1
                    if sent.isMultiple(of: 100) {
                        // A ping does not wait for what was published.
                        rig.turn()
                        #expect(try other.ask("agent.ping")["result"] != nil)
                    }
                }
                #expect(rig.counters.refusals == 1)
                // It is closed in one of the next turns of the loop, and each ping is one turn.
                for _ in 1...1000 where rig.counters.connections > 1 { _ = try other.ask("agent.ping") }
                #expect(rig.counters.connections == 1)
            }
        }
    }

    @Test("subscribers that never read lose their connections before they fill the memory together")
    func manySubscribersThatNeverRead() async throws {
        var limits = ConnectionLimits()
        limits.unsent.inAll = 2 << 20
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let other = try rig.dial()
                let deaf = try (0..<20).map { _ in try rig.dial() }
                for client in deaf {
                    try client.send(RawClient.request("events.subscribe"))
                    _ = try client.json()
                }
                var sent = 0
                while rig.counters.refusals == 0, sent < 100_000 {
                    rig.publisher.publish(AgentEvent(topic: .agent, name: "noise", at: 0))
                    sent += 1
                    if sent.isMultiple(of: 100) {
                        // A ping does not wait for what was published.
                        rig.turn()
                        #expect(try other.ask("agent.ping")["result"] != nil)
                    }
                }
                // Far below the limit of each single client.
                #expect(rig.counters.refusals > 0 && sent < 100_000)
                #expect(rig.counters.connections > 1)
            }
        }
    }

    @Test("a client that disconnects cancels its waiting requests")
    func clientThatVanishes() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let other = try rig.dial()
                var client: RawClient? = try rig.dial()
                for id in 1...10 { try client?.send(Self.waiting(id)) }
                try Self.until(other) { rig.counters.waiting == 10 }
                client = nil
                try Self.until(other) { rig.counters.waiting == 0 && rig.counters.connections == 1 }
            }
        }
    }

    @Test("a client that disconnects before it reads is forgotten")
    func clientThatVanishesUnread() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let other = try rig.dial()
                var client: RawClient? = try rig.dial()
                try client?.send(String(repeating: RawClient.request("rpc.discover"), count: 200))
                client = nil
                try Self.until(other) { rig.counters.connections == 1 }
            }
        }
    }

    @Test("of 300 connections at once, 256 are served and 44 get the reason")
    func manyConnections() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let clients = try (0..<300).map { _ in try rig.dial() }
                for client in clients { try? client.send(RawClient.request("agent.ping")) }
                let answers = try clients.map { try $0.json() }
                #expect(answers.count { $0["result"] != nil } == 256)
                #expect(answers.count { $0.errorKind == "busy" } == 44)
                #expect(rig.counters.connections == 256)
            }
        }
    }

    @Test("a process that closes connections may open new ones")
    func connectionsAreGivenBack() async throws {
        var limits = ConnectionLimits()
        limits.connectionsPerProcess = 2
        try await TestServer.run(limits: limits) { rig in
            try await onThread {
                let first = try rig.dial()
                #expect(try first.ask("agent.ping")["result"] != nil)
                var second: RawClient? = try rig.dial()
                #expect(try second?.ask("agent.ping")["result"] != nil)
                #expect(try rig.dial().json().errorKind == "busy")
                second = nil
                try Self.until(first) { rig.counters.connections == 1 }
                #expect(try rig.dial().ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("the 129th request in progress is refused")
    func manyRequests() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                for id in 1...129 { try client.send(Self.waiting(id)) }
                let answer = try client.json()
                #expect(answer.errorKind == "busy")
                #expect(answer["id"] == 129)
                #expect(answer["error"]?["data"]?["retry_after_ms"] == 1000)
                #expect(try client.ask("agent.ping", id: "still")["id"] == "still")
            }
        }
    }

    @Test("a user who is not allowed gets an error and nothing else")
    func foreignUser() async throws {
        let nobodys = PeerPolicy(ownUserID: UInt32.max - 1)
        try await TestServer.run(policy: nobodys) { rig in
            try await onThread {
                let client = try rig.dial()
                let answer = try client.json()
                #expect(answer.errorKind == "denied")
                #expect(try client.line() == nil)
            }
        }
    }

    @Test("a user who is not allowed any more loses the connections that are open")
    func formerUser() async throws {
        let allowing = PeerPolicy(ownUserID: UInt32.max - 1, allowedUserIDs: [PeerPolicy.own(allowing: []).ownUserID])
        try await TestServer.run(policy: allowing) { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("agent.ping")["result"] != nil)
                rig.policy.now = PeerPolicy(ownUserID: UInt32.max - 1)
                rig.publisher.rulesChanged()
                #expect(try client.line() == nil)
            }
        }
    }

    @Test("the largest numbers, names and keys are refused, and the agent goes on")
    func largest() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let (largest, long) = (JSON.integer(.max), "e" + String(repeating: "\u{301}", count: 20_000))
                let requests: [(String, JSON)] = [
                    ("api.write", ["stream": "s", "offset": largest, "body_base64": "AA=="]),
                    ("api.call", ["endpoint": "e", "args": ["a": ["body_stream": ["size": largest]]], "stream": "s"]),
                    ("consent.answer", ["question": 1, "allowed": true, "minutes": largest]),
                    ("consent.answer", ["question": 1, "allowed": true, "minutes": .integer(1 << 53)]),
                    ("token.get", .object([long: 1])), (long, [:]),
                ]
                for (method, params) in requests {
                    #expect(try client.ask(method, params)["error"] != nil, "\(method.prefix(20))")
                }
                #expect(try client.ask("agent.ping")["result"] != nil)
            }
        }
    }

    /// A request that never ends.
    static func waiting(_ id: Int) -> String {
        RawClient.request("session.wait", ["session": "nobody", "until": "active"], id: .integer(Int64(id)))
    }

    /// Runs turns of the agent's loop until the condition holds.
    static func until(_ client: RawClient, _ condition: () -> Bool) throws {
        for _ in 0..<200_000 {
            guard !condition() else { return }
            _ = try client.ask("agent.ping")
        }
        #expect(condition())
    }
}
