import Foundation
import TestSupport
import Testing

/// A notification server (python-dbusmock) on a private session bus.
@Suite("Consent, asked on the desktop", .serialized, .timeLimit(.minutes(2)))
struct ConsentSceneTests {
    private static let rules = """
        enforce = true
        [[rule]]
        name = "asked"
        effect = "ask"
        class = "token"
        """

    private static func play(
        _ test: @escaping @Sendable (NetworkLab, MockBus) async throws -> Void
    ) async throws {
        let bus = try await MockBus([.notifications])
        try await NetworkLab.play(
            { lab, _ in
                try await lab.applyRules(rules)
                try await test(lab, bus)
            }, with: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("the buttons answer, a click beside them does not, and closing refuses")
    func answers() async throws {
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            #expect(await bus.asked.wait(for: "\"refuse\""))
            let text = bus.asked.text
            #expect(text.contains(Programs.authc) && text.contains("(process \(waiting.pid))"), "\(text)")
            #expect(text.contains("Request: token.get for the session lab") && text.contains("Unit: "), "\(text)")
            #expect(text.contains("\"once\"") && text.contains("\"hour\"") && !text.contains("\"default\""), "\(text)")
            try await bus.choose(notification: 1, action: "default")
            try await bus.pretendChoice(notification: 1)
            #expect(try await lab.authc("status").status == 0)
            try await bus.choose(notification: 1, action: "hour")
            #expect(await waiting.output().status == 0)
            // Remembered for the program.
            #expect(try await lab.authc("token").status == 0)
            #expect(bus.asked.text.matches(of: /Notify "authd"/).count == 1)
        }
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            try await bus.dismiss(notification: 1)
            let refused = await waiting.output()
            #expect(refused.status == 77 && refused.err.contains("and refused"), "\(refused)")
            let paused = try await lab.authc("token")
            #expect(paused.status == 77 && paused.err.contains("not asked about it again"), "\(paused)")
            #expect(bus.asked.text.matches(of: /Notify "authd"/).count == 1)
        }
    }

    @Test("an answer of another server than the one that shows the question does not count")
    func servers() async throws {
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            try await bus.replaceNotifications()
            try await bus.choose(notification: 1, action: "once")
            // The question is still open, for the terminal; the program leaves.
            #expect(try await lab.authc("status").status == 0)
            await waiting.end(SIGTERM)
            #expect(await waiting.output().out.isEmpty)
            #expect(try await lab.authc("token").status == 77)
        }
    }
}
