import AuthAgent
import AuthModel
import AuthWire
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("A locked agent", .timeLimit(.minutes(1)))
struct LockTests {
    private static let passphrase = "correct horse battery"

    private static func play(
        rules: ListenerRules = ListenerRules(), _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        try await TestServer.run(rules: rules) { rig in
            _ = try await rig.lock.setPassphrase(AgentPassphrase(passphrase: passphrase))
            try await body(rig)
        }
    }

    @Test("every method of a class other than status is refused, except lock, unlock and sign-out")
    func methods() async throws {
        try await Self.play { rig in
            _ = try await rig.lock.lock()
            try await onThread {
                let client = try rig.dial()
                for method in AgentMethods.all {
                    // Their params are not read.
                    let kind = try client.ask(method.name, ["no_such_key": 1]).errorKind
                    let isServed =
                        method.access == .status
                        || ["agent.lock", "agent.unlock", "session.logout"].contains(method.name)
                    #expect((kind == "agent_locked") == !isServed, "\(method.name): \(kind ?? "-")")
                    // The snapshot.
                    if method.name == "events.subscribe" { _ = try client.json() }
                }
            }
        }
    }

    @Test("a token is refused in each form of a request, and returned again after the unlock")
    func forms() async throws {
        try await Self.play { rig in
            try await onThread {
                let client = try rig.dial()
                let plain = #"{"jsonrpc":"2.0","id":1,"method":"token.get"}"# + "\n"
                let other = RawClient.request("token.get", ["min_valid_ms": 1])
                let batch =
                    #"[{"jsonrpc":"2.0","id":1,"method":"token.get"},"#
                    + #"{"jsonrpc":"2.0","id":2,"method":"agent.ping"}]"# + "\n"
                func kinds() throws -> [String?] {
                    try [plain, other].map { line in
                        try client.send(line)
                        return try client.json().errorKind
                    }
                }
                #expect(try kinds() == [nil, nil])
                #expect(try client.ask("agent.lock")["result"]?["locked"] == true)
                #expect(try kinds() == ["agent_locked", "agent_locked"])
                try client.send(batch)
                let answers = try client.json().arrayValue ?? []
                #expect(answers.count == 2 && answers.contains { $0.errorKind == "agent_locked" })
                #expect(answers.contains { $0["result"]?["pid"] != nil })
                let unlocked = try client.ask("agent.unlock", ["passphrase": .string(Self.passphrase)])
                #expect(unlocked["result"]?["locked"] == false)
                #expect(try kinds() == [nil, nil])
            }
        }
    }

