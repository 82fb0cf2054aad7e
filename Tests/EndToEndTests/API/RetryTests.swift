import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// What is tried again, over real HTTP; how long is waited in between is RetryPlanTests' to say.
@Suite("Calls that are tried again", .serialized, .timeLimit(.minutes(1)))
struct RetryTests {
    private static let collections = "POST /api/collections"

    @Test("a read is retried after the pause that its backend requests, a write only with a key")
    func triedAgain() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            await scene.backends.misbehave(
                .forkInTheRoad, Misbehaviour(path: "/api/groups", times: 1, .status(429, retryAfter: "1")))
            let start = ContinuousClock.now
            let read = try await scene.authc(["call", "groups"])
            #expect(read.status == 0, "\(read.err)")
            #expect(ContinuousClock.now - start >= .seconds(1))
            #expect(scene.backends.counts[.forkInTheRoad, "GET /api/groups"] == 2)

            let broken = Misbehaviour(path: "/api/collections", times: 1, .status(503))
            let post = ["request", "POST", "/api/collections", "-d", #"{"name":"Lunch"}"#]
            await scene.backends.misbehave(.forkInTheRoad, broken)
            let once = try await scene.authc(post)
            #expect(once.status == 75, "\(once.err)")
            #expect(scene.backends.counts[.forkInTheRoad, Self.collections] == 1)
            await scene.backends.misbehave(.forkInTheRoad, broken)
            let keyed = try await scene.authc(post + ["-H", "Idempotency-Key: lunch-1"])
            #expect(keyed.status == 0 && keyed.out.contains("Lunch"), "\(keyed.err)")
            #expect(scene.backends.counts[.forkInTheRoad, Self.collections] == 3)
        }
    }
}
