import AuthWire
import StandInBackends
import TestSupport

/// A scene whose agent knows an authorization server besides the backends.
enum OAuthScene {
    static let provider = "oauth-test"

    static func play(
        _ configuration: OAuthStandIn.Configuration = .init(), profile more: String = "", keyring: Bool = true,
        _ test: @escaping @Sendable (Scene, OAuthStandIn) async throws -> Void
    ) async throws {
        try await OAuthStandIn.serving(configuration) { server in
            try await Scene.play(keyring: keyring) { scene in
                try await scene.addProfile(
                    """
                    name = "\(provider)"
                    title = "Test server"
                    issuer = "\(server.issuer)"
                    \(configuration.registersClients ? "registration = true" : "client_id = \"\(configuration.clientID)\"")
                    scopes = ["openid", "offline_access"]
                    \(more)
                    """)
                try await test(scene, server)
            }
        }
    }
}

extension Scene {
    /// A profile of the user, which the agent loads.
    func addProfile(_ text: String, named name: String = "oauth") async throws {
        _ = try desktop.folder.write(text, to: "config/authd/providers/\(name).toml")
        let answer = try await ask("agent.reload", [:])
        guard answer["code"] == nil else { throw Failure(answer.text()) }
    }

    /// Signs in on "another device": `authc` shows the code, and the user enters it there.
    @discardableResult
    func loginByDevice(
        _ server: OAuthStandIn, approve: Bool = true, _ arguments: [String] = []
    ) async throws -> Child.Output {
        let login = try await Child(
            [Programs.authc, "login", OAuthScene.provider, "--method", "device"] + arguments,
            environment: desktop.environment)
        return try await giveCode(of: login, to: server, approve: approve)
    }

    /// The user reads the code of a sign-in, and approves or denies it elsewhere.
    func giveCode(of login: Child, to server: OAuthStandIn, approve: Bool = true) async throws -> Child.Output {
        guard await login.err.wait(for: "code: "),
            let code = login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1
        else { throw Failure("no code was shown: \(await login.err.all())") }
        try server.decide(userCode: String(code), approve: approve)
        return await login.output()
    }
}
