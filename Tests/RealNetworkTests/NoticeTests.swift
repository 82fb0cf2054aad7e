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
                try lab.setLife(seconds: 3600)
                try await lab.onGateway("ip link set far up")
                #expect(await blip.out.wait(for: #""state":"active""#, times: 2))
                await blip.end()

                let events = try await lab.watch()
                try await endSession(lab)
                #expect(await bus.asked.wait(for: "Notify "))
                let notify = try #require(bus.asked.text.split(separator: "\n").first { $0.contains(" Notify ") })
                for part in [
                    "\"authd\" 0 ", "Sign in to lab again", "authc login lab -s lab", #"["default", "Sign in"]"#,
                ] {
                    #expect(notify.contains(part), "\(notify)")
                }
                #expect(await events.out.wait(for: #""topic":"notice","event":"shown""#))
                #expect(events.out.text.contains(#""command":"authc login lab -s lab""#))

                // The agent reports the user's choice to other programs: it never asks for a password itself.
                try await bus.choose(notification: 1)
                #expect(await events.out.wait(for: #""event":"chosen""#))
                try await signInAgain(lab)
                #expect(await bus.asked.wait(for: "CloseNotification 1"))
                #expect(await events.out.wait(for: #""event":"withdrawn""#))
                #expect(bus.asked.text.split(separator: " Notify ").count == 2, "\(bus.asked.text)")
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
}
