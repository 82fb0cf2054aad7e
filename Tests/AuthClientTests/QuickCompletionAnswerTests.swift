import AuthWire
import Foundation
import TestSupport
import Testing

/// Here the small program has asked the agent, but prints nothing.
@Suite("Answers that a completion leaves to the full program", .timeLimit(.minutes(10)))
struct QuickCompletionAnswerTests {
    private static let session = "use -- positional@0"
    private static let provider = "login -- positional@0"
    private static let entry = "outbox show -- positional@0"
    private static let scope = "token -- --scope"

    /// Members of a session, and values that they must not have. `null` removes a member.
    private static let sessions: [(String, JSON)] = [
        ("session", ""), ("session", "red\u{1B}[31m"), ("session", "a\nb"), ("session", "Shop"), ("session", .null),
        ("provider", .null), ("state", "busy"), ("user", ["name": "José"]), ("expires_at", "soon"),
    ]

    @Test("a session with another member", arguments: sessions)
    func otherSession(member: String, value: JSON) async throws {
        let list: JSON = ["sessions": [Samples.status(), Samples.status([member: value])]]
        try await Self.expectLeft(Self.session, "session.list", list)
    }

    private static let providers: [(String, JSON)] = [
        ("name", .null), ("name", 7), ("name", "a\"b"), ("name", "a\\b"), ("name", "a\nb"), ("name", "a\u{7F}"),
        ("name", "red\u{1B}[31m"), ("name", "é"), ("name", "\u{9B}31m"), ("title", .null), ("title", []),
        ("source", .null), ("source", false), ("environments", [1]), ("environments", "local"), ("methods", [:]),
    ]

    @Test("a provider with another member", arguments: providers)
    func otherProvider(member: String, value: JSON) async throws {
        let list: JSON = ["providers": [CompletionSamples.provider(), CompletionSamples.provider([member: value])]]
        try await Self.expectLeft(Self.provider, "provider.list", list)
    }

    private static let entries: [(String, JSON)] = [
        ("id", .null), ("id", 12), ("id", "1\u{1B}[31m"), ("session", .null), ("session", "Shop"), ("state", .null),
        ("state", "sent"), ("request", .null), ("request", 1), ("idempotency_key", .null), ("idempotency_key", 1),
        ("queued_at", .null), ("queued_at", "now"), ("tries", -1), ("tries", 1.5), ("retry_at", "soon"),
        ("waits_for", true), ("error", ["message": "…"]),
    ]

    @Test("an entry of the outbox with another member", arguments: entries)
    func otherEntry(member: String, value: JSON) async throws {
        let list: JSON = ["entries": [CompletionSamples.entry(), CompletionSamples.entry([member: value])]]
        try await Self.expectLeft(Self.entry, "outbox.list", list)
    }

    private static let scopes: [JSON] = [["a\nb"], ["red\u{1B}[31m"], ["a\"b"], ["read", "é"], [1], "read"]

    @Test("other scopes", arguments: scopes)
    func otherScopes(scopes: JSON) async throws {
        try await Self.expectLeft(Self.scope, "session.status", Samples.status(["scopes": scopes]))
    }

    private static let results: [JSON] = [[:], [], "x", ["sessions": [:], "providers": "x", "entries": 1]]

    @Test("a result of another form", arguments: results)
    func otherResult(result: JSON) async throws {
        for (argument, method) in [
            (Self.session, "session.list"), (Self.provider, "provider.list"), (Self.entry, "outbox.list"),
            (Self.scope, "session.status"),
        ] { try await Self.expectLeft(argument, method, result) }
    }

    /// The full program then offers the values. None of them has a control character.
    private static func expectLeft(
        _ argument: String, _ method: String, _ result: JSON, location: SourceLocation = #_sourceLocation
    ) async throws {
        let agent = try CompletionSamples.agent([method: result])
        defer { agent.stop() }
        let words = CompletionSamples.request(argument)
        try await QuickAuthc.expectLeft(words, agent.folder, [:], "\(argument)", location: location)
        let both = try await Program.run(words, folder: agent.folder)
        let full = try await Program.run(words, folder: agent.folder, program: QuickAuthc.full)
        #expect(both.output == full.output, "\(argument)", sourceLocation: location)
        #expect(both.errors.isEmpty && both.status == 0, "\(argument)", sourceLocation: location)
        let isVisible = both.output.unicodeScalars.allSatisfy {
            $0 == "\n" || $0.properties.generalCategory != .control
        }
        #expect(isVisible, "\(argument)", sourceLocation: location)
    }

    @Test("an error, an end, silence or no agent: nothing is offered, without a message")
    func noAnswer() async throws {
        let refusing = try TestAgent(replies: ["session.list": .failure(AgentError(.denied, "no"))])
        defer { refusing.stop() }
        let ending = try TestAgent { peer, _ in peer.end() }
        defer { ending.stop() }
        let silent = try TestAgent { _, _ in }
        defer { silent.stop() }
        let none = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: none) }
        let words = CompletionSamples.request(Self.session)
        for folder in [refusing.folder, ending.folder, silent.folder, none] {
            try await QuickAuthc.expectLeft(words, folder)
            let both = try await Program.run(words, folder: folder)
            #expect(both.output == "\n" && both.errors.isEmpty && both.status == 0, "\(both)")
        }
        try await QuickAuthc.expectLeft(words, refusing.folder, ["AUTHD_SOCKET": "relative"])
    }

    @Test("a very long list: all of it is offered")
    func longList() async throws {
        let names = (1...2000).map { "session-\($0)" }
        let sessions = names.map { Samples.status(["session": .string($0)]) }
        let agent = try CompletionSamples.agent(["session.list": ["sessions": .array(sessions)]])
        defer { agent.stop() }
        let words = CompletionSamples.request(Self.session)
        try await QuickAuthc.expectLeft(words, agent.folder)
        let both = try await Program.run(words, folder: agent.folder)
        #expect(both.output == names.joined(separator: "\n") + "\n" && both.errors.isEmpty && both.status == 0)
    }
}
