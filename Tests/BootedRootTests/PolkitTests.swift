import Foundation
import TestSupport
import Testing

/// polkitd, its helper and PAM as a distribution has them.
@Suite("Presence, checked by a real polkitd", .timeLimit(.minutes(5)))
struct PolkitTests {
    private static let password = "Polkit-password7"

    private static func prepare(_ machine: BootedMachine) async throws {
        let actions = try SourceTree.text("Sources/Packaging/polkit/org.authd.policy")
        for (command, input) in [
            ("cat >/usr/share/polkit-1/actions/org.authd.policy", actions), ("chpasswd", "ada:\(password)\n"),
        ] {
            let done = try await machine.start(["sh", "-c", command], input: input).output()
            #expect(done.status == 0, "\(command): \(done.err)")
        }
        let marked = try await machine.asPerson(
            ["sh", "-c", "cat >>$HOME/.config/authd/authd.toml"], input: "[sessions.app-template]\npresence = true\n")
        #expect(marked.status == 0, "\(marked.err)")
        try await machine.signIn()
    }

    @Test("on a terminal pkttyagent asks for the user's password, each time; without one nobody can be asked")
    func terminal() async throws {
        try await BootedMachine.play { machine in
            try await Self.prepare(machine)
            let listed = try await machine.asRoot("pkaction", "--verbose")
            for action in ["release", "export", "unlock", "trust"] {
                let text = try #require(
                    listed.out.components(separatedBy: "\n\n").first { $0.contains("org.authd.\(action):") },
                    "\(listed)")
                #expect(text.matches(of: /implicit (any|inactive|active): +auth_self\n/).count >= 2, "\(text)")
                #expect(!text.contains("keep"))
            }
            let absent = try await machine.authc("token")
            #expect(absent.status == 77 && absent.err.contains("no authentication agent"), "\(absent)")

            for _ in 1...2 {
                let terminal = try await machine.terminal("token")
                await terminal.waits(for: "Password: ")
                #expect(terminal.text.contains("org.authd.release"), "\(terminal.text)")
                #expect(terminal.text.contains("Confirm that you are there."), "\(terminal.text)")
                while terminal.echoes {}
                terminal.type(Self.password + "\n")
                await terminal.waits(for: "status ")
                #expect(terminal.text.contains("status 0"), "\(terminal.text)")
            }
            let wrong = try await machine.terminal("token")
            await wrong.waits(for: "Password: ")
            while wrong.echoes {}
            wrong.type("not-the-password\n")
            await wrong.waits(for: "status ")
            #expect(wrong.text.contains("was refused") && wrong.text.contains("status 77"), "\(wrong.text)")
            // It ends with authc.
            #expect(try await machine.asRoot("pgrep", "-x", "pkttyagent").status == 1)
            // Other sessions' requests, and what returns no token, need none of this.
            #expect(try await machine.authc("status").status == 0)
        }
    }

    @Test("an unknown action is not a refusal")
    func unknownAction() async throws {
        try await BootedMachine.play { machine in
            try await Self.prepare(machine)
            let removed = try await machine.asRoot("rm", "/usr/share/polkit-1/actions/org.authd.policy")
            #expect(removed.status == 0)
            let answer = try await machine.authc("token")
            #expect(answer.status == 77 && answer.err.contains("polkit could not be asked"), "\(answer)")
            #expect(answer.err.contains("org.authd.release"), "\(answer)")
        }
    }
}
