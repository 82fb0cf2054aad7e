import AuthAgent
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// The access rules of an agent on a real socket.
@Suite("Access rules on the socket", .timeLimit(.minutes(1)))
struct AccessControlTests {
    static func rule(
        _ name: String, _ effect: AccessRule.Effect = .deny, from source: AccessRule.Source = .user,
        _ change: (inout AccessRule) -> Void = { _ in }
    ) -> AccessRule {
        var rule = AccessRule(name, from: source, effect)
        change(&rule)
        return rule
    }

    static func policy(enforces: Bool = true, _ rules: AccessRule...) -> AccessPolicy {
        var policy = AccessPolicy()
        policy.user.enforces = enforces
        policy.user.rules = rules
        // Where these tests run there may be no login session.
        policy.root.rules = [
            Self.rule("tests", .allow, from: .root) { $0.request.classes = [.admin] }
        ]
        return policy
    }

    static let noTokens: @Sendable (inout AccessRule) -> Void = {
        $0.request.classes = [.token]
        $0.reason = "No tokens here."
    }

    static func texts(_ text: String) -> [TextPattern] { [text].compactMap(TextPattern.init) }

    private static func expectDenied(_ answer: JSON, by rule: String) {
        #expect(answer.errorKind == "denied" && answer["error"]?["data"]?["cause"] == "access_rule", "\(answer.text())")
        #expect(answer["error"]?["message"]?.stringValue?.contains(rule) == true, "\(answer.text())")
    }

