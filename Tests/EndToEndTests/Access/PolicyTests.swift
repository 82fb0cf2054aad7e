import AuthWire
import Foundation
import Glibc
import StandInBackends
import TestSupport
import Testing

/// Access rules with `authc`, a real agent and real sessions.
@Suite("Access rules with authc", .timeLimit(.minutes(2)))
struct PolicyTests {
    /// In a unit of no machine.
    private static let noTokens = """

        [[rule]]
        name = "no-tokens"
        effect = "deny"
        reason = "Tokens are for the office."
        class = "token"
        method = "token.get"

        """

    @Test(
        "rules are in use only after the user has seen and accepted them on a terminal; then at once, and after a restart"
    )
    func apply() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy("enforce = true" + Self.noTokens)
            // Neither a reload, a signal nor a restart applies them.
            #expect(try await scene.authc(["reload"]).status == 0)
            kill(try scene.agent.child.pid, SIGHUP)
            try await scene.restart()
            #expect(try await scene.authc(["token"]).status == 0)
            let doctor = try await scene.authc(["doctor"])
            #expect(doctor.out.contains("`authc policy apply`"), "\(doctor)")
            let blind = try await scene.authc(["policy", "apply"])
            #expect(blind.status == 64 && blind.err.contains("terminal"), "\(blind)")

            let refused = try await scene.applyPolicy(answer: "n")
            #expect(refused.contains("+ enforce = true") && refused.contains("+ name = \"no-tokens\""), "\(refused)")
            #expect(refused.contains("nothing was changed"))
            #expect(try await scene.authc(["token"]).status == 0)

