import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent against an authorization server of django-oauth-toolkit. Alice's browser consents by itself.
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

    @Test("a sign-in and a renewal that rotates the refresh token")
    func rotation() async throws {
        try await play { scene, _ in
            try await scene.signInWithBrowser()
            let first = try await scene.agent.authc("token").out
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("token").out != first)
        }
    }

    @Test("after a token for one scope, a server that may restore the others is asked to")
    func wide() async throws {
        try await play(["--wide"]) { scene, server in
            try await scene.signInWithBrowser()
            let own = try await scene.agent.authc("token").out
            let read = try await scene.agent.authc("token", "--scope", "read").out
            #expect(try await scene.desktop.status(of: server.url + "/api/read", token: read) == "200")
            // This server has revoked it.
            #expect(try await scene.desktop.status(of: server.url + "/api/read", token: own) != "200")
            let next = try await scene.agent.authc("token").out
            #expect(next != own)
            #expect(try await scene.desktop.status(of: server.url + "/api/write", token: next) == "200")
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.state == .active && status.cause == nil)
            #expect(status.scopes.map(Set.init) == ["openid", "read", "write"])
        }
    }

    @Test("a server that does not restore them is reported, and `targeted_tokens = false` keeps all scopes")
    func narrowed() async throws {
        try await play { scene, server in
            try await scene.signInWithBrowser()
            _ = try await scene.agent.authc("token", "--scope", "read")
            let next = try await scene.agent.authc("token").out
            #expect(try await scene.desktop.status(of: server.url + "/api/read", token: next) == "200")
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.cause == "scope_reduced" && status.scopes == ["read"])
            #expect(status.message?.contains("openid, write") == true, "\(status.message ?? "")")
            let card = try await scene.agent.authc("status")
            #expect(card.status == 0 && card.out.contains("no longer grants"), "\(card.out)")
        }
        try await play(oauth: "targeted_tokens = false") { scene, server in
            try await scene.signInWithBrowser()
            let refused = try await scene.agent.authc("token", "--scope", "read")
            #expect(refused.status != 0 && refused.err.contains("targeted_tokens"), "\(refused.err)")
            let own = try await scene.agent.authc("token").out
            #expect(try await scene.desktop.status(of: server.url + "/api/write", token: own) == "200")
        }
    }

    @Test("a sign-out revokes, although only one of its metadata documents has the endpoint")
    func revocation() async throws {
        try await play { scene, server in
            try await scene.signInWithBrowser()
            let own = try await scene.agent.authc("token").out
            #expect(try await scene.desktop.status(of: server.url + "/api/read", token: own) == "200")
            let logout = try await scene.agent.authc("logout")
            #expect(
                logout.status == 0 && !(logout.out + logout.err).contains("revocation"), "\(logout.out)\(logout.err)")
            #expect(try await scene.desktop.status(of: server.url + "/api/read", token: own) != "200")
        }
    }

    @Test("the refusal of a session that was revoked elsewhere is read, although it is labelled as a page")
    func revokedElsewhere() async throws {
        try await play { scene, server in
            try await scene.signInWithBrowser()
            #expect(try await scene.agent.authc("validate").status == 0)
            let own = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
            let revoked = try await scene.desktop.run([
                "curl", "--silent", "--fail", "--noproxy", "*", "--data", "client_id=native&token=\(own)",
                server.url + "/o/revoke_token/",
            ])
            #expect(revoked.status == 0, "\(revoked.err)")
            let answer = try await scene.agent.authc("validate")
            // The refusal led to a renewal, and here the refresh token ends with its access token.
            #expect(answer.status == 65, "\(answer.out)\(answer.err)")
            // The token is new, so that is not final yet.
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.state == .active && status.cause == "renewal_refused")
        }
    }
}
