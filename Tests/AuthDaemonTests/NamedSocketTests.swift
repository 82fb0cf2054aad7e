import AuthAgent
import AuthConcurrency
@testable import AuthDaemon
import AuthModel
import AuthWire
import TestSupport
import Testing

/// Clients of sockets that the user has added: each has the rights that its table lists, and no others.
@Suite("Named sockets", .timeLimit(.minutes(1)))
struct NamedSocketTests {
    private static let names = ["private", "shop", "work"]

    private static func name(_ text: String) throws -> ListenerName {
        try #require(ListenerName(rawValue: text))
    }

    private static func rules(_ sessions: String..., classes: Set<AccessClass> = [.status]) throws -> ListenerRules {
        var rules = ListenerRules()
        rules.sessions = Set(try sessions.map { try SessionName($0) })
        rules.classes = classes
        return rules
    }

    /// `box` sees `shop`, `tool` sees `work`, and `bare` has no table.
    private static func play(
        _ policy: AccessPolicy = AccessPolicy(), _ body: @escaping @Sendable (TestServer) async throws -> Void
    ) async throws {
        let named = [
            try name("box"): try rules("shop"), try name("tool"): try rules("work", classes: [.status, .token]),
            try name("bare"): ListenerRules(),
        ]
        try await TestServer.run(
            names: names, rules: rules("private", "shop", "work", classes: [.status, .token, .act]), named: named,
            accessPolicy: policy, body)
    }

    @Test("each socket has the sessions and methods of its table; one without a table has none of [listener.extra]")
    func separate() async throws {
        try await Self.play { rig in
            try await onThread {
                func sessions(_ client: RawClient) throws -> [JSON?]? {
                    try client.ask("session.list")["result"]?["sessions"]?.arrayValue?.map { $0["session"] }
                }
                let (box, tool, bare) = (try rig.dial("box"), try rig.dial("tool"), try rig.dial("bare"))
                #expect(try sessions(box) == ["shop"] && sessions(tool) == ["work"])
                #expect(try sessions(rig.dialExtra()) == ["private", "shop", "work"])
                #expect(try box.ask("session.status", ["session": "work"]).errorKind == "unknown_session")
                #expect(try box.ask("session.status")["result"]?["session"] == "shop")
                for method in ["session.list", "session.status", "token.get", "events.subscribe"] {
                    let refused = try bare.ask(method)
                    let text =
                        "This client uses the socket 'bare': [listener.bare] in authd.toml does not allow \(method)."
                    #expect(refused.errorCause == "confined" && refused["error"]?["message"] == .string(text))
                }
                #expect(
                    try bare.ask("agent.info")["result"]?.objectValue.map { Set($0.keys) } == ["version", "protocol"])
                // The class `token`, but never a token.
                #expect(try tool.ask("token.get").errorCause == "confined")
                for method in ["session.export", "session.logout", "agent.reload", "policy.show"] {
                    #expect(try tool.ask(method).errorKind == "denied", "\(method)")
                }
            }
        }
    }

    @Test("events are filtered for each socket")
    func events() async throws {
        try await Self.play { rig in
            try await onThread {
                let clients = try ["box", "tool"].map { try rig.dial($0) }
                for client in clients {
                    #expect(try client.ask("events.subscribe")["result"] != nil)
                    _ = try client.json()
                }
                for name in ["private", "work", "shop", "work"] {
                    let session = try SessionName(name)
                    var status = rig.board.status(session)
                    status?.lastError = "error of \(name)"
                    rig.publisher.publish(
                        AgentEvent(topic: .session, name: "changed", at: 1, session: session, status: status))
                }
                rig.board.put(network: .offline, providers: [:])
                for (client, session) in zip(clients, ["shop", "work"]) {
                    let event = try client.json()["params"]
                    #expect(event?["session"] == .string(session), "\(session)")
                    #expect(event?["status"]?["last_error"] == .string("error of \(session)"))
                    // The second event about `work` shows no change, and the others are about hidden sessions.
                    #expect(try client.json()["params"]?["topic"] == "network", "\(session)")
                }
            }
        }
    }

    @Test("a reload applies to open connections of the socket whose table is different")
    func reload() async throws {
        try await Self.play { rig in
            try await onThread {
                let (box, tool) = (try rig.dial("box"), try rig.dial("tool"))
                #expect(try box.ask("session.list")["result"] != nil && tool.ask("session.list")["result"] != nil)
                var tables = rig.tables.current ?? ListenerTables()
                tables[try Self.name("box")] = ListenerRules()
                rig.tables.set(tables)
                #expect(try box.ask("session.list").errorCause == "confined")
                #expect(try tool.ask("session.list")["result"] != nil)
            }
        }
    }

    @Test("rules match the name of a socket, and the audit log has it")
    func policy() async throws {
        var rule = AccessRule("box", from: .user, .deny)
        rule.caller.listeners = [.name(try Self.name("box"))]
        var policy = AccessPolicy()
        (policy.user.rules, policy.user.enforces) = ([rule], true)
        try await Self.play(policy) { rig in
            try await onThread {
                let (box, tool) = (try rig.dial("box"), try rig.dial("tool"))
                #expect(try box.ask("session.list").errorCause == "access_rule")
                #expect(try box.ask("token.get").errorCause == "confined")
                #expect(try tool.ask("token.get").errorCause == "confined")
                #expect(try tool.ask("session.list")["result"] != nil)
                let entries = rig.audit.entries
                #expect(entries.map(\.rule) == ["user.box", "listener.box", "listener.tool"])
                #expect(entries.map { $0.caller?.listener.rawValue } == ["box", "box", "tool"])
                #expect(entries.allSatisfy { $0.enforced == true })
            }
        }
    }

    @Test("policy.test decides for a named socket by its table, with its default session")
    func tested() async throws {
        try await Self.play { rig in
            try await onThread {
                let client = try rig.dial()
                func verdict(_ listener: String, _ method: String, _ session: String? = nil) throws -> JSON? {
                    var params: JSON = ["method": .string(method), "listener": .string(listener)]
                    if let session {
                        params = [
                            "method": .string(method), "listener": .string(listener), "session": .string(session),
                        ]
                    }
                    return try client.ask("policy.test", params)["result"]
                }
                let allowed = try verdict("box", "session.status")
                #expect(allowed?["allowed"] == true && allowed?["rule"] == "listener.box", "\(allowed?.text() ?? "")")
                #expect(try verdict("box", "session.status", "work")?["allowed"] == false)
                #expect(try verdict("tool", "session.status", "work")?["allowed"] == true)
                let bare = try verdict("bare", "session.list")
                #expect(bare?["allowed"] == false && bare?["rule"] == "listener.bare")
                #expect(bare?["reason"]?.stringValue?.hasPrefix("[listener.bare]") == true)
                let wrong = try client.ask("policy.test", ["method": "session.list", "listener": "no such"])
                #expect(wrong.errorCode == -32602 && wrong.text().contains("FileDescriptorName="), "\(wrong.text())")
            }
        }
    }
}