            #expect(try await scene.applyPolicy(answer: "y").contains("The rules are in use."))
            for round in 1...2 {
                let denied = try await scene.authc(["token"])
                #expect(denied.status == 77 && denied.out.isEmpty, "\(denied)")
                #expect(denied.err.contains("user.no-tokens") && denied.err.contains("for the office"), "\(denied.err)")
                // A changed file does not widen anything.
                try scene.writePolicy("")
                if round == 1 { try await scene.restart() }
            }
        }
    }

    @Test("without enforcement everything works, and `authc log` shows what a rule would have denied")
    func recorded() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy(Self.noTokens)
            _ = try await scene.applyPolicy(answer: "y")
            #expect(try await scene.authc(["token"]).status == 0)
            let log = try await scene.authc(["log"])
            let line = log.out.split(separator: "\n").last { $0.contains("token.get") } ?? ""
            #expect(line.contains("ok (would be denied)") && line.contains("rule user.no-tokens"), "\(log.out)")
            let entry = try AuditList(try await scene.agent.json("log")).entries.last { $0.method == "token.get" }
            #expect(entry?.enforced == false && entry?.rule == "user.no-tokens" && entry?.error == nil)
        }
    }

    @Test("the user's rules only narrow: an allowance of theirs does not give a script what a default denies")
    func narrowing() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy("enforce = true\n[[rule]]\nname = \"all\"\neffect = \"allow\"\n")
            let shown = try await scene.applyPolicy(answer: "y")
            #expect(shown.contains("The rules are in use."), "\(shown)")
            // In a session without a terminal.
            let reload = try await scene.desktop.run(["setsid", "-w", Programs.authc, "reload"])
            #expect(reload.status == 77 && reload.out.isEmpty, "\(reload)")
            #expect(reload.err.contains("default.no-login-terminal"), "\(reload.err)")
            let logout = try await scene.desktop.run(["setsid", "-w", Programs.authc, "logout", "--no-input"])
            #expect(logout.status == 77 && logout.err.contains("default.no-terminal"), "\(logout)")
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(try await scene.authc(["call", "users", "limit=1"]).status == 0)
        }
    }

    @Test("`authc policy test` reports the rule that decides, why, and which ones did not match")
    func test() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy(
                """
                [[rule]]
                name = "backup"
                effect = "deny"
                unit = "backup.service"
                class = ["token", "act"]
                [[rule]]
                name = "curl-only"
                effect = "allow"
                executable = "/usr/bin/curl"
                endpoint = "users"
                [[rule]]
                name = "paths"
                effect = "deny"
                method = "api.request"
                """)
            _ = try await scene.applyPolicy(answer: "y")
            let backup = try await scene.authc(["policy", "test", "--as-unit", "backup.service", "token.get"])
            #expect(backup.status == 77 && backup.out.hasPrefix("would be denied by user.backup"), "\(backup)")
            let other = try await scene.authc(["policy", "test", "--as-unit", "other.service", "token.get"])
            #expect(other.status == 0 && other.out.hasPrefix("allowed by default.token"), "\(other)")
            #expect(other.out.contains("user.backup: does not match (unit)"), "\(other.out)")
            let unknown = try await scene.authc([
                "policy", "test", "--as-unit", "x.service", "api.call", "--endpoint", "users",
            ])
            #expect(unknown.status == 77 && unknown.out.contains("executable is not known"), "\(unknown)")
            let next = ["policy", "test", "api.call", "--endpoint", "posts", "--next"]
            let page = try await scene.authc(next)
            #expect(page.status == 77 && page.out.hasPrefix("would be denied by user.paths\n"), "\(page)")
            let chain = page.out.split(separator: "\n").filter { $0.hasSuffix(": matches") }
            #expect(
                chain == [
                    "  default.act: matches", "  default.act, for api.request: matches",
                    "  user.paths, for api.request: matches",
                ], "\(page)")
            #expect(try await scene.authc(next.dropLast()).status == 0)
            let extra = try await scene.authc(["policy", "test", "--as-listener", "extra", "session.list"])
            #expect(extra.status == 77 && extra.out.hasPrefix("denied by listener.extra: [listener.extra]"), "\(extra)")
            let own = try await scene.authc(["policy", "test", "session.list", "--json"])
            #expect(own.status == 0 && own.out.contains("\"default.status\""), "\(own)")
            let wrong = try await scene.authc(["policy", "test", "token.gte"])
            #expect(wrong.status == 64 && wrong.err.contains("token.get"), "\(wrong)")
            let show = try await scene.authc(["policy", "show"])
            #expect(show.out.contains("user.backup  deny  unit=backup.service  class=token,act"), "\(show.out)")
            #expect(show.err.contains("allowed and recorded"), "\(show.err)")
        }
    }

    @Test("`authc policy replay` lists the recorded requests that other rules would treat differently")
    func replay() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(try await scene.authc(["call", "users", "limit=1"]).status == 0)
            let none = try await scene.authc(["policy", "replay"])
            #expect(none.status == 0 && none.out.isEmpty && none.err.contains("None of"), "\(none)")
            try scene.writePolicy(Self.noTokens)
            let replayed = try await scene.authc(["policy", "replay"])
            let lines = replayed.out.split(separator: "\n")
            #expect(lines.count == 1, "\(replayed)")
            #expect(replayed.out.contains("allowed (default.token) -> would be denied (user.no-tokens)"), "\(replayed)")
            let file = try scene.desktop.folder.write("enforce = true\n" + Self.noTokens, to: "new.toml")
            let enforced = try await scene.authc(["policy", "replay", file])
            #expect(enforced.out.contains("-> denied (user.no-tokens)"), "\(enforced)")
            // Nothing of it is in use.
            #expect(try await scene.authc(["token"]).status == 0)
            let broken = try scene.desktop.folder.write("[[rule]]\n", to: "broken.toml")
            let wrong = try await scene.authc(["policy", "replay", broken])
            #expect(wrong.status == 65 && wrong.err.contains("rule[0].name"), "\(wrong)")
        }
    }

    @Test(
        "a broken file is not applied; a broken copy of applied rules is reported, and keeps account and admin closed")
    func broken() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try scene.writePolicy("[[rule]]\nname = \"a\"\n")
            let refused = try await scene.authc(["policy", "apply"])
            #expect(refused.status == 65 && refused.err.contains("rule[0].effect"), "\(refused)")
            try await scene.agent.child.end()
            _ = try scene.desktop.folder.write("enforce = maybe", to: "state/authd/policy.toml")
            try await scene.startAgent()
            #expect(try scene.agent.child.err.text.contains("policy.toml"))
            #expect(try await scene.authc(["token"]).status == 0)
            let closed = try await scene.authc(["logout", "--no-input"])
            #expect(closed.status == 77 && closed.err.contains("user.broken-file"), "\(closed)")
            let show = try await scene.authc(["policy", "show"])
            #expect(show.err.contains("What user.broken-file denies is refused."), "\(show.err)")
            // Applying others repairs it, even if the user's file is empty.
            try scene.writePolicy("")
            #expect(try await scene.applyPolicy(answer: "y").contains("The rules are in use."))
            #expect(try await scene.authc(["logout", "--no-input"]).status == 0)
        }
    }

    @Test("what the user has accepted is applied, or nothing: a file that has changed meanwhile is a conflict")
    func conflict() async throws {
        try await Scene.play { scene in
            try scene.writePolicy(Self.noTokens)
            try await onThread { [path = scene.desktop.folder.path] in
                let client = try RawClient(path + "/run/authd/socket")
                let found = try client.ask("policy.apply")["result"]
                #expect(found?["text"]?.stringValue == Self.noTokens && found?["applied"] == false)
                let other = try client.ask("policy.apply", ["accepted": "enforce = true"])
                #expect(other.errorKind == "conflict", "\(other.text())")
                let done = try client.ask("policy.apply", ["accepted": .string(Self.noTokens)])
                #expect(done["result"]?["applied"] == true, "\(done.text())")
                #expect(mode(of: path + "/state/authd/policy.toml") == 0o600)
            }
        }
    }
}

extension Scene {
    /// The user's file of access rules.
    func writePolicy(_ text: String) throws { _ = try desktop.folder.write(text, to: "config/authd/policy.toml") }

    /// Runs `authc policy apply` on a terminal.
    /// - Returns: what it showed.
    func applyPolicy(answer: String) async throws -> String {
        let terminal = try await Terminal("authc policy apply", columns: 200, environment: desktop.environment)
        await terminal.waits(for: "[y/N]")
        terminal.type(answer + "\n")
        await terminal.ends()
        await terminal.waits(for: answer == "y" ? "The rules are in use." : "nothing was changed")
        return terminal.text
    }
}
