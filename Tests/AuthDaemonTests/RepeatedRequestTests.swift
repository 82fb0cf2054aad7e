import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import TestSupport
import Testing

@testable import AuthDaemon

/// Plain token requests that a connection repeats: they are answered without reading the request again, so everything
/// that could change the answer must end that.
@Suite("Repeated token requests", .timeLimit(.minutes(1)))
struct RepeatedRequestTests {
    private static let shop = TestServer.session

    /// Asks as often as it takes to be answered like a repeated request, and once more.
    private static func token(_ client: RawClient, for session: String? = nil) throws -> String? {
        var answers: [JSON] = []
        for _ in 1...3 { answers.append(try AuditLogTests.askPlainly(client, for: session)) }
        #expect(Set(answers.map { $0["result"]?["access_token"]?.stringValue }).count == 1)
        return answers.last?["result"]?["access_token"]?.stringValue
    }

    private static func replaceToken(_ text: String?, of session: String, on rig: TestServer) throws {
        var snapshot = try #require(rig.board.snapshot(try SessionName(session)))
        snapshot.token = text.map { Secret($0) }
        rig.board.put(snapshot)
    }

    @Test("a renewed token is returned at once, and a token that was rejected is not returned any more")
    func renewal() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.token(client) == TestServer.token)
                try Self.replaceToken("another", of: Self.shop, on: rig)
                #expect(try Self.token(client) == "another")
                try Self.replaceToken(nil, of: Self.shop, on: rig)
                #expect(try AuditLogTests.askPlainly(client)["result"]?["access_token"] != "another")
            }
        }
    }

    @Test("another default session is used at once; a request that names its session is not affected")
    func defaultSession() async throws {
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                try Self.replaceToken("for-work", of: "work", on: rig)
                rig.board.prefer(try SessionName("shop"))
                let (client, named) = (try rig.dial(), try rig.dial())
                #expect(try Self.token(client) == TestServer.token)
                #expect(try Self.token(named, for: "shop") == TestServer.token)
                rig.board.prefer(try SessionName("work"))
                #expect(try Self.token(client) == "for-work")
                #expect(try Self.token(named, for: "shop") == TestServer.token)
            }
        }
    }

    @Test("a locked agent and a new rule refuse the next request")
    func refusals() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                #expect(try Self.token(client) == TestServer.token)
                var rule = AccessRule("no-tokens", from: .user, .deny)
                rule.request.classes = [.token]
                rig.access.change { [rule] policy in
                    policy.user.enforces = true
                    policy.user.rules = [rule]
                }
                #expect(try AuditLogTests.askPlainly(client).errorKind == "denied")
                rig.access.change { $0 = AccessPolicy() }
                #expect(try Self.token(client) == TestServer.token)
                rig.board.put(lock: LockStatus(isLocked: true))
                #expect(try AuditLogTests.askPlainly(client).errorKind == "agent_locked")
                rig.board.put(lock: LockStatus(isLocked: false))
                #expect(try Self.token(client) == TestServer.token)
                #expect(try Self.token(other) == TestServer.token)
            }
        }
    }

    @Test("the remaining time is that of each request, and a token that is about to end is not returned from memory")
    func time() async throws {
        let clock = AdvancedClock()
        try await TestServer.run(clock: clock) { rig in
            try await onThread {
                let client = try rig.dial()
                func valid() throws -> Double? {
                    try AuditLogTests.askPlainly(client)["result"]?["valid_ms"]?.doubleValue
                }
                _ = try valid()
                let first = try #require(try valid())
                clock.advance(.seconds(1000))
                let second = try #require(try valid())
                #expect((first - second - 1_000_000).magnitude < 60_000)
                // It has to be renewed first, and the provider cannot be reached.
                clock.advance(.seconds(2700))
                #expect(try AuditLogTests.askPlainly(client)["result"] == nil)
            }
        }
    }

    @Test("requests in pieces, several at once, and with other bytes after them are answered like the first")
    func pieces() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.token(client) == TestServer.token)
                func line(_ id: String) -> String {
                    "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"token.get\",\"params\":{}}\n"
                }
                let whole = line("7")
                try client.send(String(whole.prefix(20)))
                rig.turn()
                try client.send(String(whole.dropFirst(20)))
                #expect(try client.json()["id"] == 7)
                try client.send(line("8") + line("9"))
                #expect(try client.json()["id"] == 8)
                #expect(try client.json()["id"] == 9)
                try client.send(line("10") + "{")
                #expect(try client.json()["id"] == 10)
                rig.turn()
                try client.send(String(line("11").dropFirst()))
                #expect(try client.json()["id"] == 11)
                for id in ["123456789012345678", "1234567890123456789"] {
                    try client.send(line(id))
                    #expect(try client.json()["result"] != nil)
                }
                try client.send(line("012"))
                #expect(try client.json()["error"] != nil)
            }
        }
    }

    @Test("many at once are each answered with their id and counted, between other requests too")
    func pipelined() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let before = rig.counters.requests
                let lines = (1...200).map { id in
                    id % 50 == 0
                        ? RawClient.request("agent.ping", id: .integer(Int64(id)))
                        : "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"token.get\",\"params\":{}}\n"
                }
                try client.send(lines.joined())
                for id in 1...200 {
                    let answer = try client.json()
                    #expect(answer["id"] == .integer(Int64(id)))
                    let token = answer["result"]?["access_token"]?.stringValue
                    #expect(token == (id % 50 == 0 ? nil : TestServer.token))
                }
                #expect(rig.counters.requests == before + 200)
                #expect(try AuditLogTests.list(rig).map(\.count) == [196])
                try Self.replaceToken("another", of: Self.shop, on: rig)
                try client.send(lines.prefix(2).joined())
                for _ in 1...2 { #expect(try client.json()["result"]?["access_token"] == "another") }
            }
        }
    }

    @Test("responses to a client that does not read stay in order, repeated ones too")
    func order() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.token(client) == TestServer.token)
                // More responses than the socket accepts while the client does not read, and fewer than the agent pauses for.
                let count = 300
                for id in 1...count {
                    try client.send(
                        id % 3 == 0
                            ? RawClient.request("session.list", id: .integer(Int64(id)))
                            : "{\"jsonrpc\":\"2.0\",\"id\":\(id),\"method\":\"token.get\",\"params\":{}}\n")
                }
                for id in 1...count { #expect(try client.json()["id"] == .integer(Int64(id))) }
            }
        }
    }

    @Test("a connection keeps no token that is not current any more")
    func formerToken() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.token(client) == TestServer.token)
                weak let former = rig.board.liveToken(nil, minValid: nil, at: BootClock().bootInstant)
                #expect(former != nil)
                try Self.replaceToken("another", of: Self.shop, on: rig)
                rig.publisher.publish(AgentEvent(topic: .session, name: "renewed", at: 1))
                rig.turn()
                #expect(former == nil)
            }
        }
    }

    @Test("each counts as a request, as use of the agent, and in one entry of the audit log for each minute")
    func counted() async throws {
        let clock = AdvancedClock()
        try await TestServer.run(clock: clock) { rig in
            try await onThread {
                let client = try rig.dial()
                let before = rig.counters.requests
                for _ in 1...5 { _ = try AuditLogTests.askPlainly(client) }
                #expect(rig.counters.requests == before + 5)
                let used = try #require(rig.board.lastUse)
                clock.advance(.seconds(30))
                _ = try AuditLogTests.askPlainly(client)
                #expect(try #require(rig.board.lastUse) >= used + .seconds(30))
                clock.advance(.seconds(31))
                for _ in 1...2 { _ = try AuditLogTests.askPlainly(client) }
                #expect(try AuditLogTests.list(rig).map(\.count) == [6, 2])
            }
        }
    }

    @Test("an entry of the audit log that was replaced by newer ones is not counted in: a new one begins")
    func replacedEntry() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try Self.token(client) == TestServer.token)
                // Each begins an entry for the connection, which has room for eight.
                for number in 1...9 {
                    _ = try client.ask("token.get", ["session": .string("missing-\(number)")])
                }
                #expect(try Self.token(client) == TestServer.token)
                let entries = try AuditLogTests.list(rig).filter { $0.session?.text == Self.shop }
                #expect(entries.map(\.count) == [3, 3])
            }
        }
    }
}

/// The machine's clocks, ahead by as much as a test wants.
private final class AdvancedClock: SystemClock {
    private let ahead = Mutex(Duration.zero)

    func advance(_ duration: Duration) { ahead.withLock { $0 += duration } }

    func now() -> Moment {
        let (now, ahead) = (BootClock().now(), ahead.withLock { $0 })
        return Moment(boot: now.boot + ahead, wall: now.wall + ahead)
    }

    func sleep(until deadline: BootInstant) async throws {
        try await BootClock().sleep(until: deadline - ahead.withLock { $0 })
    }
}
