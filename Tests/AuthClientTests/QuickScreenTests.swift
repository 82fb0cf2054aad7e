import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("authc on a terminal without the full program", .timeLimit(.minutes(5)))
struct QuickScreenTests {
    private static let list: [JSON] = [
        Samples.status(["expires_at": 4_000_000_000]),
        Samples.status([
            "session": "wiki", "provider": "envelope", "environment": .null, "state": "sign_in_required",
            "cause": "refused_by_provider", "user": .null, "default": false,
        ]),
        Samples.status(["session": "old", "state": "signed_out", "user": .null, "default": false]),
        Samples.status(["session": "b", "state": "stale", "default": false, "locked_since": 1, "unsaved": true]),
    ]

    private func agent(_ status: JSON, _ list: [JSON]) throws -> TestAgent {
        try TestAgent(replies: [
            "session.status": .success(status), "session.list": .success(["sessions": .array(list)]),
            "network.status": .success(["state": "online", "since": 1_700_000_000, "providers": ["a": "reachable"]]),
            "user.get": .success(["user": ["email": "ada@example.org"], "raw": .null]),
        ])
    }

    private func shown(
        _ line: String, _ folder: String, columns: UInt16, _ environment: [String: String]
    ) async throws -> String {
        let terminal = try await Terminal(
            "\(line); echo \"=end $?\"", folder: folder, columns: columns, environment: environment)
        await terminal.waits(for: "=end ")
        await terminal.ends()
        return terminal.text
    }

    /// - Returns: whether `authc` alone showed it.
    private func compare(
        _ words: String, _ agent: TestAgent, columns: UInt16, _ environment: [String: String] = [:]
    ) async throws -> Bool {
        let line = try "\(QuickAuthc.install(in: agent.folder)) \(words)"
        var alone = try await shown(line, agent.folder, columns: columns, environment)
        // It waits for the agent for a moment only, which a busy machine may exceed once.
        if !alone.hasSuffix("=end 0\r\n") { alone = try await shown(line, agent.folder, columns: columns, environment) }
        guard alone.hasSuffix("=end 0\r\n") else {
            #expect(alone.hasPrefix("authc: cannot start ") && alone.hasSuffix("=end 70\r\n"), "\(words): \(alone)")
            return false
        }
        let full = try await shown("\(QuickAuthc.full) \(words)", agent.folder, columns: columns, environment)
        // A minute or an hour may have ended between the two.
        if alone != full { alone = try await shown(line, agent.folder, columns: columns, environment) }
        #expect(alone == full, "\(words), \(columns) columns")
        return true
    }

    @Test(
        "what fits is the same, in every colour",
        arguments: [[:], ["NO_COLOR": "1"], ["LC_ALL": "C"], ["TERM": "dumb"], ["TERM": ""]])
    func fits(environment: [String: String]) async throws {
        let status = Samples.status([
            "expires_at": 4_000_000_000, "issued_at": 1_700_000_000, "refresh_at": 3_900_000_000, "remembered": true,
            "store": "memory", "scopes": ["read", "write"],
        ])
        let agent = try agent(status, Self.list)
        defer { agent.stop() }
        for columns in [110, 120, 200] as [UInt16] {
            for words in ["status", "list", "whoami", "network", "status --json", "list --json"] {
                #expect(try await compare(words, agent, columns: columns, environment), "\(words) at \(columns)")
            }
        }
    }

    @Test("a bar that is almost empty is yellow")
    func lowBar() async throws {
        let now = Date().timeIntervalSince1970.rounded()
        let agent = try agent(
            Samples.status(["expires_at": .number(now + 1e9), "issued_at": .number(now - 4e9)]), Self.list)
        defer { agent.stop() }
        #expect(try await compare("status", agent, columns: 80))
    }

    @Test("at each width it is the same, or left to the full program: what fits in one is not left in a wider one")
    func widths() async throws {
        let status = Samples.status([
            "expires_at": 4_000_000_000, "issued_at": 1_700_000_000, "refresh_at": 3_900_000_000, "store": "memory",
        ])
        let agent = try agent(status, Self.list)
        defer { agent.stop() }
        for words in ["status", "list"] {
            var wereShown: [Bool] = []
            for columns in [10, 20, 40, 44, 48, 52, 55, 60, 64, 68, 72, 76, 80, 84, 88, 92, 96, 100, 104, 108]
                as [UInt16]
            {
                wereShown.append(try await compare(words, agent, columns: columns))
            }
            #expect(wereShown == wereShown.sorted { !$0 && $1 }, "\(words): \(wereShown)")
            #expect(wereShown.first == false && wereShown.last == true)
        }
    }

    @Test(
        "spaces that a terminal would not show are left to the full program",
        arguments: [" Ada", "Ada ", "Ada  Lovelace"])
    func spaces(name: String) async throws {
        let agent = try agent(Samples.status(["user": ["name": .string(name)]]), [])
        defer { agent.stop() }
        #expect(try await compare("status", agent, columns: 80) == false)
    }
}
