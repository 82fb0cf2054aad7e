import AuthWire
import Foundation
import TestSupport
import Testing

/// polkit (python-dbusmock) on a private system bus.
@Suite("Presence, checked by polkit", .serialized, .timeLimit(.minutes(2)))
struct PresenceSceneTests {
    private static func play(
        _ services: [MockBus.Service] = [.polkit], settings: String = "[sessions.lab]\npresence = true\n",
        _ test: @escaping @Sendable (NetworkLab, MockBus) async throws -> Void
    ) async throws {
        let bus = try await MockBus(services)
        try await NetworkLab.play(
            { lab, _ in
                try lab.set(settings)
                #expect(try await lab.authc("reload").status == 0)
                try await test(lab, bus)
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("the token is released after a check about the process of authc; a refusal is not the error of no token")
    func release() async throws {
        try await Self.play { lab, bus in
            let refused = try await lab.authc("token")
            #expect(refused.status == 77 && refused.out.isEmpty && refused.err.contains("was refused"), "\(refused)")
            try await bus.allow("org.authd.export", "org.authd.trust", "org.authd.unlock")
            #expect(try await lab.authc("token").status == 77)
            try await bus.allow("org.authd.release")
            let program = try await lab.start(["token"])
            let released = await program.output()
            #expect(released.status == 0 && !released.out.isEmpty, "\(released)")
            _ = try await bus.checks()
            let last = bus.asked.text.split(separator: "\n").last { $0.contains("CheckAuthorization") } ?? ""
            #expect(last.contains("'unix-process'") && last.contains("'pid'): dbus.UInt32(\(program.pid)"), "\(last)")
            #expect(last.contains("'uid'): dbus.Int32(\(geteuid())") && last.contains("\"org.authd.release\""))
            // A call of the API uses the token. What returns none needs no check.
            let asked = try await bus.checks()
            #expect(try await lab.authc("whoami", "--fresh").status == 0)
            #expect(try await bus.checks() == asked + 1)
            #expect(try await lab.authc("status").status == 0)
            #expect(try await lab.authc("refresh").status == 0)
            #expect(try await lab.authc("logout").status == 0)
            let missing = try await lab.authc("token", "-s", "lab")
            #expect([3, 64].contains(missing.status) && !missing.err.contains("you are there"), "\(missing)")
            #expect(try await bus.checks() == asked + 1)
        }
    }

    @Test("without an agent of polkit, and without polkit, the error says so")
    func absence() async throws {
        try await Self.play { lab, bus in
            try await bus.removeAgents()
            for _ in 1...4 {
                let answer = try await lab.authc("token")
                #expect(answer.status == 77 && answer.err.contains("no authentication agent"), "\(answer)")
            }
        }
        try await Self.play([]) { lab, _ in
            let answer = try await lab.authc("token")
            #expect(answer.status == 77 && answer.err.contains("polkit could not be asked"), "\(answer)")
        }
    }

    @Test("three refusals pause checks, so that polkit is not asked")
    func pause() async throws {
        try await Self.play { lab, bus in
            for _ in 1...3 { #expect(try await lab.authc("token").status == 77) }
            try await bus.allow("org.authd.release")
            let paused = try await lab.authc("token")
            #expect(paused.status == 77 && paused.err.contains("none is made for a few minutes"), "\(paused)")
            #expect(try await bus.checks() == 3)
        }
    }

    @Test("the dialog disappears when the program that waits for it ends, and other requests are served meanwhile")
    func withdrawn() async throws {
        try await Self.play { lab, bus in
            try await bus.leaveChecksOpen()
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "\"authd-1\""))
            #expect(try await lab.authc("status").status == 0)
            await waiting.end(SIGKILL)
            #expect(await bus.asked.wait(for: "CancelCheckAuthorization \"authd-1\""))
        }
    }

    @Test("an answer is remembered for the process that asked, as long as the settings say, and dropped at the lock")
    func remembered() async throws {
        let settings = "[presence]\nremember_minutes = 5\n[sessions.lab]\npresence = true\n"
        try await Self.play(settings: settings) { lab, bus in
            try await bus.allow("org.authd.release")
            let passphrase = "correct horse battery\n"
            #expect(
                try await lab.authc("lock", "--set-passphrase", "--passphrase-stdin", input: passphrase).status == 0)
            let client = try RawClient(lab.socket)
            for _ in 1...3 { #expect(try client.ask("token.get")["result"] != nil) }
            #expect(try await bus.checks() == 1)
            #expect(try await lab.authc("token").status == 0)
            #expect(try await bus.checks() == 2)
            #expect(try await lab.authc("lock").status == 0)
            #expect(try client.ask("token.get").errorKind == "agent_locked")
            #expect(try await lab.authc("unlock", "--passphrase-stdin", input: passphrase).status == 0)
            #expect(try client.ask("token.get")["result"] != nil)
            #expect(try await bus.checks() == 3)
        }
    }

    @Test("the lock is opened with a check of presence if the settings say so")
    func unlock() async throws {
        try await Self.play(settings: "[lock]\npresence = true\n") { lab, bus in
            let passphrase = "correct horse battery\n"
            #expect(
                try await lab.authc("lock", "--set-passphrase", "--passphrase-stdin", input: passphrase).status == 0)
            #expect(try await lab.authc("lock").status == 0)
            let refused = try await lab.authc("unlock", "--presence")
            #expect(refused.status == 77 && refused.err.contains("was refused"), "\(refused)")
            #expect(try await lab.authc("token").status == 77)
            try await bus.allow("org.authd.unlock")
            #expect(try await lab.authc("unlock", "--presence").status == 0)
            #expect(try await lab.authc("token").status == 0)
        }
    }
}
