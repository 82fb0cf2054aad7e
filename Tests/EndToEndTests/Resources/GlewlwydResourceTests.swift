import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent with protected resources that name a third-party authorization server, glewlwyd, and no profile.
@Suite("Sign-in to a URL: glewlwyd", .serialized, .timeLimit(.minutes(3)))
struct GlewlwydResourceTests {
    /// As many as a user's editors, agents and tools start together.
    private static let clients = 20

    private struct Play: Sendable {
        let scene: Scene
        let server: Glewlwyd
        let resources: [Peer]

        /// glewlwyd accepts plain `http` for resources of this name only.
        func url(_ index: Int) -> String { "http://localhost:\(resources[index].port)/mcp" }
        func name(_ index: Int) -> String { "localhost-\(resources[index].port)" }

        func authc(_ arguments: [String], at index: Int = 0) async throws -> Child.Output {
            try await scene.authc(arguments + ["-s", name(index)])
        }

        /// Signs Alice in: the server registers the client, and she grants it the scopes.
        func signIn(_ index: Int = 0) async throws -> Child.Output {
            let (login, address) = try await scene.beginInBrowser(at: url(index))
            guard let client = address.firstMatch(of: /client_id=([^&]+)/)?.1 else { throw Failure(address) }
            try await server.grant(client: String(client))
            _ = try await server.visit(address)
            return await login.output()
        }

        /// Tells the resources who issues their tokens.
        func configure() async throws {
            for (index, resource) in resources.enumerated() {
                let metadata: JSON = [
                    "resource": .string(url(index)), "authorization_servers": [.string(server.issuer)],
                    "scopes_supported": ["openid", "scope1"],
                ]
                let options: JSON = ["accept_audience": true, "resource": metadata]
                _ = try await scene.get(resource.url + "/set", ["--data", options.text()])
            }
        }
    }

    private func play(_ test: @escaping @Sendable (Play) async throws -> Void) async throws {
        try await Scene.play { scene in
            try await Peer.running(.resource, in: scene.desktop) { first in
                try await Peer.running(.resource, in: scene.desktop) { second in
                    let urls = [first, second].map { "http://localhost:\($0.port)/mcp" }
                    try await Glewlwyd.running(
                        in: scene.desktop, redirectURI: "http://127.0.0.1:1/callback", resources: urls
                    ) { server in
                        let play = Play(scene: scene, server: server, resources: [first, second])
                        try await play.configure()
                        try await test(play)
                    }
                }
            }
        }
    }

    @Test("discovery, registration, a token for the resource alone, rotation, and one refresh for 20 processes")
    func whole() async throws {
        try await play { play in
            let output = try await play.signIn()
            #expect(output.status == 0, "\(output.err)")
            #expect(try await play.server.refreshTokens() == 1)
            for count in 2...4 {
                let renewed = try await play.authc(["refresh"])
                #expect(renewed.status == 0, "\(renewed.err)")
                #expect(try await play.server.refreshTokens() == count)
            }
            #expect(try await play.authc(["request", "GET", ""]).status == 0)
            _ = try await play.scene.get(play.resources[0].url + "/expire", ["--data", ""])
            try await withThrowingTaskGroup(of: Child.Output.self) { group in
                for _ in 0..<Self.clients { group.addTask { try await play.authc(["request", "GET", ""]) } }
                for try await output in group { #expect(output.status == 0, "\(output.err)") }
            }
            #expect(try await play.server.refreshTokens() == 5)
            try await play.scene.restart()
            #expect(try await play.authc(["refresh"]).status == 0)
            let token = try await play.authc(["token"]).out.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try await play.authc(["logout"]).status == 0)
            #expect(try await !play.server.isActive(token))
        }
    }

    @Test("its refusal of a second resource does no harm: the ordinary sign-in follows, and both sessions work")
    func secondResource() async throws {
        try await play { play in
            #expect(try await play.signIn().status == 0)
            let login = try await Child(
                [Programs.authc, "login", play.url(1)],
                environment: play.scene.desktop.environment.merging(["DISPLAY": ":9"]) { $1 })
            guard await login.err.wait(for: ": http"), await login.err.wait(for: "\n"),
                let address = login.err.text.firstMatch(of: /: (http\S+)/)?.1,
                let client = address.firstMatch(of: /client_id=([^&]+)/)?.1
            else { throw Failure(await login.err.all()) }
            try await play.server.grant(client: String(client))
            _ = try await play.server.visit(String(address))
            let output = await login.output()
            #expect(output.status == 0 && output.err.contains("Invalid Resource"), "\(output.err)")
            for index in 0...1 {
                #expect(try await play.authc(["refresh"], at: index).status == 0)
                #expect(try await play.authc(["request", "GET", ""], at: index).status == 0)
            }
        }
    }

    @Test("Google's library gets an identity token for its program's audience, and the resource accepts it")
    func identity() async throws {
        try await play { play in
            #expect(try await play.signIn().status == 0)
            let port = try FreePort.find()
            let gce = ["--view", "gce", "--port", "\(port)", "--audience", play.url(0)]
            _ = try await play.scene.addProgram("build", ["-s", play.name(0)] + gce)
            try await play.scene.serveEndpoint { endpoint in
                #expect(await endpoint.child.out.wait(for: ":\(port) build\n"), "\(endpoint.child.err.text)")
                func found(_ audience: String) async throws -> JSON {
                    let command = try Peer.Program.googleClient.command([audience]).joined(separator: " ")
                    let output = try await play.scene.run("eval \"$(authc http env build)\"\n\(command)")
                    guard output.status == 0 else { throw Failure("\(output)") }
                    return try JSON(parsing: output.out)
                }
                let identity = try await found(play.url(0))
                #expect(identity["is_valid"] == true, "\(identity)")
                let token = try #require(identity["identity"]?.stringValue)
                let header = ["--header", "Authorization: Bearer \(token)"]
                #expect(try await play.scene.get(play.url(0), header).contains("\"method\": \"GET\""))
                let refused = try await found(play.url(1))
                #expect(refused["error"]?.stringValue?.contains("403") == true, "\(refused)")
            }
        }
    }
}
