import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent and clients in processes of their own, against servers of others that rotate refresh tokens.
@Suite("Sign-in to a URL: third-party servers", .serialized, .timeLimit(.minutes(3)))
struct ResourcePeerTests {
    /// As many as a user's editors, agents and tools start together.
    private static let clients = 20

    /// What an MCP client sends.
    private static let call = [
        "request", "POST", "", "-d", #"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, "-H",
        "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream", "-H",
        "MCP-Protocol-Version: 2025-06-18",
    ]

    private func play(
        _ program: Peer.Program, _ arguments: [String] = [],
        _ test: @escaping @Sendable (ResourceScene) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(program, arguments, in: scene.desktop) { server in
                try await test(ResourceScene(scene: scene, server: server))
            }
        }
    }

    private func refreshes(_ play: ResourceScene, _ issuer: Peer?) async throws -> Int {
        let text = try await play.scene.get((issuer ?? play.server).url + "/refreshes")
        guard let count = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else { throw Failure(text) }
        return count
    }

    /// Many processes meet an access token that has ended, at the same time.
    private func expectOneRefresh(_ play: ResourceScene, _ issuer: Peer?) async throws {
        let before = try await refreshes(play, issuer)
        #expect(try await play.scene.authc(Self.call).status == 0)
        _ = try await play.scene.get(play.server.url + "/expire", ["--data", ""])
        try await withThrowingTaskGroup(of: Child.Output.self) { group in
            for _ in 0..<Self.clients {
                group.addTask { try await play.scene.authc(Self.call) }
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
        try await play(.fastMCP) { play in
            try await expectAll(play)
            #expect(try await play.scene.get(play.server.url + "/clients") == "1")
        }
    }

    @Test("the MCP SDK's authorization server and resource: 20 processes, one refresh")
    func mcp() async throws {
        try await play(.mcp) { play in
            try await expectAll(play)
            let clients = try JSON(parsing: Array(try await play.scene.get(play.server.url + "/clients").utf8))
            #expect(clients.arrayValue?.count == 1)
        }
    }

    @Test(
        "a server that revokes the family when a refresh token is used twice never sees that (opencode#49439 and others)"
    )
    func family() async throws {
        try await play(.resource, ["{\"refresh_seconds\": 0.2}"]) { play in try await expectAll(play) }
    }

    // MARK: Problems that users have with other clients

    @Test("a server that refuses `resource` with the URL's query string never gets it")
    func query() async throws {
        try await play(.resource, ["{\"requires_resource\": true}"]) { play in
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
        "a refusal that is not final keeps the session, which is renewed when the server is back",
        arguments: [
            (400, "temporarily_unavailable"), (400, "server_error"), (503, "temporarily_unavailable"),
            (401, "invalid_client"),
            (400, "invalid_target"),
        ])
    func temporary(status: Int, code: String) async throws {
        try await play(.resource) { play in
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
}
