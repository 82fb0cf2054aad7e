import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Lists of things other than sessions, which may be about a session that a rule hides from the client.
@Suite("Lists without hidden sessions", .timeLimit(.minutes(1)))
struct HiddenListTests {
    private typealias Rules = AccessControlTests

    @Test("the audit log, in both forms and page by page, and a replay of rules have no entry about a hidden session")
    func hiddenInLog() async throws {
        let rule = Rules.rule("hidden") {
            $0.request.sessions = Rules.texts("work")
            $0.request.classes = [.status]
        }
        try await TestServer.run(names: ["shop", "work"]) { rig in
            try await onThread {
                let client = try rig.dial()
                for name in ["work", "work", "shop", "work", "shop"] {
                    // Each is an entry.
                    let other = try rig.dial()
                    #expect(try other.ask("token.get", ["session": .string(name)])["result"] != nil)
                }
                // An entry without a session.
                #expect(try client.ask("agent.reload")["result"] != nil)
                func sessions(_ params: JSON) throws -> [JSON?] {
                    let answer = try client.ask("audit.list", params)
                    return try #require(answer["result"]?["entries"]?.arrayValue).map { $0["session"] }
                }
                let all: [JSON?] = ["work", "work", "shop", "work", "shop", nil]
                #expect(try sessions([:]) == all)
                rig.access.change { $0 = Rules.policy(rule, Rules.rule("no-tokens", .deny, Rules.noTokens)) }
                let visible: [JSON?] = ["shop", "shop", nil]
                #expect(try sessions([:]) == visible)
                #expect(try sessions(["limit": 1000]) == visible)
                #expect(try sessions(["limit": 2]) == ["shop", nil])
                #expect(try sessions(["after": 0, "limit": 1]) == ["shop"])
                // Without the rules of the user, tokens would not be denied.
                let replayed = try client.ask("policy.replay", ["text": ""])
                #expect(!replayed.text().contains("\"work\""), "\(replayed.text())")
                #expect(replayed["result"]?["changes"]?.arrayValue?.count == 2, "\(replayed.text())")
                rig.access.change { $0 = AccessPolicy() }
                #expect(try sessions(["limit": 1000]) == all)
            }
        }
    }

    @Test("a question about a program that is about a hidden session is not listed")
    func hiddenQuestion() async throws {
        let hiding = Rules.rule("hidden") {
            $0.request.sessions = Rules.texts("work")
            $0.request.classes = [.status]
        }
        var policy = Rules.policy(Rules.rule("asked", .ask) { $0.request.classes = [.token] }, hiding)
        policy.root.rules.append(Rules.rule("accounts", .allow, from: .root) { $0.request.classes = [.account] })
        let desktop = AbsentDesktop()
        try await TestServer.run(names: ["shop", "work"], accessPolicy: policy, desktop: desktop) { rig in
            try await onThread {
                let (client, other) = (try rig.dial(), try rig.dial())
                try client.send(RawClient.request("token.get", ["session": "work"], id: "held"))
                #expect(desktop.waitForQuestion())
                func listed() throws -> [JSON?]? {
                    try other.ask("consent.list")["result"]?["questions"]?.arrayValue?.map { $0["session"] }
                }
                #expect(try listed() == [])
                rig.access.change { $0.user.rules.removeLast() }
                #expect(try listed() == ["work"])
            }
        }
    }

