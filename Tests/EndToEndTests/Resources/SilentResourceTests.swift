import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent and servers that accept a request and never answer it.
@Suite("Sign-in to a URL: a silent server", .serialized, .timeLimit(.minutes(2)))
struct SilentResourceTests {
    /// The addresses that never answer: the resource, its metadata, and the authorization server's metadata.
    private static let places = ["/mcp", "/.well-known/oauth-protected-resource", "/.well-known/o"]

    /// - Parameter test: also gets the server that answers, with a session.
    private func play(
        _ silent: String, _ test: @escaping @Sendable (ResourceScene, ResourceScene) async throws -> Void
    ) async throws {
        try await ResourceScene.play { good in
            try await good.signIn()
            let isServer = silent == Self.places[2]
            // The metadata of the resource is elsewhere, so that only the server is silent.
            let options: JSON =
                isServer
                ? ["silent": ["/.well-known/o"], "metadata_place": "/elsewhere/metadata"]
                : ["silent": [.string(silent)]]
            try await Peer.running(.resource, [options.text()], in: good.scene.desktop) { server in
                try await test(ResourceScene(scene: good.scene, server: server), good)
            }
        }
    }

    private func begin(_ play: ResourceScene, _ silent: String) async throws -> Child {
        let login = try await Child(
            [Programs.authc, "login", play.url, "--no-input"], environment: play.scene.desktop.environment)
        let isAsked = try await until { try await play.log().contains { $0.path.hasPrefix(silent) } }
        #expect(isAsked)
        return login
    }

    @Test("the sign-in ends with a clear timeout, and delays nothing else", arguments: places)
    func timeout(silent: String) async throws {
        try await play(silent) { play, good in
            let login = try await begin(play, silent)
            // Many more requests than fit into the time if each waited for the silent server.
            for _ in 0..<20 {
                for arguments in [["request", "GET", ""], ["refresh"], ["status"]] {
                    #expect(try await good.scene.authc(arguments).status == 0)
                }
            }
            let output = await login.output()
            #expect(output.status == 75, "\(output.err)")
            #expect(output.err.contains("did not respond within"), "\(output.err)")
            #expect(try await SessionList(good.scene.agent.json("list")).sessions.count == 1)
        }
    }

    @Test("^C ends it at once, and nothing of it is left", arguments: places)
    func interrupted(silent: String) async throws {
        try await play(silent) { play, good in
            let start = ContinuousClock.now
            let login = try await begin(play, silent)
            login.kill(SIGINT)
            #expect(await login.ended() != 0)
            // Far below the limit of the request that nobody answers.
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(try await SessionList(good.scene.agent.json("list")).sessions.count == 1)
            // No sign-in blocks the next one.
            try await play.set(["silent": []])
            try await play.signIn()
        }
    }
}
