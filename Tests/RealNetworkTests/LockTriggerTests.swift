import Foundation
import TestSupport
import Testing

/// logind (python-dbusmock) on a private system bus.
@Suite("The lock's triggers", .serialized, .timeLimit(.minutes(2)))
struct LockTriggerTests {
    private static let passphrase = "correct horse battery\n"

    private static func play(
        _ bus: MockBus, setting: String, _ test: @escaping @Sendable (NetworkLab) async throws -> Void
    ) async throws {
        try await NetworkLab.play(
            { lab, _ in
                let set = try await lab.authc("lock", "--set-passphrase", "--passphrase-stdin", input: passphrase)
                #expect(set.status == 0, "\(set.err)")
                try lab.set("[lock]\n\(setting) = true\n")
                #expect(try await lab.authc("reload").status == 0)
                try await test(lab)
            }, with: ["DBUS_SYSTEM_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("the agent locks before sleep, and the machine sleeps when that is on disk")
    func sleep() async throws {
        let bus = try await MockBus([.logind])
        try await Self.play(bus, setting: "before_sleep") { lab in
            try await bus.waitForInhibitor(true)
            try await bus.emitSleep(true)
            try await bus.waitForInhibitor(false)
            let state = try String(contentsOfFile: lab.folder.path + "/state/authd/lock", encoding: .utf8)
            #expect(state.contains(" sleep\n"), "\(state)")
            #expect(try await lab.authc("token").status == 77)
            try await bus.emitSleep(false)
            let unlocked = try await lab.authc("unlock", "--passphrase-stdin", input: Self.passphrase)
            #expect(unlocked.status == 0, "\(unlocked.err)")
            #expect(try await lab.authc("token").status == 0)
        }
    }

    @Test("the agent locks when the last of the user's login sessions is locked; those of others do not count")
    func loginSessions() async throws {
        let bus = try await MockBus([.logind])
        for (session, user) in [("c1", geteuid()), ("c2", geteuid()), ("c3", geteuid() + 1)] {
            try await bus.addLoginSession(session, of: user)
        }
        try await Self.play(bus, setting: "with_login_sessions") { lab in
            let watch = try await lab.watch()
            try await bus.lockLoginSession("c1")
            #expect(try await lab.authc("token").status == 0)
            try await bus.lockLoginSession("c2")
            #expect(await watch.out.wait(for: "\"event\":\"locked\""))
            #expect(watch.out.text.contains("\"why\":\"login_sessions\""))
            await watch.end()
            #expect(try await lab.authc("token").status == 77)
        }
    }
}
