import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Programs of the same user that flood the agent, each in a separate process (`peers/hostile-client.py`).
@Suite("Hostile clients", .serialized, .timeLimit(.minutes(3)))
struct HostileClientTests {
    /// The agent alone has some 30.
    private static let mostMegabytes = 300

    @Test("a good client gets its tokens during each flood, and nothing is left of it", arguments: HostileClient.floods)
    func one(flood: String) async throws {
        try await play { scene in
            try await Self.play([flood], in: scene)
        }
    }

    private func play(_ test: @escaping @Sendable (Scene) async throws -> Void) async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            let login = try await scene.login(.appTemplate)
            #expect(login.status == 0, "\(login.err)")
            try await test(scene)
        }
    }

    private static func play(_ floods: [String], in scene: Scene) async throws {
        let path = scene.desktop.folder.path + "/run/authd/socket"
        let before = try AgentSize(of: scene.agent)
        let tokens = try await GoodClient.beside(scene, session: "app-template") {
            var programs: [Child] = []
            for flood in floods {
                programs.append(
                    try await Child(
                        HostileClient.command(flood, [path]), environment: scene.desktop.environment, input: .held))
            }
            for program in programs {
                let hasBegun = await program.out.wait(for: "begun")
                #expect(hasBegun, "\(program.err.text)")
            }
            // Beside the floods, for a while that does not depend on the machine's speed.
            for _ in 1...20 {
                let size = try AgentSize(of: scene.agent)
                #expect(size.megabytes < mostMegabytes, "\(floods): \(size)")
                let stats = try await scene.ask("agent.ping", [:])
                #expect(stats["error"] == nil || stats["error"]?["data"]?["kind"] == "busy", "\(stats.text())")
            }
            for program in programs {
                program.endInput()
                let status = await program.ended()
                #expect(status == 0, "\(program.err.text)")
            }
        }
        #expect(tokens > 20)
        try await Self.expectNothingLeft(before, floods, in: scene)
    }

    /// The agent learns of ended clients one after the other.
    private static func expectNothingLeft(_ before: AgentSize, _ floods: [String], in scene: Scene) async throws {
        var size = try AgentSize(of: scene.agent)
        for _ in 1...2000 where size.descriptors > before.descriptors + 4 {
            // Each request is a turn of its loop.
            _ = try await scene.ask("agent.ping", [:])
            size = try AgentSize(of: scene.agent)
        }
        #expect(size.descriptors <= before.descriptors + 4, "\(floods): \(size) after \(before)")
        #expect(size.megabytes < mostMegabytes, "\(floods): \(size) after \(before)")
        let status = try await scene.agent.status("app-template")
        #expect(status.state == .active)
    }
}