    @Test("the profile that was generated for the URL of a hidden session is neither listed nor shown")
    func hiddenURL() async throws {
        let url = "https://hidden.example/mcp"
        let rule = Rules.rule("hidden") { $0.request.sessions = Rules.texts("work") }
        try await TestServer.run(names: ["shop"]) { rig in
            let work = try SessionName("work")
            var record = SessionRecord(
                session: work, provider: url, environment: "production", method: "oauth",
                tokens: TokenSet(accessToken: Secret("t"), issuedAt: WallTime(unixSeconds: 1)), user: nil,
                rawUser: nil, signedInAt: WallTime(unixSeconds: 1))
            record.resource = ProtectedResource(url: url, identifier: url, issuer: "https://issuer.example")
            // Its profile is generated.
            _ = rig.sessions.context.providers.canRenew(record)
            rig.board.put(placeholder: SessionStatus(session: work, provider: url, state: .active))
            try await onThread {
                let client = try rig.dial()
                func isNamed() throws -> [Bool] {
                    let list = try client.ask("provider.list")
                    let isListed = list["result"]?["providers"]?.arrayValue?.contains { $0["name"] == .string(url) }
                    let shown = try client.ask("provider.show", ["provider": .string(url)])
                    return [isListed == true, shown["result"] != nil]
                }
                #expect(try isNamed() == [true, true])
                rig.access.change { $0 = Rules.policy(rule) }
                #expect(try isNamed() == [false, false])
            }
        }
    }

    @Test("no status of a session that uses a hidden session's sign-in names it, and no error names another session")
    func hiddenSignIn() async throws {
        let rule = Rules.rule("hidden") {
            $0.request.sessions = Rules.texts("work")
            $0.request.classes = [.status]
        }
        try await TestServer.run(names: ["shop", "work"], accessPolicy: Rules.policy(rule)) { rig in
            try await onThread {
                let linked = try SessionName("linked")
                var status = SessionStatus(session: linked, provider: "shop", state: .active)
                status.sharedSession = try SessionName("work")
                status.message = "It uses work."
                status.lastError = "shop did not renew session work."
                status.storeError = "work is locked."
                rig.board.put(placeholder: status)
                let client = try rig.dial()
                let wait: JSON = ["session": "linked", "until": "active", "timeout_ms": 60_000]
                for (method, params) in [("session.status", ["session": "linked"]), ("session.wait", wait)] {
                    let answer = try client.ask(method, params)
                    #expect(answer["result"]?["session"] == "linked", "\(answer.text())")
                    #expect(!answer.text().contains("work"), "\(answer.text())")
                }
                rig.access.change { $0 = AccessPolicy() }
                #expect(try client.ask("session.status", ["session": "linked"]).text().contains("It uses work."))
            }
        }
        for cause in ["shared_sign_in", "damaged", "no_default", "other_origin", "several_sessions", "ready"] {
            let text =
                cause == "no_default" || cause == "several_sessions" ? "Name one." : "The record of work is damaged."
            let error = HiddenSessions.filtered(
                AgentError(.signInRequired, text, cause: cause, details: ["work at shop"]))
            #expect(!error.message.contains("work") && error.details.isEmpty, "\(error)")
        }
        let other = AgentError(.validation, "There is no field of that name.", details: ["email"])
        #expect(HiddenSessions.filtered(other) == other)
    }

