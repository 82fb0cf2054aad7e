import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent against an authorization server of django-oauth-toolkit.
@Suite("django-oauth-toolkit", .serialized, .timeLimit(.minutes(2)))
struct DjangoTests {
    private func play(
        _ arguments: [String] = [], oauth: String = "", _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            let redirect = "http://127.0.0.1:\(try FreePort.find())/callback"
            try await Peer.running(.django, arguments + [redirect], in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "\(OAuthScene.provider)"
                    title = "Django"
                    issuer = "\(server.url)/o"
                    client_id = "native"
                    scopes = ["openid", "read", "write"]
                    [oauth]
                    redirect = "\(redirect)"
                    \(oauth)
                    """)
                try await test(scene, server)
            }
        }
    }

    /// Signs in; Alice's browser consents by itself.
    private func signIn(_ scene: Scene) async throws {
        let (login, url) = try await scene.beginInBrowser()
        let page = try await scene.desktop.run(["curl", "--silent", "--location", "--noproxy", "*", url])
        let output = await login.output()
        guard output.status == 0 else { throw Failure("\(output.err)\n\(page.out)") }
    }

    @Test("a sign-in and a renewal that rotates the refresh token")
    func rotation() async throws {
        try await play { scene, _ in
            try await signIn(scene)
            let first = try await scene.agent.authc("token").out
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("token").out != first)
        }
    }
}
