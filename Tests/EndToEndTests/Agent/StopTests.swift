import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// SIGTERM while the agent has something to do.
@Suite("Stopping while busy", .serialized, .timeLimit(.minutes(2)))
struct StopTests {
    private static let fork = "fork-in-the-road"

    /// What the service group says when it is tired of waiting.
    private static let lateOutput = "took longer than allowed"

    @Test("ends in time although a provider never answers a write of the outbox")
    func flush() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.forkInTheRoad)
            try await scene.backends.setListening(false, .forkInTheRoad)
            let queued = try await scene.authc(
                ["call", "create-collection", "-s", Self.fork, "--queue", "name=Later"])
            #expect(queued.status == 0, "\(queued.err)")
            await scene.backends.misbehave(
                .forkInTheRoad, Misbehaviour(path: "/api/collections", .delay(.seconds(600))))
            try await scene.backends.setListening(true, .forkInTheRoad)
            let before = scene.backends.idempotencyKeys(.forkInTheRoad).count
            let flush = try await Child(
                [Programs.authc, "outbox", "flush"], environment: scene.desktop.environment)
            try await scene.backends.waitForKeys(before + 1, at: .forkInTheRoad)
            #expect(try await until { try await scene.ask("agent.stats", [:])["counters"]?["waiting_requests"] == 1 })
            let agent = try scene.agent.child
            #expect(await agent.end() == 0)
            let log = await agent.err.all()
            #expect(!log.contains(Self.lateOutput), "\(log)")
            let response = await flush.output()
            #expect(response.status == 75, "\(response.out)")
            #expect(response.err.contains("The agent is stopping"), "\(response.err)")
            // It waits for the next run.
            scene.backends.clear(.forkInTheRoad)
            try await scene.startAgent()
            let sent = try await scene.authc(["outbox", "flush"])
            #expect(sent.status == 0, "\(sent.out)\(sent.err)")
        }
    }
}
