import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

/// Lists of other things than sessions, which may be about a session that a rule hides from the client.
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
