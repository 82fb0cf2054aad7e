import AuthWire
import Foundation
import TestSupport
import Testing

/// Agent, keyring and provider are real, and so is the other program that renews the same session.
@Suite("A refused renewal, and a newer token in the keyring", .timeLimit(.minutes(1)))
struct ReconciliationTests {
    @Test("an agent whose refresh token another one has used takes the newer one from the keyring")
    func newerTokenInTheKeyring() async throws {
        try await Scene.play(signedInTo: .programs, ["repositories", ""]) { scene, server in
            // In another runtime folder, as in a container that has the user's bus.
            let folder = scene.desktop.folder
            let apart = [
                "XDG_RUNTIME_DIR": try folder.folder("run-2"), "XDG_STATE_HOME": try folder.folder("state-2"),
            ]
            let other = try await Agent(on: scene.desktop, with: apart)
            let first = [Programs.authc, "token", "-s", "forge"]
            #expect(try await scene.desktop.run(first, with: apart).out == "token-1\n")

            // The first agent's renewal reaches the provider after the other's, and before it can have seen the other's token.
            #expect(try await scene.run("curl -sfX POST \(server.url)/control/hold").status == 0)
            async let refresh = scene.authc(["refresh", "-s", "forge"])
            #expect(try await until { try await Self.log(of: server, in: scene).contains("a renewal is held") })
            let renewed = try await scene.desktop.run([Programs.authc, "refresh", "-s", "forge"], with: apart)
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await scene.desktop.run(first, with: apart).out == "token-2\n")
            #expect(try await scene.run("curl -sfX POST \(server.url)/control/release").status == 0)

            let refused = try await refresh
            #expect(refused.status == 0, "\(refused.err)")
            #expect(try await scene.authc(["token", "-s", "forge"]).out == "token-2\n")
            #expect(try await scene.agent.status("forge").state == .active)
            #expect(try await Self.log(of: server, in: scene).contains("a renewal is refused"))

            // Both go on with the same session.
            let next = try await scene.authc(["refresh", "-s", "forge"])
            #expect(next.status == 0, "\(next.err)")
            #expect(try await scene.authc(["token", "-s", "forge"]).out == "token-3\n")
            let follows = try await until { try await scene.desktop.run(first, with: apart).out == "token-3\n" }
            #expect(follows)
            await other.child.end()
        }
    }

    private static func log(of server: Peer, in scene: Scene) async throws -> String {
        try await scene.run("curl -sf \(server.url)/log").out
    }
}
