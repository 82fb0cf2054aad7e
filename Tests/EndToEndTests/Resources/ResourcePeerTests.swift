import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent and clients in separate processes, against servers of others that rotate refresh tokens.
@Suite("Sign-in to a URL: third-party servers", .serialized, .timeLimit(.minutes(3)))
struct ResourcePeerTests {
    /// As many as a user's editors, agents and tools start together.
    private static let clients = 20

    /// What an MCP client sends.
    static func call(to path: String = "") -> [String] {
        [
            "request", "POST", path, "-d", #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "-H",
            "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-H",
            "MCP-Protocol-Version: 2025-06-18",
        ]
    }

    private func refreshes(_ play: ResourceScene, _ issuer: Peer?) async throws -> Int {
        let text = try await play.scene.get((issuer ?? play.server).url + "/refreshes")
        guard let count = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw Failure(text) }
        return count
    }

    /// Many processes meet an access token that has ended, at the same time.
    private func expectOneRefresh(_ play: ResourceScene, _ issuer: Peer?) async throws {
        let before = try await refreshes(play, issuer)
        #expect(try await play.scene.authc(Self.call()).status == 0)
        _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
        try await withThrowingTaskGroup(of: Child.Output.self) { group in
            for _ in 0..<Self.clients {
                group.addTask { try await play.scene.authc(Self.call()) }
            }
            for try await output in group { #expect(output.status == 0, "\(output.err)") }
        }
        #expect(try await refreshes(play, issuer) == before + 1)
    }

    /// Sign-in by URL, registration, rotation, and one refresh for all clients.
    /// - Parameter issuer: the authorization server, if it is not the resource's own.
    private func expectAll(_ play: ResourceScene, _ issuer: Peer? = nil) async throws {
        let output = try await play.signIn()
        #expect(output.status == 0)
        for _ in 0..<2 { #expect(try await play.scene.authc(["refresh"]).status == 0) }
        #expect(try await refreshes(play, issuer) == 2)
        try await expectOneRefresh(play, issuer)
        // Each refresh token was used once, so the last one is still good.
        #expect(try await play.scene.authc(["refresh"]).status == 0)
        let session = try await SessionList(play.scene.agent.json("list")).sessions.first
        #expect(session?.state == .active && session?.provider == play.url)
    }

    @Test("Authlib's authorization server for a resource elsewhere: 20 processes, one refresh")
    func authlib() async throws {
        try await Scene.play { scene in
            try await Peer.running(.authlib, in: scene.desktop) { issuer in
                let options: JSON = ["accept_any": true, "resource": ["authorization_servers": [.string(issuer.url)]]]
                try await Peer.running(.resource, [options.text()], in: scene.desktop) { server in
                    try await expectAll(ResourceScene(scene: scene, server: server), issuer)
                }
            }
        }
    }

    @Test("FastMCP, which supports only POST: 20 processes, one refresh")
    func fastMCP() async throws {
        try await ResourceScene.play(.fastMCP) { play in
            try await expectAll(play)
            #expect(try await play.scene.get(play.server.url + "/clients") == "1")
        }
    }

    @Test("the MCP SDK's authorization server and resource: 20 processes, one refresh")
    func mcp() async throws {
        try await ResourceScene.play(.mcp) { play in
            try await expectAll(play)
            let clients = try JSON(parsing: Array(try await play.scene.get(play.server.url + "/clients").utf8))
            #expect(clients.arrayValue?.count == 1)
        }
    }

    @Test("the MCP SDK's authorization server and resource as two servers (RFC 9728): 20 processes, one refresh")
    func mcpApart() async throws {
        try await playApart { play, issuer in
            try await expectAll(play, issuer)
            let clients = try JSON(parsing: Array(try await play.scene.get(issuer.url + "/clients").utf8))
            #expect(clients.arrayValue?.count == 1)
        }
    }

    @Test("two servers without refresh tokens, as in the SDK's example: a refused token means a sign-in")
    func mcpExample() async throws {
        let clock = try await WrongClock()
        try await playApart(["no-refresh"]) { play, issuer in
            try await play.scene.restart(with: clock.environment)
            try await play.signIn()
            #expect(try await play.scene.authc(Self.call()).out.contains("Adds two numbers"))
            _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
            // A refusal of a token that has just come could mean that a right is missing.
            let early = try await play.scene.authc(Self.call())
            #expect(early.status == 65 && early.err.contains("the account may lack the right"), "\(early.err)")
            #expect(!early.err.contains("profile"), "\(early.err)")
            try await clock.sleep([play.scene.agent.child], seconds: 60)
            let refused = try await play.scene.authc(Self.call())
            #expect(refused.status == 3 && refused.err.contains("authc login \(play.url)"), "\(refused.err)")
            #expect(try await refreshes(play, issuer) == 0)
            try await play.signIn()
            #expect(try await play.scene.authc(Self.call()).out.contains("Adds two numbers"))
        }
    }

    private func playApart(
        _ options: [String] = [], _ test: @escaping @Sendable (ResourceScene, _ issuer: Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(.mcpIssuer, options, in: scene.desktop) { issuer in
                try await Peer.running(.mcpResource, [issuer.url], in: scene.desktop) { server in
                    try await test(ResourceScene(scene: scene, server: server), issuer)
                }
            }
        }
    }

    @Test("the MCP SDK's own client gets its tokens from authd: 20 of them at once, one refresh")
    func client() async throws {
        try await ResourceScene.play(.mcp) { play in
            try await play.signIn()
            let command = try Peer.Program.mcpClient.command([
                Programs.authc, play.url, "127.0.0.1-\(play.server.port)",
            ])
            let called = try await play.scene.desktop.run(command)
            #expect(called.status == 0 && called.out.contains("['add'] {'result': 5}"), "\(called.out)\(called.err)")
            _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
            // The first program that meets the 401 reports the token; the others get the next one.
            #expect(try await play.scene.authc(Self.call()).status == 0)
            try await withThrowingTaskGroup(of: Child.Output.self) { group in
                for _ in 0..<Self.clients { group.addTask { try await play.scene.desktop.run(command) } }
                for try await output in group {
                    #expect(output.status == 0 && output.out.contains("{'result': 5}"), "\(output.err)")
                }
            }
            #expect(try await refreshes(play, nil) == 1)
        }
    }

    @Test(
        """
        a server that revokes the family when a refresh token is used twice never sees that (anomalyco/opencode#49439, \
        anthropics/claude-code#91641, NousResearch/hermes-agent#71715)
        """)
    func family() async throws {
        try await ResourceScene.play(.resource, ["{\"refresh_seconds\": 0.2}"]) { play in try await expectAll(play) }
    }

    @Test("the same server does revoke the family if one refresh token is used twice, as those clients do")
    func revokedFamily() async throws {
        try await ResourceScene.play(.resource, [#"{"known_clients": ["direct"]}"#]) { play in
            let first = try await directTokens(play)
            func refresh(_ token: String) async throws -> JSON {
                try await post("grant_type=refresh_token&client_id=direct&refresh_token=" + token, play)
            }
            let second = try await refresh(first.refresh)
            let (access, latest) = (second["access_token"]?.stringValue, second["refresh_token"]?.stringValue)
            #expect(try await status(access, play) == "200")
            #expect(try await refresh(first.refresh)["error"] == "invalid_grant")
            // Neither the latest refresh token nor the access token survives it.
            #expect(try await refresh(latest ?? "")["error"] == "invalid_grant")
            #expect(try await status(access, play) == "401")
        }
    }

    /// Signs in as a client without the agent, with the verifier of RFC 7636, appendix B.
    private func directTokens(_ play: ResourceScene) async throws -> (access: String, refresh: String) {
        let (verifier, challenge) = (
            "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        )
        let redirect = try await play.scene.desktop.run([
            "curl", "--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{redirect_url}",
            play.server.url + "/authorize?client_id=direct&state=s&redirect_uri=http://127.0.0.1/callback"
                + "&code_challenge_method=S256&code_challenge=" + challenge,
        ]).out
        guard let code = redirect.firstMatch(of: /code=([^&]+)/)?.1 else { throw Failure(redirect) }
        let tokens = try await post(
            "grant_type=authorization_code&client_id=direct&code=\(code)&code_verifier=\(verifier)", play)
        guard let access = tokens["access_token"]?.stringValue, let refresh = tokens["refresh_token"]?.stringValue
        else { throw Failure(tokens.text()) }
        return (access, refresh)
    }

    private func post(_ form: String, _ play: ResourceScene) async throws -> JSON {
        try JSON(parsing: Array(try await play.scene.get(play.server.url + "/token", ["--data", form]).utf8))
    }

    /// What the resource answers to a token.
    private func status(_ token: String?, _ play: ResourceScene) async throws -> String {
        try await play.scene.get(
            play.url,
            [
                "--output", "/dev/null", "--write-out", "%{http_code}", "--header",
                "Authorization: Bearer \(token ?? "")",
            ])
    }

    // MARK: Problems that users have with other clients

    @Test("a refresh sends `resource` without the URL's query string, to a server that refuses anything else")
    func query() async throws {
        try await ResourceScene.play(.resource, ["{\"requires_resource\": true}"]) { play in
            try await play.signIn(at: play.url + "?tenant=1")
            #expect(try await play.log("/mcp").first?.query == ["tenant": "1"])
            #expect(try await play.scene.authc(["refresh"]).status == 0)
            #expect(try await play.log("/token").map { $0.form["resource"] } == [play.url, play.url])
            let reached = try await play.scene.authc(["request", "GET", "?tenant=1"])
            #expect(reached.status == 0, "\(reached.err)")
            #expect(try await play.log("/mcp").last?.query == ["tenant": "1"])
        }
    }

    @Test(
        "temporarily_unavailable and others are not final: the session stays, and is renewed when the server is back",
        arguments: [
            (400, "temporarily_unavailable"), (400, "server_error"), (503, "temporarily_unavailable"),
            (401, "invalid_client"),
            (400, "invalid_target"),
        ])
    func temporary(status: Int, code: String) async throws {
        try await ResourceScene.play(.resource) { play in
            try await play.signIn()
            let token = try await play.scene.authc(["token"]).out
            try await play.set(["token_failure": [.integer(Int64(status)), .string(code)]])
            #expect(try await play.scene.authc(["refresh"]).status != 0)
            #expect(try await play.scene.authc(["token"]).out == token)
            #expect(try await play.scene.agent.json("status")["state"] == "active")
            try await play.set(["token_failure": nil])
            let renewed = try await play.scene.authc(["refresh"])
            #expect(renewed.status == 0, "\(renewed.err)")
            #expect(try await play.scene.authc(["token"]).out != token)
        }
    }

    @Test("a server that refuses an early refresh with 400: the token is served to its end, and then renewed")
    func early() async throws {
        try await ResourceScene.play(.resource, [#"{"renews_late": true, "life": 12}"#]) { play in
            try await play.signIn()
            let watch = try await Child(
                [Programs.authc, "watch", "--json"], environment: play.scene.desktop.environment)
            #expect(await watch.out.wait(for: "snapshot"))
            let former = try await play.scene.authc(["token"]).out
            let refused = try await play.scene.authc(["refresh"])
            #expect(refused.status == 65 && refused.err.contains("This is not final"), "\(refused.err)")
            let status = try await play.scene.agent.json("status")
            #expect(status["state"] == "active" && status["cause"] == "renewal_refused")
            #expect(try await play.scene.authc(["token"]).out == former)
            #expect(try await play.scene.authc(Self.call()).status == 0)
            #expect(await watch.out.wait(for: #""state":"stale""#))
            #expect(try await play.scene.authc(["wait", "--until", "active", "--timeout", "60s"]).status == 0)
            #expect(try await play.scene.authc(["token"]).out != former)
            #expect(!watch.out.text.contains("sign_in_required"))
            // The user's refresh, at least one near the token's end, and the one that was accepted.
            #expect(try await refreshes(play, nil) >= 3)
            await watch.end()
        }
    }

    @Test("a session that its server has ended is served to the end of its token; the refusal after that is final")
    func ended() async throws {
        try await ResourceScene.play(.resource, [#"{"life": 8}"#]) { play in
            try await play.signIn()
            try await play.set(["token_failure": [400, "invalid_grant"]])
            #expect(try await play.scene.authc(["refresh"]).status == 65)
            #expect(try await play.scene.authc(["token"]).status == 0)
            let end = try await play.scene.authc(["wait", "--until", "signed_out", "--timeout", "60s"])
            #expect(end.status == 0, "\(end.err)")
            let status = try await play.scene.agent.json("status")
            #expect(status["state"] == "sign_in_required" && status["cause"] == "refused_by_provider")
            #expect((2...3).contains(try await refreshes(play, nil)))
        }
    }
}
