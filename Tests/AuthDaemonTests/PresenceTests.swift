import AuthAgent
import AuthModel
import AuthSealedFile
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Sessions and rules that need a check of the user's presence, on a real socket.
@Suite("Presence on the socket", .timeLimit(.minutes(1)))
struct PresenceTests {
    private static func marked(_ names: String...) throws -> AccessPolicy {
        var policy = AccessPolicy()
        policy.presenceSessions = Set(try names.map { try SessionName($0) })
        return policy
    }

    private static func policy(enforces: Bool, _ change: (inout AccessRule) -> Void) -> AccessPolicy {
        var policy = AccessPolicy()
        var rule = AccessRule("there", from: .root, .presence)
        change(&rule)
        policy.root.enforces = enforces
        var others = AccessRule("tests", from: .root, .allow)
        others.request.classes = [.admin]
        policy.root.rules = [rule, others]
        return policy
    }

    private static let plain = #"{"jsonrpc":"2.0","id":1,"method":"token.get"}"# + "\n"

    @Test("no form of a request releases the token without a check, and the check is about the process that sent it")
    func forms() async throws {
        let user = FakePresence()
        try await TestServer.run(accessPolicy: try Self.marked("shop"), presence: user) { rig in
            try await onThread {
                let client = try rig.dial()
                func answers() throws -> [JSON] {
                    try client.send(Self.plain)
                    let first = try client.json()
                    let others = try [
                        client.ask("token.get", ["session": "shop"]), client.ask("token.get", ["min_valid_ms": 1]),
                    ]
                    try client.send("[\(RawClient.request("token.get").dropLast())]\n")
                    return [first] + others + (try client.json().arrayValue ?? [])
                }
                let released = try answers()
                #expect(released.count == 4)
                #expect(released.allSatisfy { $0["result"]?["access_token"] == .string(TestServer.token) })
                let asked = user.questions()
                #expect(asked.count == 4)
                let shop = try SessionName("shop")
                #expect(
                    asked.allSatisfy {
                        $0.action == .release && $0.session == shop && $0.subject.processID == getpid()
                            && $0.subject.userID == geteuid() && $0.subject.startTicks > 0
                            && $0.subject.executable != nil
                    })
                user.set(.refused)
                let refused = try answers()
                #expect(refused.count == 4 && refused.allSatisfy { $0.errorKind == "denied" && $0["result"] == nil })
                let causes = refused.map(\.errorCause)
                #expect(causes == ["presence_refused", "presence_refused", "presence_paused", "presence_paused"])
            }
        }
    }

    @Test("a session without a token, a refusal, no agent and no polkit are different errors")
    func errors() async throws {
        let user = FakePresence()
        try await TestServer.run(accessPolicy: try Self.marked("shop", "none"), presence: user) { rig in
            try await onThread {
                let client = try rig.dial()
                #expect(try client.ask("token.get", ["session": "none"]).errorKind == "unknown_session")
                #expect(user.questions().isEmpty)
                for (answer, cause) in [
                    (PresenceAnswer.refused, "presence_refused"), (.noAgent, "presence_no_agent"),
                    (.unavailable("it does not run"), "presence_unavailable"),
                ] {
                    user.set(answer)
                    let error = try client.ask("token.get")
                    #expect(error.errorKind == "denied" && error.errorCause == cause, "\(error.text())")
                }
                #expect(user.questions().count == 3)
                #expect(try client.ask("session.logout", ["session": "shop"])["result"] != nil)
                #expect(try ["not_signed_in", "unknown_session"].contains(client.ask("token.get").errorKind))
                #expect(user.questions().isEmpty)
            }
        }
    }

    @Test(
        "other methods that use or move the token need the check, too; a status, a rejection and other sessions do not")
    func methods() async throws {
        let user = FakePresence()
        user.set(.noAgent)
        try await TestServer.run(names: ["shop", "work"], accessPolicy: try Self.marked("shop"), presence: user) {
            rig in
            try await onThread {
                let client = try rig.dial()
                let needed: [(String, JSON, PresenceAction)] = [
                    ("token.proof", ["session": "shop", "method": "GET", "url": "https://a.example"], .release),
                    ("api.request", ["session": "shop", "method": "GET", "path": "/"], .release),
                    ("api.request", ["session": "shop", "method": "GET", "path": "/", "queue": true], .release),
                    (
                        "api.request",
                        ["session": "shop", "method": "GET", "path": "/", "stream": "s", "answer": "stream"],
                        .release
                    ),
                    ("api.call", ["session": "shop", "endpoint": "users"], .release),
                    ("user.get", ["session": "shop"], .release),
                    ("user.update", ["session": "shop", "fields": [:]], .trust),
                    ("session.trust", ["session": "shop"], .trust),
                    ("session.export", ["session": "shop"], .export), ("session.export", [:], .export),
                    ("store.migrate", ["to": "sealed-file", "passphrase": "correct horse battery"], .export),
                    ("store.rekey", ["passphrase": "correct horse battery"], .export),
                    ("store.rekey", ["key_base64": "YQ=="], .export),
                    ("cluster.admit", ["code": "7QF2-M8XA-93PD"], .export),
                ]
                for (method, params, action) in needed {
                    let answer = try client.ask(method, params)
                    #expect(answer.errorCause == "presence_no_agent", "\(method) \(answer.text())")
                    #expect(user.questions().map(\.action) == [action], "\(method)")
                }
                let free: [(String, JSON)] = [
                    ("session.status", ["session": "shop"]), ("session.list", [:]),
                    ("token.reject", ["session": "shop", "access_token": "x"]),
                    ("token.get", ["session": "work"]), ("user.get", ["session": "work"]),
                    ("session.export", ["session": "work"]), ("events.subscribe", [:]),
                    ("store.rekey", [:]), ("cluster.status", [:]), ("cluster.forget", ["host": "one"]),
                ]
                for (method, params) in free {
                    let answer = try client.ask(method, params)
                    #expect(answer.errorCause?.hasPrefix("presence") != true, "\(method) \(answer.text())")
                }
                #expect(user.questions().isEmpty)
            }
        }
    }

    @Test("a streamed call that waits for the check when the agent stops is not cancelled by its client")
    func stopping() async throws {
        var limits = ConnectionLimits()
        limits.stopGrace = .zero
        let user = FakePresence()
        user.set(nil)
        try await TestServer.run(limits: limits, accessPolicy: try Self.marked("shop"), presence: user) { rig in
            let waiting = Held(try rig.dial())
            try waiting.client.send(
                RawClient.request(
                    "api.request",
                    ["session": "shop", "method": "GET", "path": "/", "stream": "s", "answer": "stream"], id: 1))
            try await onThread { user.waitForQuestion() }
            await rig.stop()
            try await onThread {
                let answer = try waiting.client.json()
                #expect(answer.errorCause == "stopping", "\(answer.text())")
            }
            #expect(rig.audit.list(after: 0, limit: 9).entries.map(\.cancelled) == [nil])
        }
    }

    @Test("a token for an origin is checked when its session is known")
    func origins() async throws {
        let user = FakePresence()
        user.set(.refused)
        let catalog = ProfileCatalog(["shop", "work"].map(AuditRecordTests.profile))
        try await TestServer.run(
            names: ["shop", "work"], catalog: catalog, accessPolicy: try Self.marked("shop"), presence: user
        ) { rig in
            try await onThread {
                let client = try rig.dial()
                let work = try client.ask("token.get", ["origin": "https://work.example"])
                #expect(work["result"]?["session"] == "work" && user.questions().isEmpty)
                let shop = try client.ask("token.get", ["origin": "https://shop.example"])
                #expect(shop.errorCause == "presence_refused", "\(shop.text())")
                #expect(user.questions().map { $0.session?.text } == ["shop"])
            }
        }
    }

    @Test("clients of the extra socket are checked, too")
    func confined() async throws {
        var rules = ListenerRules()
        rules.sessions = [try SessionName("shop")]
        rules.classes = [.status, .act]
        rules.endpoints = ["users"]
        let user = FakePresence()
        user.set(.refused)
        try await TestServer.run(rules: rules, accessPolicy: try Self.marked("shop"), presence: user) { rig in
            try await onThread {
                let client = try rig.dialExtra()
                #expect(try client.ask("api.call", ["endpoint": "users"]).errorCause == "presence_refused")
                #expect(user.questions().map(\.subject.processID) == [getpid()])
                #expect(try client.ask("session.status")["result"]?["state"] == "active")
            }
        }
    }

    @Test("requests that wait do not block others, and the lock ends them with their check")
    func waiting() async throws {
        let user = FakePresence()
        user.set(nil)
        try await TestServer.run(names: ["shop", "work"], accessPolicy: try Self.marked("shop"), presence: user) {
            rig in
            _ = try await rig.lock.setPassphrase(AgentPassphrase(passphrase: "correct horse battery"))
            try await onThread {
                let client = try rig.dial()
                try client.send(RawClient.request("token.get", ["session": "shop"], id: "held"))
                #expect(try client.ask("token.get", ["session": "work"])["result"] != nil)
                user.waitForQuestion()
                #expect(try rig.dial().ask("agent.lock")["result"]?["locked"] == true)
                let answer = try client.json()
                #expect(answer["id"] == "held" && answer.errorKind == "agent_locked", "\(answer.text())")
            }
            #expect(user.questions().count == 1)
        }
    }

    @Test(
        "a rule of root asks for a check if rules are enforced, and is recorded otherwise; an allowance does not undo it"
    )
    func rules() async throws {
        for enforces in [true, false] {
            let user = FakePresence()
            user.set(.noAgent)
            var policy = Self.policy(enforces: enforces) { $0.request.classes = [.token] }
            policy.user.rules = [AccessRule("all", from: .user, .allow)]
            try await TestServer.run(accessPolicy: policy, presence: user) { rig in
                try await onThread {
                    let client = try rig.dial()
                    try client.send(Self.plain)
                    let answer = try client.json()
                    #expect(answer.errorCause == (enforces ? "presence_no_agent" : nil), "\(answer.text())")
                    #expect(user.questions().count == (enforces ? 1 : 0))
                    let entry = try AuditLogTests.list(rig).last
                    #expect(entry?.rule == "root.there" && entry?.enforced == enforces)
                    #expect(entry?.error == (enforces ? .denied : nil))
                }
            }
        }
    }

    @Test("another mark applies to the next request of a connection")
    func changed() async throws {
        let user = FakePresence()
        user.set(.refused)
        try await TestServer.run(presence: user) { rig in
            try await onThread {
                let client = try rig.dial()
                func isReleased() throws -> Bool {
                    try client.send(Self.plain)
                    return try client.json()["result"] != nil
                }
                #expect(try isReleased())
                let shop = try SessionName("shop")
                rig.access.change { $0.presenceSessions = [shop] }
                #expect(try !isReleased())
                rig.access.change { $0.presenceSessions = [] }
                #expect(try isReleased())
            }
        }
    }

    @Test("a change of the key without the present passphrase causes no check; each passphrase needs another request")
    func passphraseFirst() async throws {
        let (folder, user) = (try TemporaryFolder(), FakePresence())
        let store = SealedFileStore(
            folder: DurableFolder(path: folder.path + "/sessions"), source: .passphrase,
            cost: PassphraseCost(logarithm: 10))
        let right = "correct horse battery"
        try await store.unlock(with: Secret(right))
        try await TestServer.run(accessPolicy: try Self.marked("shop"), presence: user, keptIn: store) { rig in
            try await onThread {
                let client = try rig.dial()
                /// How the request has ended, and the number of checks.
                func rekey(_ params: JSON) throws -> String {
                    let answer = try client.ask("store.rekey", params)
                    let end = answer["result"] == nil ? answer.errorCause ?? answer.text() : "done"
                    return "\(end) \(user.questions().count)"
                }
                let new = JSON.string("another horse battery")
                #expect(try rekey(["passphrase": new]) == "passphrase 0")
                #expect(try rekey(["passphrase": "short", "current": .string(right)]) == "new_passphrase 0")
                #expect(try rekey(["key_base64": "YWFh"]) == "passphrase 0")
                // Nobody can try passphrases without the user.
                #expect(try rekey(["passphrase": new, "current": "wrong horse battery"]) == "passphrase 1")
                user.set(.refused)
                #expect(try rekey(["passphrase": new, "current": "wrong horse battery"]) == "presence_refused 1")
                user.set(.passed)
                #expect(try rekey(["passphrase": new, "current": .string(right)]) == "done 1")
            }
        }
        await store.close()
    }

    @Test("presence unlocks the agent if the settings allow it, and a refusal does not")
    func unlock() async throws {
        let user = FakePresence()
        try await TestServer.run(presence: user) { rig in
            _ = try await rig.lock.setPassphrase(AgentPassphrase(passphrase: "correct horse battery"))
            try await onThread {
                let client = try rig.dial()
                let params: JSON = ["presence": true]
                #expect(try client.ask("agent.unlock", params).errorCause == "not_locked")
                _ = try client.ask("agent.lock")
                #expect(try client.ask("agent.unlock", params).errorCause == "no_unlock_by_presence")
                #expect(user.questions().isEmpty)
            }
            var settings = LockSettings()
            settings.presence = true
            await rig.lock.configure(settings)
            try await onThread {
                let client = try rig.dial()
                user.set(.refused)
                #expect(try client.ask("agent.unlock", ["presence": true]).errorCause == "presence_refused")
                #expect(try client.ask("token.get").errorKind == "agent_locked")
                user.set(.passed)
                #expect(try client.ask("agent.unlock", ["presence": true])["result"]?["locked"] == false)
                #expect(user.questions().map(\.action) == [.unlock, .unlock])
                #expect(try client.ask("token.get")["result"] != nil)
            }
        }
    }
}