    @Test("no network status, snapshot, event or counter names a provider that only hidden sessions use")
    func hiddenProvider() async throws {
        let rule = Rules.rule("hidden") { $0.request.sessions = Rules.texts("work") }
        try await TestServer.run(names: ["shop", "work"]) { rig in
            let all = ["shop": "reachable", "work": "provider_unreachable", "former": "reachable"]
            rig.board.put(network: .online, providers: all)
            rig.board.put(clockSkews: ["shop": .seconds(90), "work": .seconds(120)])
            rig.board.put(store: .ready, message: "The record of session work cannot be read.")
            try await onThread {
                let client = try rig.dial()
                func network() throws -> JSON? { try client.ask("network.status")["result"] }
                #expect(try network()?["providers"]?.objectValue?.keys.sorted() == ["former", "shop", "work"])
                #expect(try client.ask("agent.stats")["result"]?["sessions"] == 2)
                #expect(try client.ask("agent.info").text().contains("session work"))
                rig.access.change { $0 = Rules.policy(rule) }
                let visible: JSON = ["shop": "reachable"]
                #expect(try network()?["providers"] == visible)
                #expect(try network()?["clock_skew_ms"]?.objectValue?.keys.sorted() == ["shop"])
                #expect(try client.ask("agent.stats")["result"]?["sessions"] == 1)
                #expect(try client.ask("agent.info")["result"]?["store"]?["message"] == nil)
                #expect(try client.ask("events.subscribe", ["topics": ["network"]])["result"] != nil)
                let snapshot = try client.json()["params"]?["snapshot"]
                #expect(snapshot?["network"]?["providers"] == visible)
                rig.board.put(network: .limited, providers: all)
                let event = try client.json()["params"]
                #expect(event?["network"]?["state"] == "limited" && event?["network"]?["providers"] == visible)
            }
            let caller = Caller(
                PeerCredentials(processID: getpid(), userID: geteuid()), from: .api, process: nil, confinement: nil,
                changes: rig.changes)
            let hidden = try #require(HiddenSessions(rig.access, for: caller))
            let counted = AgentStats(
                requests: 9, connections: 3, sessions: 2, renewals: 4, uptime: .seconds(1),
                tokenRequests: ["former", "shop", "work"].map(TokenRequestCounts.init(provider:)))
            let stats = hidden.stats(counted, on: rig.board)
            #expect(stats.tokenRequests.map(\.provider) == ["shop"] && stats.sessions == 1 && stats.requests == 9)
        }
    }

    @Test("a change of hidden sessions only sends no event, and their renewals are not counted")
    func hiddenChanges() async throws {
        let rule = Rules.rule("hidden") { $0.request.sessions = Rules.texts("work") }
        let policy = Rules.policy(rule)
        try await TestServer.run(names: ["shop", "work"], accessPolicy: policy) { rig in
            try await onThread {
                func put(_ state: NetworkState, shop: String = "reachable", work: String) {
                    rig.board.put(network: state, providers: ["shop": shop, "work": work])
                }
                put(.online, work: "reachable")
                for (session, count) in [("shop", 1), ("work", 2)] {
                    for number in 0..<count {
                        var snapshot = try #require(rig.board.snapshot(SessionName(session)))
                        snapshot.token = Secret("renewed-\(number)")
                        rig.board.put(snapshot)
                    }
                }
                let client = try rig.dial()
                #expect(try client.ask("agent.stats")["result"]?["renewals"] == 1)
                #expect(try client.ask("events.subscribe", ["topics": ["network"]])["result"] != nil)
                #expect(try client.json()["params"]?["event"] == "snapshot")
                func next() throws -> [JSON?] {
                    let network = try client.json()["params"]?["network"]
                    return [network?["state"], network?["providers"]?["shop"]]
                }
                for work in ["provider_unreachable", "reachable"] { put(.online, work: work) }
                put(.limited, work: "reachable")
                #expect(try next() == ["limited", "reachable"])
                put(.limited, work: "provider_unreachable")
                put(.limited, shop: "provider_unreachable", work: "reachable")
                #expect(try next() == ["limited", "provider_unreachable"])
                // An event that is sent while nothing is hidden also counts as the last state.
                rig.access.change { $0 = AccessPolicy() }
                put(.online, shop: "provider_unreachable", work: "reachable")
                #expect(try next() == ["online", "provider_unreachable"])
                #expect(try client.ask("agent.stats")["result"]?["renewals"] == 3)
                rig.access.change { $0 = policy }
                put(.limited, shop: "provider_unreachable", work: "reachable")
                #expect(try next() == ["limited", "provider_unreachable"])
            }
        }
    }

    /// Shows no question: each waits for `consent.answer`.
    private final class AbsentDesktop: ConsentPrompt {
        private let asked = DispatchSemaphore(value: 0)

        func waitForQuestion() -> Bool { asked.wait(timeout: .now() + .seconds(30)) == .success }

        func show(_ question: ConsentQuestion, number: UInt64) async -> ConsentReply {
            asked.signal()
            return .notShown
        }

        func withdraw(_ number: UInt64) {}
    }
}