    @Test("every form of a request is refused by the rule that denies it, and says which rule and what to do")
    func forms() async throws {
        try await TestServer.run(accessPolicy: Self.policy(Self.rule("no-tokens", .deny, Self.noTokens))) { rig in
            try await onThread {
                let client = try rig.dial()
                for _ in 1...2 { Self.expectDenied(try AuditLogTests.askPlainly(client), by: "user.no-tokens") }
                Self.expectDenied(try AuditLogTests.askPlainly(client, for: "shop"), by: "user.no-tokens")
                let other = try client.ask("token.get", ["purpose": "x"])
                Self.expectDenied(other, by: "user.no-tokens")
                let message = other["error"]?["message"]?.stringValue ?? ""
                #expect(message.contains("No tokens here.") && message.contains("`authc policy apply`"), "\(message)")
                // An element of a batch, and a notification.
                let token = RawClient.request("token.get").dropLast()
                try client.send("[\(token),\(RawClient.request("agent.ping", id: 2).dropLast())]\n")
                let batch = try client.json().arrayValue ?? []
                #expect(batch.count == 2 && batch.contains { $0["result"] != nil })
                #expect(batch.contains { $0.errorKind == "denied" })
                try client.send(RawClient.request("token.get", ["purpose": "unheard"], id: nil))
                #expect(try client.ask("session.list")["result"] != nil)
                let entries = try AuditLogTests.list(rig)
                #expect(
                    entries.allSatisfy { $0.rule == "user.no-tokens" && $0.enforced == true && $0.error == .denied })
                #expect(entries.allSatisfy { $0.token == nil } && entries.last?.purpose == "unheard")
                #expect(entries.map(\.count).reduce(0, +) == 6)
            }
        }
    }

    @Test("without enforcement the request is answered, and the audit log has the rule that would have denied it")
    func recorded() async throws {
        let policy = Self.policy(enforces: false, Self.rule("no-tokens", .deny, Self.noTokens))
        try await TestServer.run(accessPolicy: policy) { rig in
            try await onThread {
                let client = try rig.dial()
                for _ in 1...3 { #expect(try AuditLogTests.askPlainly(client)["result"] != nil) }
                #expect(try client.ask("token.get", ["purpose": "x"])["result"] != nil)
                let entries = try AuditLogTests.list(rig)
                #expect(entries.map(\.count) == [3, 1])
                #expect(entries.allSatisfy { $0.rule == "user.no-tokens" && $0.enforced == false && $0.error == nil })
                #expect(entries.allSatisfy { $0.token?.count == 16 })
            }
        }
    }

    @Test("other rules apply to the next request of a connection, even if it is the one from memory")
    func changed() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try AuditLogTests.askPlainly(client)["result"] != nil)
                rig.access.change { $0 = Self.policy(Self.rule("no-tokens", .deny, Self.noTokens)) }
                Self.expectDenied(try AuditLogTests.askPlainly(client), by: "user.no-tokens")
                rig.access.change { $0 = AccessPolicy() }
                #expect(try AuditLogTests.askPlainly(client)["result"] != nil)
            }
        }
    }

    @Test("a rule that denies events ends the connections that have subscribed")
    func deniedEvents() async throws {
        try await TestServer.run { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                #expect(try client.ask("events.subscribe")["result"] != nil)
                _ = try client.json()
                #expect(try other.ask("agent.ping")["result"] != nil)
                rig.access.change {
                    $0 = Self.policy(
                        Self.rule("no-events") { $0.request.methods = Self.texts("events.subscribe") })
                }
                #expect(try client.line() == nil)
                #expect(try other.ask("agent.ping")["result"] != nil)
            }
        }
    }

    @Test("a session is refused by its name, by the default session's, and as the owner of an origin")
    func sessions() async throws {
        let rule = Self.rule("no-shop") {
            Self.noTokens(&$0)
            $0.request.sessions = Self.texts("shop")
        }
        let catalog = ProfileCatalog(["shop", "work"].map(AuditRecordTests.profile))
        try await TestServer.run(names: ["shop", "work"], catalog: catalog, accessPolicy: Self.policy(rule)) { rig in
            try await onThread {
                let client = try rig.dial()
                let chosen = try client.ask("session.list")["result"]?["sessions"]?.arrayValue?
                    .first { $0["default"] == true }?["session"]?.stringValue
                #expect(chosen == "shop")
                Self.expectDenied(try AuditLogTests.askPlainly(client), by: "user.no-shop")
                Self.expectDenied(try AuditLogTests.askPlainly(client, for: "shop"), by: "user.no-shop")
                #expect(try AuditLogTests.askPlainly(client, for: "work")["result"]?["session"] == "work")
                for (params, isAllowed) in [
                    (["session": "work", "min_valid_ms": 1], true), (["min_valid_ms": 1], false),
                    (["origin": "https://work.example"], true), (["origin": "https://shop.example"], false),
                ] as [(JSON, Bool)] {
                    let answer = try client.ask("token.get", params)
                    #expect((answer["result"] != nil) == isAllowed, "\(params.text()) \(answer.text())")
                    if !isAllowed { Self.expectDenied(answer, by: "user.no-shop") }
                }
                let last = try AuditLogTests.list(rig).last
                #expect(last?.rule == "user.no-shop" && last?.enforced == true && last?.error == .denied)
            }
        }
    }

    @Test("an empty list of scopes requests all of them, so a rule about one of them denies it")
    func emptyScopes() async throws {
        let rule = Self.rule("no-admin") { $0.request.scopes = Self.texts("admin") }
        try await TestServer.run(accessPolicy: Self.policy(rule)) { rig in
            try await onThread {
                let client = try rig.dial()
                for params in [[:], ["scopes": []], ["scopes": ["read", "admin"]]] as [JSON] {
                    Self.expectDenied(try client.ask("token.get", params), by: "user.no-admin")
                }
                let tested = try client.ask("policy.test", ["method": "token.get", "scopes": []])["result"]
                #expect(tested?["allowed"] == false && tested?["rule"] == "user.no-admin", "\(tested?.text() ?? "")")
                // What was denied is denied when it is replayed, too.
                let entries = try AuditLogTests.list(rig).filter { $0.method == "token.get" }
                let replayed = try client.ask("policy.replay", ["text": ""])["result"]
                #expect(entries.count >= 2 && replayed?["changes"]?.arrayValue?.count == entries.count)
            }
        }
    }

    @Test("a session whose status a rule denies is in no list, snapshot or event")
    func hidden() async throws {
        let rule = Self.rule("hidden") { $0.request.sessions = Self.texts("work") }
        try await TestServer.run(names: ["shop", "work"], accessPolicy: Self.policy(rule)) { rig in
            try await onThread {
                let client = try rig.dial()
                let list = try client.ask("session.list")
                #expect(list["result"]?["sessions"]?.arrayValue?.map { $0["session"] } == ["shop"], "\(list.text())")
                Self.expectDenied(try client.ask("session.status", ["session": "work"]), by: "user.hidden")
                Self.expectDenied(try client.ask("events.subscribe", ["session": "work"]), by: "user.hidden")
                #expect(try client.ask("events.subscribe")["result"] != nil)
                let snapshot = try client.json()
                #expect(!snapshot.text().contains("\"work\"") && snapshot.text().contains("shop"), "\(snapshot.text())")
                for name in ["work", "shop"] {
                    let session = try SessionName(name)
                    rig.publisher.publish(
                        AgentEvent(
                            topic: .session, name: "renewed", at: 1, session: session,
                            status: rig.board.status(session)))
                }
                let event = try client.json()
                #expect(event["params"]?["session"] == "shop", "\(event.text())")
                // Without the rule it is there again.
                rig.access.change { $0 = AccessPolicy() }
                let all = try client.ask("session.list")["result"]?["sessions"]?.arrayValue
                #expect(all?.count == 2)
            }
        }
    }

    @Test("no error of a request without a session names a hidden one, whatever the request waits for")
    func hiddenInErrors() async throws {
        let rule = Self.rule("hidden") {
            $0.request.sessions = Self.texts("private")
            $0.request.classes = [.status]
        }
        var policy = Self.policy(rule)
        policy.root.rules.append(Self.rule("accounts", .allow, from: .root) { $0.request.classes = [.account] })
        let catalog = ProfileCatalog(["app", "private", "shop"].map(AuditRecordTests.profile))
        try await TestServer.run(names: ["app", "private", "shop"], catalog: catalog, accessPolicy: policy) { rig in
            try await onThread {
                // The default session is gone, so none is.
                rig.board.remove(try SessionName("app"))
                let client = try rig.dial()
                let requests: [(String, JSON)] = [
                    ("token.get", [:]), ("token.get", ["min_valid_ms": 1]), ("user.get", [:]), ("session.refresh", [:]),
                    ("session.logout", [:]), ("session.validate", [:]), ("password.change", [:]),
                    ("token.proof", ["method": "GET", "url": "https://shop.example/"]),
                    ("api.request", ["method": "GET", "path": "/"]),
                    ("api.request", ["method": "GET", "path": "/", "stream": "s", "answer": "stream"]),
                ]
                for (method, params) in requests {
                    let answer = try client.ask(method, params)
                    #expect(answer.errorCause == "no_default", "\(method): \(answer.text())")
                    #expect(!answer.text().contains("private"), "\(method): \(answer.text())")
                }
                rig.board.prefer(try SessionName("private"))
                let other = try client.ask("token.get", ["origin": "https://other.example"])
                #expect(other.errorCause == "other_origin" && !other.text().contains("private"), "\(other.text())")
                rig.board.prefer(nil)
                rig.access.change { $0 = AccessPolicy() }
                #expect(try client.ask("user.get").text().contains("private at private"))
            }
        }
    }

    @Test("a rule about a program applies to the one that runs now, and denies one that cannot be read")
    func programs() async throws {
        let program = URL(filePath: "/usr/bin/python3").resolvingSymlinksInPath().path
        let only = Self.rule("python-only", .allow) {
            $0.caller.executables = Self.texts(program)
            $0.request.classes = [.token]
        }
        let policy = Self.policy(only, Self.rule("others", .deny, Self.noTokens))
        try await TestServer.run(accessPolicy: policy) { rig in
            try await onThread { Self.expectDenied(try AuditLogTests.askPlainly(try rig.dial()), by: "user.others") }
            // It hides its executable after the first response, when the agent knows it.
            let answers = try await SenderTests.responses("hidden", rig.path)
            #expect(answers.count == 2 && answers.allSatisfy { $0["result"] != nil }, "\(answers)")
            // What was read before other rules came is read again.
            let unit = Self.rule("nobody", .allow) { $0.caller.executables = Self.texts("/usr/bin/nobody") }
            rig.access.change { $0 = Self.policy(unit, Self.rule("others", .deny, Self.noTokens)) }
            let others = try await SenderTests.responses("hidden", rig.path)
            #expect(others.last?.errorKind == "denied", "\(others)")
        }
    }

    @Test("a confined client is refused by its boundary first, and by a rule if the boundary allows the request")
    func confined() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName("shop")]
        rules.classes = [.status]
        let rule = Self.rule("extra") { $0.caller.listeners = [.name(.extra)] }
        try await TestServer.run(rules: rules) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                #expect(try client.ask("session.list")["result"] != nil)
                rig.access.change { $0 = Self.policy(rule) }
                let refused = try client.ask("session.list")
                #expect(refused.errorKind == "denied" && refused["error"]?["data"]?["cause"] == "access_rule")
                #expect(try client.ask("token.get")["error"]?["data"]?["cause"] == "confined")
                #expect(try rig.dial().ask("session.list")["result"] != nil)
                let entries = try AuditLogTests.list(rig)
                #expect(entries.map(\.rule) == ["user.extra", "listener.extra"])
                #expect(entries.map(\.enforced) == [true, true])
            }
        }
    }

    @Test("a listed session that a rule hides from a confined client is in no list, snapshot or event for it")
    func hiddenFromConfined() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName("shop"), try SessionName("work")]
        rules.classes = [.status]
        let rule = Self.rule("hidden") {
            $0.request.sessions = Self.texts("work")
            $0.caller.listeners = [.name(.extra)]
        }
        try await TestServer.run(names: ["shop", "work"], rules: rules) { rig in
            try await onThread {
                let (client, own) = (try rig.dialExtra(), try rig.dial())
                func listed() throws -> [JSON?] {
                    try client.ask("session.list")["result"]?["sessions"]?.arrayValue?.map { $0["session"] } ?? []
                }
                #expect(try listed() == ["shop", "work"])
                #expect(try client.ask("session.status").errorCause == "no_default")
                rig.access.change { $0 = Self.policy(rule) }
                #expect(try listed() == ["shop"])
                #expect(try client.ask("session.status")["result"]?["session"] == "shop")
                Self.expectDenied(try client.ask("session.status", ["session": "work"]), by: "user.hidden")
                #expect(try client.ask("events.subscribe")["result"] != nil)
                let snapshot = try client.json()
                #expect(!snapshot.text().contains("\"work\"") && snapshot.text().contains("shop"), "\(snapshot.text())")
                #expect(try own.ask("events.subscribe")["result"] != nil)
                #expect(try own.json().text().contains("\"work\""))
                for name in ["work", "shop"] {
                    let session = try SessionName(name)
                    rig.publisher.publish(
                        AgentEvent(
                            topic: .session, name: "renewed", at: 1, session: session,
                            status: rig.board.status(session)))
                }
                #expect(try client.json()["params"]?["session"] == "shop")
                #expect(try own.json()["params"]?["session"] == "work")
            }
        }
    }

    @Test("only a request that is carried out counts as use of the agent, not one that a rule or a boundary denies")
    func use() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName("shop")]
        rules.classes = [.status]
        let policy = Self.policy(Self.rule("no-tokens", .deny, Self.noTokens))
        try await TestServer.run(rules: rules, accessPolicy: policy) { rig in
            try await onThread {
                let (client, limited) = (try rig.dial(), try rig.dialExtra())
                Self.expectDenied(try AuditLogTests.askPlainly(client), by: "user.no-tokens")
                Self.expectDenied(try client.ask("token.get", ["min_valid_ms": 1]), by: "user.no-tokens")
                #expect(try limited.ask("token.get").errorCause == "confined")
                #expect(try limited.ask("api.call", ["endpoint": "me"]).errorCause == "confined")
                #expect(try client.ask("session.use", ["session": 1]).errorCode == -32602)
                #expect(try client.ask("session.status")["result"] != nil)
                #expect(rig.board.lastUse == nil)
                rig.access.change { $0 = AccessPolicy() }
                #expect(try AuditLogTests.askPlainly(client)["result"] != nil)
                let plain = try #require(rig.board.lastUse)
                #expect(try client.ask("token.get", ["min_valid_ms": 1])["result"] != nil)
                let other = try #require(rig.board.lastUse)
                #expect(other > plain)
            }
        }
    }
}
