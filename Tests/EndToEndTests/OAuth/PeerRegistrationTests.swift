import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent against servers that register it themselves and compare every redirect URI exactly.
@Suite("OAuth: registration at Authlib and the MCP SDK", .serialized, .timeLimit(.minutes(2)))
struct PeerRegistrationTests {
    private struct Registered: Decodable {
        let redirect_uris: [String]
        let scope: String
    }

    /// - Parameter slash: at the end of the issuer's name.
    private func play(
        _ program: Peer.Program, slash: String = "", oauth: String = "client_auth = \"basic\"",
        _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(program, in: scene.desktop) { server in
                try await addProfile(to: scene, server, slash: slash, oauth: oauth)
                try await test(scene, server)
            }
        }
    }

    private func addProfile(
        to scene: Scene, _ server: Peer, slash: String = "", scopes: String = "\"read\", \"write\"", oauth: String
    ) async throws {
        let oauth = oauth.replacing("PEER", with: server.url)
        try await scene.addProfile(
            """
            name = "\(OAuthScene.provider)"
            title = "Peer"
            issuer = "\(server.url)\(slash)"
            registration = true
            scopes = [\(scopes)]
            [oauth]
            \(oauth)
            """)
    }

    private func registered(_ scene: Scene, _ server: Peer) async throws -> [Registered] {
        try JSONDecoder().decode([Registered].self, from: Data(try await scene.get(server.url + "/clients").utf8))
    }

    @Test("the port that is registered is the one that is listened on, and is used again by the next sign-in")
    func port() async throws {
        for (program, slash) in [(Peer.Program.authlib, ""), (.mcp, "/")] {
            try await play(program, slash: slash) { scene, server in
                try await scene.signInWithBrowser(["-s", "one"])
                try await scene.restart()
                try await scene.signInWithBrowser(["-s", "two"])
                let clients = try await registered(scene, server)
                #expect(clients.count == 1)
                let redirect = try #require(clients.first?.redirect_uris.first)
                #expect(redirect.contains(/^http:\/\/127\.0\.0\.1:[0-9]+\/callback$/), "\(redirect)")
                for name in ["one", "two"] {
                    let renewed = try await scene.authc(["refresh", "-s", name])
                    #expect(renewed.status == 0, "\(renewed.err)")
                    let logout = try await scene.authc(["logout", "-s", name])
                    #expect(logout.status == 0, "\(logout.err)")
                    // The MCP SDK wants the secret in the form to revoke, whatever it registered; that is reported.
                    let isRevoked = !(logout.out + logout.err).contains("provider could not")
                    #expect(isRevoked == slash.isEmpty, "\(logout.out)\(logout.err)")
                }
            }
        }
    }

    @Test("another program on the registered port means another registration, and no failed sign-in")
    func portInUse() async throws {
        try await play(.authlib) { scene, server in
            try await scene.signInWithBrowser()
            let redirect = try #require(try await registered(scene, server).first?.redirect_uris.first)
            let port = try #require(redirect.firstMatch(of: /:([0-9]+)\//)?.1)
            let squatter = try await Child(
                ["/usr/bin/python3", "-u", "-c", Self.listening, String(port)], environment: scene.desktop.environment,
                input: .held)
            await squatter.out.wait(for: "listening")
            try await scene.signInWithBrowser(["-s", "two"])
            await squatter.end()
            let clients = try await registered(scene, server)
            #expect(Set(clients.flatMap(\.redirect_uris)).count == 2)
            // The first session is still renewed as the first client.
            let renewed = try await scene.authc(["refresh", "-s", OAuthScene.provider])
            #expect(renewed.status == 0, "\(renewed.err)")
        }
    }

    private static let listening = """
        import socket, sys
        s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind(("127.0.0.1", int(sys.argv[1]))); s.listen()
        print("listening"); sys.stdin.read()
        """

    @Test("other scopes in the profile mean another registration")
    func scopes() async throws {
        try await play(.authlib) { scene, server in
            try await addProfile(to: scene, server, scopes: "\"read\"", oauth: "client_auth = \"basic\"")
            try await scene.signInWithBrowser()
            try await addProfile(to: scene, server, oauth: "client_auth = \"basic\"")
            try await scene.signInWithBrowser()
            #expect(try await registered(scene, server).map(\.scope) == ["read", "read write"])
        }
    }

    @Test("a sign-in that the user ended in the browser is followed by another registration")
    func cancelled() async throws {
        try await play(.mcp, slash: "/") { scene, server in
            let (login, _) = try await scene.beginInBrowser()
            login.kill(SIGINT)
            #expect(await login.ended() != 0)
            try await scene.signInWithBrowser()
            #expect(try await registered(scene, server).count == 2)
        }
    }

    @Test("`provider forget` drops a registration, and has the provider delete it once no session uses it")
    func forget() async throws {
        try await play(.authlib) { scene, server in
            let nothing = try await scene.authc(["provider", "forget", OAuthScene.provider])
            #expect(nothing.status == 0 && nothing.err.contains("has registered no client"), "\(nothing.err)")
            try await scene.signInWithBrowser()
            let used = try await scene.authc(["provider", "forget", OAuthScene.provider])
            #expect(used.status == 0 && used.err.contains("still registered"), "\(used.err)")
            #expect(try await scene.authc(["refresh"]).status == 0)
            try await scene.signInWithBrowser()
            #expect(try await registered(scene, server).count == 2)
            #expect(try await scene.authc(["logout"]).status == 0)
            let answer = try await scene.ask("provider.forget", ["provider": .string(OAuthScene.provider)])
            #expect(answer["forgotten"] == true && answer["deleted"] == true, "\(answer.text())")
            #expect(try await registered(scene, server).count == 1)
            let unknown = try await scene.authc(["provider", "forget", "nobody"])
            #expect(unknown.status != 0)
        }
    }

    @Test("the profile's resource makes tokens for that API; without it, the API's message and origin are shown")
    func resource() async throws {
        try await play(.mcp, slash: "/", oauth: "client_auth = \"basic\"\nresource = \"PEER/mcp\"") { scene, server in
            try await scene.signInWithBrowser()
            #expect(try await scene.authc(ResourcePeerTests.call(to: "/mcp")).out.contains("Adds two numbers"))
            #expect(try await scene.authc(["refresh"]).status == 0)
            #expect(try await scene.authc(ResourcePeerTests.call(to: "/mcp")).out.contains("Adds two numbers"))
            try await addProfile(to: scene, server, slash: "/", oauth: "client_auth = \"basic\"")
            try await scene.signInWithBrowser()
            let refused = try await scene.authc(["request", "GET", "/mcp"])
            #expect(refused.status != 0)
            #expect(refused.err.contains("Authentication required"), "\(refused.err)")
            #expect(refused.err.contains("\(server.url)/.well-known/oauth-protected-resource/mcp"), "\(refused.err)")
            #expect(!refused.err.contains("authc login"), "\(refused.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).state == .active)
        }
    }
}
