import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A sign-in of 20 days ago: the first agent's clock was wrong by that much. What is on the screen: NoticeButtonTests.
@Suite("The end of a refresh token", .serialized, .timeLimit(.minutes(2)))
struct SessionEndTests {
    private static let day = 86_400

    @Test("7 days before it, the user is notified, and the status says so; a new sign-in withdraws that")
    func fixed() async throws {
        let clock = try await WrongClock()
        try clock.set(seconds: -20 * Self.day)
        try await OAuthScene.play { scene, server in
            server.setRefreshLifetime(.seconds(25 * Self.day))
            server.misbehave(.noIDToken)
            try await scene.restart(with: clock.environment)
            #expect(try await scene.loginByDevice(server).status == 0)
            // For authc, whose clock is right, the end is 5 days away.
            #expect(try await scene.agent.authc("status").out.contains("the session ends"))

            // The end stays where it is.
            server.setRefreshLifetime(.seconds(5 * Self.day))
            try await scene.restart()
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            #expect(try await scene.agent.authc("refresh").status == 0)
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.isEndFixed && status.state == .active)
            let shown = try await scene.agent.authc("status").out
            #expect(shown.contains("the session ends"), "\(shown)")
            // Before and after the renewal it is the same notice.
            let events = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await events.out.wait(for: "snapshot"))
            #expect(try await scene.agent.authc("refresh").status == 0)
            server.setRefreshLifetime(.seconds(25 * Self.day))
            #expect(try await scene.loginByDevice(server).status == 0)
            #expect(await events.out.wait(for: #""reason":"ends_within_week""#))
            #expect(events.out.text.contains(#""event":"withdrawn""#), "\(events.out.text)")
            #expect(!events.out.text.contains(#""event":"shown""#), "\(events.out.text)")
            for child in [watch, events] { await child.end() }
        }
    }

    @Test("an end that moves with each renewal is not reported")
    func moving() async throws {
        let clock = try await WrongClock()
        try await OAuthScene.play { scene, server in
            server.setRefreshLifetime(.seconds(5 * Self.day))
            server.misbehave(.noIDToken)
            try await scene.restart(with: clock.environment)
            #expect(try await scene.loginByDevice(server).status == 0)
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            for hours in 1...2 {
                try clock.set(seconds: hours * 3600)
                #expect(try await scene.agent.authc("refresh").status == 0)
            }
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(!status.isEndFixed && status.endsAt != nil)
            #expect(!(try await scene.agent.authc("status").out.contains("the session ends")))
            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(await watch.out.wait(for: #""event":"signed_out""#))
            #expect(!watch.out.text.contains(#""topic":"notice""#), "\(watch.out.text)")
            await watch.end()
        }
    }
}
