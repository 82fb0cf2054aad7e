import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Backend A, whose users sign in at an OpenID provider that identifies them to A.
@Suite("Federated sign-in", .serialized, .timeLimit(.minutes(1)))
struct FederatedTests {
    private static let google = ["aws-lambda", "--environment", "local", "--method", "google"]
    /// A browser that shows nothing: the address is printed too.
    private static let browser = ["BROWSER": "true"]
    private static let register = "POST /auth/register"
    private static let login = "POST /auth/login"

    /// A scene in which the identity provider that A believes is the authorization server.
    private static func play(
        _ configuration: OAuthStandIn.Configuration = .init(), profile more: String = "",
        _ test: @escaping @Sendable (Scene, OAuthStandIn) async throws -> Void
    ) async throws {
        try await OAuthScene.play(configuration, profile: more) { scene, server in
            let text = try SourceTree.text("Sources/AuthProviders/Bundled/aws-lambda.toml")
            let known = #"issuers = ["https://accounts.google.com", "accounts.google.com"]"#
            #expect(text.contains(known))
            try await scene.addProfile(
                text.replacing(known, with: "issuers = [\"\(server.issuer)\"]"), named: "aws-lambda")
            try await test(scene, server)
        }
    }

    @Test("a sign-in at an OpenID provider in the browser registers a new user, and signs in a known one")
    func browser() async throws {
        try await Self.play { scene, server in
            let new = try await scene.visit(Self.google, Self.browser)
            #expect(new.status == 0, "\(new.err)")
            #expect(new.err.contains("User registered successfully"), "\(new.err)")
            let status = try await scene.agent.status("aws-lambda")
            #expect(status.user?.email == "janedoe@example.com" && status.user?.name == "Jane Doe")
            // It is a session of A alone.
            #expect(try await scene.desktop.keyringItems().count == 1)
            #expect(try await scene.agent.authc("validate").status == 0)

            #expect(try await scene.agent.authc("logout").status == 0)
            let known = try await scene.visit(Self.google, Self.browser)
            #expect(known.status == 0 && known.err.contains("Login successful"), "\(known.err)")
            #expect(scene.backends.counts[.awsLambda, Self.register] == 2)
            #expect(scene.backends.counts[.awsLambda, Self.login] == 1)
            #expect(server.counts.codes == 2)
        }
    }

    @Test("without a browser they use the device flow, and ask for a required secret")
    func device() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.clientSecret = "the client's own"
        try await Self.play(configuration, profile: "[oauth]\nclient_auth = \"post\"") { scene, server in
            let asked = try await scene.authc(["login"] + Self.google + ["--no-input"])
            #expect(asked.status == 64 && asked.err.contains("Client secret"), "\(asked.status) \(asked.err)")
            let secret = try scene.desktop.folder.write("the client's own", to: "secret")
            let login = try await Child(
                ["bash", "-c", "exec \"$0\" \"$@\" --secret-fd client_secret=3 3<\(secret)", Programs.authc, "login"]
                    + Self.google, environment: scene.desktop.environment)
            let output = try await scene.giveCode(of: login, to: server)
            #expect(output.status == 0, "\(output.err)")
            #expect(try await scene.agent.status("aws-lambda").user?.email == "janedoe@example.com")
        }
    }

    @Test("an invalid proof is not sent to the backend")
    func distrusted() async throws {
        try await Self.play { scene, server in
            server.misbehave(.wrongNonce)
            let refused = try await scene.visit(Self.google, Self.browser)
            #expect(refused.status == 76 && refused.err.contains("another sign-in"), "\(refused.err)")
            #expect(scene.backends.counts[.awsLambda, Self.register] == 0)
            server.clear()
            server.misbehave(.denies)
            let denied = try await scene.visit(Self.google, Self.browser)
            #expect(denied.status == 77, "\(denied.err)")
            #expect(scene.backends.counts[.awsLambda, Self.register] == 0)
            #expect(try await scene.desktop.keyringItems() == [])
        }
    }
}