    /// A pipelined burst is in the agent before it is locked, or after; each response after that of the lock is a refusal.
    @Test("no token comes after the response to agent.lock")
    func order() async throws {
        try await Self.play { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                let burst = String(repeating: RawClient.request("token.get"), count: 300)
                try client.send(burst + RawClient.request("agent.lock", id: "lock") + burst)
                try other.send(burst)
                var isLocked = false
                for _ in 0..<601 {
                    let answer = try client.json()
                    if answer["id"] == "lock" {
                        isLocked = true
                    } else if isLocked {
                        #expect(answer.errorKind == "agent_locked")
                    }
                }
                #expect(isLocked)
                #expect(try client.ask("token.get").errorKind == "agent_locked")
            }
        }
    }

    @Test("a request that waits is refused when the agent is locked, and is recorded as that; a status is served")
    func waiting() async throws {
        try await Self.play { rig in
            // One thread after the other uses it.
            nonisolated(unsafe) let client = try rig.dial()
            try await onThread {
                // Requests that need the store wait for it.
                rig.board.put(store: .starting, message: nil)
                try client.send(RawClient.request("token.get", ["min_valid_ms": 7_000_000], id: "token"))
                try client.send(RawClient.request("session.list", id: "list"))
                _ = try client.ask("agent.ping", id: "ping")
            }
            _ = try await rig.lock.lock()
            try await onThread {
                let refused = try client.json()
                #expect(refused["id"] == "token" && refused.errorKind == "agent_locked")
                rig.board.put(store: .ready, message: nil)
                let list = try client.json()
                #expect(list["id"] == "list" && list["result"]?["sessions"]?.arrayValue?.count == 1)
                // The task of the request records it, and may end after the response.
                var entry: AuditItem?
                try BadClientTests.until(client) {
                    entry = rig.audit.list(after: 0, limit: 9).entries.last { $0.method == "token.get" }
                    return entry != nil
                }
                #expect(entry?.error == .agentLocked)
            }
        }
    }

    @Test("a token that waits for the rest of its batch is not sent if the agent is locked meanwhile; a status is")
    func batch() async throws {
        try await Self.play { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                let requests = [
                    RawClient.request("token.get", id: "plain"),
                    RawClient.request("token.get", ["min_valid_ms": 1], id: "token"),
                    RawClient.request("agent.ping", id: "ping"),
                    RawClient.request("session.wait", ["session": "shop", "until": "signed_out"], id: "wait"),
                ]
                try client.send("[" + requests.map { String($0.dropLast()) }.joined(separator: ",") + "]\n")
                // The batch is in progress when this is answered.
                #expect(try client.ask("agent.ping")["result"] != nil)
                #expect(try other.ask("agent.lock")["result"]?["locked"] == true)
                rig.board.remove(try SessionName(TestServer.session))
                let answers = try client.json().arrayValue ?? []
                let kinds = Dictionary(uniqueKeysWithValues: answers.map { ($0["id"]?.stringValue, $0.errorKind) })
                #expect(kinds == ["plain": "agent_locked", "token": "agent_locked", "ping": nil, "wait": nil])
                #expect(!answers.contains { $0.text().contains(TestServer.token) })
            }
        }
    }

    @Test("a token of a batch whose other requests have not begun is not sent if the agent is locked meanwhile")
    func batchInTurns() async throws {
        try await TestServer.run(limits: .with { $0.turnTime = .zero }) { rig in
            try await onThread {
                let client = try rig.dial()
                // When the first requests of the batch have begun. A turn of the loop begins two.
                @Sendable func lock() {
                    guard !rig.audit.entries.isEmpty else { return rig.executor.perform(lock) }
                    rig.board.put(lock: LockStatus(isLocked: true, hasPassphrase: true))
                    Task.immediate { await rig.publisher.endAcceptedRequests() }
                }
                rig.executor.perform(lock)
                try client.send(TurnTests.batch((0..<100).map { "\($0)" }))
                let answers = try client.json().arrayValue ?? []
                #expect(answers.count == 100 && answers.allSatisfy { $0.errorKind == "agent_locked" })
            }
        }
    }

    @Test("the state is in agent.info, in each status, in the snapshot and in events")
    func status() async throws {
        try await Self.play { rig in
            try await onThread {
                let (client, watcher) = (try rig.dial(), try rig.dial())
                #expect(try client.ask("agent.info")["result"]?["lock"] == nil)
                #expect(try watcher.ask("events.subscribe", ["topics": ["agent"]])["result"] != nil)
                #expect(try watcher.json()["params"]?["snapshot"]?["lock"] == nil)
                let status = try client.ask("agent.lock")["result"]
                let since = try #require(status?["since"])
                #expect(status?["why"] == "command" && status?["tokens_end_at"] != nil)
                let event = try watcher.json()["params"]
                #expect(event?["event"] == "locked" && event?["lock"]?["since"] == since)
                #expect(try client.ask("agent.info")["result"]?["lock"]?["since"] == since)
                #expect(try client.ask("session.status")["result"]?["locked_since"] == since)
                #expect(
                    try client.ask("session.list")["result"]?["sessions"]?.arrayValue?.first?["locked_since"] == since)
                let late = try rig.dial()
                _ = try late.ask("events.subscribe")
                #expect(try late.json()["params"]?["snapshot"]?["lock"]?["locked"] == true)

                #expect(try client.ask("agent.unlock", ["passphrase": "wrong one"]).errorKind == "refused")
                #expect(try watcher.json()["params"]?["event"] == "unlock_failed")
                _ = try client.ask("agent.unlock", ["passphrase": .string(Self.passphrase)])
                #expect(try watcher.json()["params"]?["event"] == "unlocked")
                #expect(try client.ask("session.status")["result"]?["locked_since"] == nil)
            }
        }
    }

    @Test("three wrong passphrases pause, and a right one is not checked then")
    func pause() async throws {
        try await Self.play { rig in
            try await onThread {
                let client = try rig.dial()
                _ = try client.ask("agent.lock")
                #expect(try client.ask("agent.unlock").errorCause == "passphrase")
                for expected in ["refused", "refused", "denied"] {
                    #expect(try client.ask("agent.unlock", ["passphrase": "wrong one"]).errorKind == expected)
                }
                let right = try client.ask("agent.unlock", ["passphrase": .string(Self.passphrase)])
                #expect(right.errorCause == "paused" && right["error"]?["data"]?["retry_after_ms"] != nil)
                #expect(try client.ask("agent.unlock").errorCause == "paused")
                #expect(try client.ask("agent.info")["result"]?["lock"]?["failed_attempts"] == 3)
                #expect(try client.ask("token.get").errorKind == "agent_locked")
            }
        }
    }

    @Test("agent.unlock of an agent that is not locked names authc store unlock; without a passphrase it does not lock")
    func notLocked() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                let former = try client.ask("agent.unlock", ["passphrase": "of the store"])
                #expect(former.errorKind == "conflict" && former.errorCause == "not_locked")
                #expect(former["error"]?["message"]?.stringValue?.contains("authc store unlock") == true)
                let refused = try client.ask("agent.lock")
                #expect(refused.errorCause == "no_passphrase")
                #expect(refused["error"]?["message"]?.stringValue?.contains("authc lock --set-passphrase") == true)
                #expect(try client.ask("token.get")["result"] != nil)
                #expect(try client.ask("store.unlock")["result"]?["state"] == "ready")
            }
        }
    }

    @Test("the present passphrase is needed to change it")
    func change() async throws {
        try await Self.play { rig in
            try await onThread {
                let client = try rig.dial()
                let new: JSON = "another battery"
                #expect(try client.ask("agent.passphrase", ["passphrase": new]).errorCause == "passphrase")
                let wrong = try client.ask("agent.passphrase", ["passphrase": new, "current": "wrong one"])
                #expect(wrong.errorKind == "refused")
                let set = try client.ask("agent.passphrase", ["passphrase": new, "current": .string(Self.passphrase)])
                #expect(set["result"]?["passphrase_set"] == true)
                _ = try client.ask("agent.lock")
                #expect(try client.ask("agent.unlock", ["passphrase": .string(Self.passphrase)]).errorKind == "refused")
                #expect(try client.ask("agent.unlock", ["passphrase": new])["result"]?["locked"] == false)
            }
        }
    }

    @Test("clients of the extra socket are refused, too, and see no event of the lock")
    func confined() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName(TestServer.session)]
        rules.classes = [.status, .act]
        try await Self.play(rules: rules) { rig in
            _ = try await rig.lock.lock()
            try await onThread {
                let client = try rig.dialExtra()
                #expect(try client.ask("api.call", ["endpoint": "users"]).errorKind == "agent_locked")
                #expect(try client.ask("session.logout").errorKind == "denied")
                #expect(try client.ask("session.status")["result"]?["state"] == "active")
                #expect(try client.ask("agent.info")["result"]?["lock"] == nil)
            }
        }
    }
}
