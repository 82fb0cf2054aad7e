import AuthWire
import Foundation
import TestSupport
import Testing

/// A notification server (python-dbusmock) on a private session bus.
@Suite("What the desktop shows", .serialized, .timeLimit(.minutes(2)))
struct NoticeTests {
    /// A refused renewal is final once the access token has expired, two seconds from now.
    private func endSession(_ lab: NetworkLab) async throws {
        try lab.setLife(seconds: 2)
        #expect(try await lab.authc("refresh").status == 0)
        try lab.setEnding(true)
    }

    private func signInAgain(_ lab: NetworkLab) async throws {
        try lab.setEnding(false)
        try lab.setLife(seconds: 3600)
        try await lab.signIn()
    }

    @Test("case 18: a short outage is not shown; an ended session is, with the command, until it is signed in again")
    func shown() async throws {
        let bus = try await MockBus([.notifications])
        try await NetworkLab.play(
            { lab, _ in
                // A short outage: the token expires while the cable is unplugged.
                try lab.setLife(seconds: 2)
                #expect(try await lab.authc("refresh").status == 0)
                let blip = try await lab.watch()
                try await lab.onGateway("ip link set far down")
                #expect(await blip.out.wait(for: #""state":"stale""#))
                // The token may have ended before the first event.
                let before = blip.out.text.ranges(of: #""state":"active""#).count
                try lab.setLife(seconds: 3600)
                try await lab.onGateway("ip link set far up")
                #expect(await blip.out.wait(for: #""state":"active""#, times: before + 1))
                await blip.end()

                let events = try await lab.watch()
                try await endSession(lab)
                #expect(await bus.asked.wait(for: "Notify "))
                let notify = try #require(bus.asked.text.split(separator: "\n").first { $0.contains(" Notify ") })
                for part in [
                    "\"authd\" 0 ", "Sign in to lab again", "authc login lab -s lab",
                    #"["default", "Sign in", "sign-in", "Sign in"]"#,
                    "org.authd.agent",
                ] {
                    #expect(notify.contains(part), "\(notify)")
                }
                #expect(await events.out.wait(for: #""topic":"notice","event":"shown""#))
                #expect(events.out.text.contains(#""command":"authc login lab -s lab""#))

                // There is no screen for a terminal here: the same notification says so, without a button.
                try await bus.choose(notification: 1)
                #expect(await events.out.wait(for: #""event":"chosen""#))
                #expect(await events.out.wait(for: #""reason":"no_terminal""#))
                #expect(await bus.asked.wait(for: " Notify ", times: 2))
                let second = try #require(bus.asked.text.split(separator: "\n").last { $0.contains(" Notify ") })
                #expect(second.contains("\"authd\" 1 ") && second.contains(" [] "), "\(second)")
                try await signInAgain(lab)
                #expect(await bus.asked.wait(for: "CloseNotification 1"))
                #expect(await events.out.wait(for: #""event":"withdrawn""#))
                #expect(bus.asked.text.split(separator: " Notify ").count == 3, "\(bus.asked.text)")
                await events.end()
            }, with: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    @Test("a closed notice stays closed, and notifications = false withdraws all of them")
    func putAway() async throws {
        let bus = try await MockBus([.notifications])
        try await NetworkLab.play(
            { lab, agent in
                let events = try await lab.watch()
                try await endSession(lab)
                #expect(await bus.asked.wait(for: "Notify "))
                try await bus.dismiss(notification: 1)
                #expect(await events.out.wait(for: #""event":"shown""#))
                try await signInAgain(lab)

                // The next one is number 2, and is withdrawn when notices are turned off.
                try await endSession(lab)
                #expect(await bus.asked.wait(for: " Notify ", times: 2))
                try lab.set("notifications = false\n")
                agent.kill(SIGHUP)
                #expect(await bus.asked.wait(for: "CloseNotification 2"))
                #expect(!bus.asked.text.contains("CloseNotification 1"), "\(bus.asked.text)")
                // Events continue.
                try await signInAgain(lab)
                try await endSession(lab)
                #expect(await events.out.wait(for: #""event":"shown""#, times: 3))
                #expect(bus.asked.text.split(separator: " Notify ").count == 3, "\(bus.asked.text)")
                await events.end()
            }, with: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        await bus.end()
    }

    /// A terminal that writes down what it was started with.
    private static func terminal(in folder: TemporaryFolder) throws -> (program: String, log: String) {
        let log = folder.path + "/terminal.log"
        let program = try folder.write(
            "#!/bin/sh\nprintf '%s %s\\n' \"$XDG_ACTIVATION_TOKEN\" \"$*\" >> '\(log)'\n", to: "terminal")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        return (program, log)
    }

    @Test("only the server's own signal about a known action opens a terminal, and a second click opens none")
    func clicks() async throws {
        let bus = try await MockBus([.notifications])
        let folder = try TemporaryFolder()
        let (terminal, log) = try Self.terminal(in: folder)
        @Sendable func text() -> String { (try? String(contentsOfFile: log, encoding: .utf8)) ?? "" }
        try await NetworkLab.play(
            { lab, _ in
                let events = try await lab.watch()
                try await endSession(lab)
                #expect(await bus.asked.wait(for: " Notify "))
                #expect(await events.out.wait(for: #""event":"shown""#))
                try await bus.pretendChoice(notification: 1)
                for (number, action) in [(1, "try-now"), (1, ""), (2, "default"), (0, "sign-in")] {
                    try await bus.choose(notification: number, action: action)
                }
                try await bus.giveActivation("not one word", notification: 1)
                try await bus.giveActivation("focus-1", notification: 1)
                for _ in 1...3 { try await bus.choose(notification: 1, action: "sign-in") }
                #expect(await events.out.wait(for: #""event":"chosen""#))
                #expect(
                    try await until {
                        _ = try await lab.authc("version"); return text().hasSuffix("\n")
                    })
                let lines = text().split(separator: "\n")
                #expect(lines.count == 1 && lines[0].hasPrefix("focus-1 -e "), "\(lines)")
                #expect(lines[0].hasSuffix(" -- login lab -s lab"), "\(lines)")
                try await signInAgain(lab)
                #expect(await bus.asked.wait(for: "CloseNotification 1"))
                // It is over.
                try await bus.choose(notification: 1)
                try await endSession(lab)
                #expect(await events.out.wait(for: #""event":"shown""#, times: 2))
                #expect(events.out.text.split(separator: #""event":"chosen""#).count == 2, "\(events.out.text)")
                #expect(text().split(separator: "\n").count == 1)
                await events.end()
            }, with: ["DBUS_SESSION_BUS_ADDRESS": bus.address, "DISPLAY": ":99", "TERMINAL": terminal])
        await bus.end()
    }

    @Test("what a server showed when it crashed is shown by the next one, and withdrawn there")
    func serverRestart() async throws {
        let bus = try await MockBus([.notifications])
        try await NetworkLab.play(
            { lab, _ in
                try await endSession(lab)
                #expect(await bus.asked.wait(for: " Notify "))
                try await bus.replaceNotifications()
                #expect(await bus.asked.wait(for: " Notify "))
                #expect(bus.asked.text.contains("\"authd\" 0 "), "\(bus.asked.text)")
                try await signInAgain(lab)
                #expect(await bus.asked.wait(for: "CloseNotification 1"))
            }, with: ["DBUS_SESSION_BUS_ADDRESS": bus.address])
        await bus.end()
    }
}
