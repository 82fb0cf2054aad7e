import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("A provider in trouble", .serialized, .timeLimit(.minutes(2)))
struct RetryStormTests {
    @Test("case 5: a failing provider is retried with longer pauses, and a restart of the agent does not retry at once")
    func storedAcrossRestart() async throws {
        try await Scene.play(tokenSeconds: 6) { scene in
            _ = try await scene.login(.appTemplate)
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/refresh", .status(503, retryAfter: "3600")))
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            #expect(await watch.out.wait(for: #""state":"stale""#))
            await watch.end()
            #expect(scene.backends.counts[.appTemplate, "POST /auth/refresh"] == 1)

            try await scene.agent.child.end(SIGKILL)
            try await scene.startAgent()
            for _ in 1...20 {
                let output = try await scene.agent.authc("token", "--json")
                #expect(output.status == 75)
                let error = try #require(try JSON(parsing: Array(output.out.utf8))["error"])
                let wait = try #require(error["retry_after_ms"]?.integerValue)
                #expect((3_500_000...3_600_000).contains(wait), "\(output.out)")
            }
            #expect(scene.backends.counts[.appTemplate, "POST /auth/refresh"] == 1)
        }
    }
}
