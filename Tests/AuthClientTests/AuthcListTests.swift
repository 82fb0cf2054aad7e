import AuthWire
import Foundation
import Synchronization
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

    @Test("logout --all leaves a session alone that was signed in to again during the question")
    func changedSession() async throws {
        let lists = Mutex(0)
        let agent = try TestAgent { peer, request in
            guard request.method == "session.list" else {
                return peer.reply(request, Samples.status(["state": "signed_out"]))
            }
            let isSecond = lists.withLock { count in
                count += 1
                return count > 1
            }
            let other: JSON = isSecond ? ["email": "eve@example.org"] : ["email": "ada@example.org"]
            peer.reply(
                request,
                [
                    "sessions": [
                        Samples.status(["session": "again", "signed_in_at": isSecond ? 2 : 1]),
                        Samples.status(["session": "other", "user": other]), Samples.status(),
                    ]
                ])
        }
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc logout --all; echo \"exit $?\"", folder: agent.folder, environment: ["NO_COLOR": "1"])
        await terminal.waits(for: "[y/N] ")
        terminal.type("y\n")
        await terminal.waits(for: "exit ")
        #expect(terminal.text.contains("exit 65"), "\(terminal.text)")
        for name in ["again", "other"] {
            #expect(terminal.text.contains("authc: \(name): its sign-in or user changed"), "\(terminal.text)")
        }
        await terminal.ends()
        #expect(Self.signOuts(agent) == ["shop"])
    }

    private static func signOuts(_ agent: TestAgent) -> [String] {
        agent.requests.filter { $0.method == "session.logout" }.compactMap { $0.params?["session"]?.stringValue }
    }

    /// How an agent answers a sign-out.
    private enum Ending: Sendable {
        case signedOut
        case refused(AgentError)
        case silent
        case closed

        static let unknown = refused(AgentError(.unknownSession, "There is no such session."))
    }

    private static func agent(_ endings: [(status: JSON, ending: Ending)]) throws -> TestAgent {
        try TestAgent { peer, request in
            switch request.method {
            case "session.list": peer.reply(request, ["sessions": .array(endings.map(\.status))])
            case "session.logout":
                let name = request.params?["session"]
                switch endings.first(where: { $0.status["session"] == name })?.ending {
                case .signedOut:
                    peer.reply(request, Samples.status(["session": name ?? .null, "state": "signed_out"]))
                case .refused(let error): peer.fail(request, error)
                case .closed: peer.end()
                case .silent, nil: break
                }
            default: peer.reply(request, [:])
            }
        }
    }

    private static func status(_ name: String, _ changes: [String: JSON] = [:]) -> JSON {
        Samples.status(changes.merging(["session": .string(name)]) { $1 })
    }

    /// The names of the sessions that were signed out of, and those of the errors with their kinds.
    private static func results(_ output: String) throws -> (sessions: [String], errors: [String]) {
        let json = try JSON(parsing: Array(output.utf8))
        let sessions = (json["sessions"]?.arrayValue ?? []).map { $0["session"]?.stringValue ?? "" }
        let errors = (json["errors"]?.arrayValue ?? []).map { error -> String in
            let name = error["session"]?.stringValue ?? ""
            let kind = error["error"]?["kind"]?.stringValue ?? ""
            return "\(name) \(kind)"
        }
        return (sessions, errors)
    }

    @Test("logout --all reports every session that it did not sign out of, with the status of the first")
    func failedSignOuts() async throws {
        let agent = try Self.agent([
            (Self.status("a-late"), .refused(AgentError(.timeout, "The disk is slow."))),
            (Self.status("b-owner"), .signedOut),
            (Self.status("c-shared", ["shared_session": "b-owner"]), .unknown),
            (Self.status("d-shared", ["shared_session": "a-late"]), .unknown),
            (Self.status("e-begun", ["state": "signing_in"]), .unknown),
            (Self.status("f-locked", ["state": "keyring_locked"]), .unknown),
            (Self.status("g-last"), .signedOut),
        ])
        defer { agent.stop() }
        let text = try await Program.run(["logout", "--all", "--yes"], folder: agent.folder)
        #expect(text.status == 75, "\(text.errors)")
        let lines = text.errors.split(separator: "\n").map(String.init)
        for line in [
            "authc: a-late: The disk is slow.", "Signed out: b-owner at app-template.",
            "authc: d-shared: There is no such session.", "authc: e-begun: a sign-in is in progress",
            "authc: f-locked: There is no such session.", "Signed out: g-last at app-template.",
        ] {
            #expect(lines.contains(line), "\(text.errors)")
        }
        #expect(!text.errors.contains("c-shared"), "\(text.errors)")

        let result = try await Program.run(["logout", "--all", "--yes", "--json"], folder: agent.folder)
        #expect(result.status == 75)
        let (sessions, errors) = try Self.results(result.output)
        #expect(sessions == ["b-owner", "g-last"])
        #expect(
            errors == [
                "a-late timeout", "d-shared unknown_session", "e-begun unknown_session", "f-locked unknown_session",
            ])
    }

    @Test("logout --all signs out of the default session last, so that no other one has to be chosen")
    func defaultLast() async throws {
        let other = ["default": false] as [String: JSON]
        let agent = try Self.agent([
            (Self.status("a-default"), .signedOut), (Self.status("b", other), .signedOut),
            (Self.status("c", other), .signedOut),
        ])
        defer { agent.stop() }
        #expect(try await Program.run(["logout", "--all", "--yes"], folder: agent.folder).status == 0)
        #expect(Self.signOuts(agent) == ["b", "c", "a-default"])
    }

    @Test("logout --all goes on after a sign-out without an answer, and prints its result when the agent has ended")
    func lostAgent() async throws {
        let agent = try Self.agent([
            (Self.status("a-silent"), .silent), (Self.status("b-done"), .signedOut),
            (Self.status("c-closed"), .closed), (Self.status("d-never"), .signedOut),
        ])
        defer { agent.stop() }
        let result = try await Program.run(
            ["logout", "--all", "--yes", "--json", "--timeout", "2s"], folder: agent.folder)
        #expect(result.status == 75, "\(result.errors)")
        let (sessions, errors) = try Self.results(result.output)
        #expect(sessions == ["b-done"], "\(result.output)")
        #expect(errors == ["a-silent timeout", "c-closed closed"], "\(result.output)")
        #expect(Self.signOuts(agent) == ["a-silent", "b-done", "c-closed"])
    }

    @Test("logout --all of one session without a terminal says: 1 session")
    func oneSession() async throws {
        let agent = try Self.agent([(Self.status("shop"), .signedOut)])
        defer { agent.stop() }
        let result = try await Program.run(["logout", "--all"], folder: agent.folder)
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("authc: --all signs out of 1 session, and"), "\(result.errors)")
    }
}
