import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Tables and questions of authc on a terminal", .timeLimit(.minutes(2)))
struct AuthcListTests {
    private static let sessions: [JSON] = {
        let names = [
            "shop", "work", "a-rather-long-session-name-for-the-staging-system",
            "a-rather-long-session-name-for-the-production-system", "x", "team.backend.eu-west-1.production",
        ]
        let states = ["active", "stale", "sign_in_required", "active", "keyring_locked", "active"]
        return zip(names, states).map { name, state in
            [
                "session": .string(name), "provider": "fork-in-the-road", "environment": "staging",
                "state": .string(state), "cause": "origin_changed",
                "user": ["email": "ada.lovelace@analytical-engines.example.org"], "needs_password": false,
                "expires_at": .number(Date().timeIntervalSince1970 + 8_641_800), "default": .bool(name == "shop"),
            ]
        }
    }()

    @Test(
        "list has a header and one line for each session, and no line is wider than the screen",
        arguments: [
            (120, [:]), (80, [:]), (80, ["LC_ALL": "C"]), (40, ["NO_COLOR": "1"]),
            (40, ["LC_ALL": "C", "NO_COLOR": "1"]), (21, [:]),
        ] as [(UInt16, [String: String])])
    func fits(columns: UInt16, environment: [String: String]) async throws {
        let agent = try TestAgent(replies: ["session.list": .success(["sessions": .array(Self.sessions)])])
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc list; echo end", folder: agent.folder, columns: columns, environment: environment)
        await terminal.waits(for: "end\r\n")
        await terminal.ends()
        let plain = terminal.text.replacing(/\u{1B}\[\d*m/, with: "")
        #expect((plain == terminal.text) == (environment["NO_COLOR"] != nil))
        let lines = plain.split(whereSeparator: \.isNewline).dropLast()
        #expect(lines.count == 7, "\(plain)")
        #expect(lines.allSatisfy { $0.count <= columns }, "\(plain)")
        #expect(lines.first?.hasPrefix("  SESSION") == true && lines.first?.contains("STATE") == true, "\(plain)")
        #expect(lines.dropFirst().first?.hasPrefix("* shop ") == true, "\(plain)")
        if environment["LC_ALL"] == "C" { #expect(plain.utf8.allSatisfy { $0 < 0x80 }, "\(plain)") }
        // Two long names that differ at their end only can be told apart.
        if columns >= 40 { #expect(Set(lines).count == 7, "\(plain)") }
    }

    @Test("list at 80 and 40 columns")
    func layout() async throws {
        let sessions = Self.sessions.prefix(3).map { $0 }
        let agent = try TestAgent(replies: ["session.list": .success(["sessions": .array(sessions)])])
        defer { agent.stop() }
        for (columns, expected) in [(80, Self.at80), (40, Self.at40)] as [(UInt16, String)] {
            let terminal = try await Terminal(
                "authc list; echo end", folder: agent.folder, columns: columns, environment: ["NO_COLOR": "1"])
            await terminal.waits(for: "end\r\n")
            await terminal.ends()
            #expect(terminal.text.replacing("\r\n", with: "\n") == expected + "\nend\n")
        }
    }

    private static let at80 = """
          SESSION                  STATE             LEFT   PROVIDER      ACCOUNT
        * shop                     active            100 d  fork-in-the…  ada.lovelace@…
          work                     stale                    fork-in-the…  ada.lovelace@…
          a-rather-l…aging-system  sign in required         fork-in-the…  ada.lovelace@…
        """
    private static let at40 = """
          SESSION        STATE             LEFT
        * shop           active            100 d
          work           stale
          a-rat…-system  sign in required
        """

    @Test("logout --all names the sessions and asks; only a yes signs out", arguments: [80, 40] as [UInt16])
    func logoutOfAll(columns: UInt16) async throws {
        let agent = try TestAgent(replies: [
            "session.list": .success(["sessions": .array(Self.sessions)]),
            "session.logout": .success(Samples.status(["state": "signed_out"])),
        ])
        defer { agent.stop() }
        for (answer, status, count) in [("n", 77, 0), ("\u{4}", 77, 0), ("y", 0, 6)] {
            let terminal = try await Terminal(
                "authc logout --all; echo \"exit $?\"", folder: agent.folder, columns: columns,
                environment: ["NO_COLOR": "1"])
            await terminal.waits(for: "Sign out of these 6 sessions? [y/N] ")
            let lines = terminal.text.split(whereSeparator: \.isNewline)
            #expect(lines.count == 7 && lines.allSatisfy { $0.count <= columns }, "\(terminal.text)")
            #expect(terminal.text.contains("  shop  fork-in-the-road"))
            terminal.type(answer == "\u{4}" ? answer : answer + "\n")
            await terminal.waits(for: "exit ")
            #expect(terminal.text.contains("exit \(status)"), "\(terminal.text)")
            await terminal.ends()
            #expect(agent.requests.count { $0.method == "session.logout" } == count)
        }
    }
}
