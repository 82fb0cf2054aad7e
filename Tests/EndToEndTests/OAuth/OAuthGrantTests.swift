import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Ways in beside the plain ones, with the real programs and keyring.
@Suite("OAuth: pushed requests, and refresh tokens from elsewhere", .serialized, .timeLimit(.minutes(1)))
struct OAuthGrantTests {
    @Test("a request that was pushed before travels by its name alone (RFC 9126)")
    func pushed() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.requiresPushedRequests = true
        try await OAuthScene.play(configuration) { scene, server in
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(server.counts.pushes == 1)
            #expect(login.err.contains("request_uri=urn"), "\(login.err)")
            #expect(!login.err.contains("code_challenge") && !login.err.contains("redirect_uri"), "\(login.err)")
        }
    }

    @Test("a request that the push endpoint refuses goes through the browser, and is logged")
    func refusedPush() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.acceptsPushedRequests = true
        try await OAuthScene.play(configuration) { scene, server in
            server.misbehave(.refusesPushes)
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(server.counts.pushes == 0)
            #expect(login.err.contains("code_challenge="), "\(login.err)")
            try await scene.agent.child.end()
            let log = try scene.agent.child.err.text
            #expect(log.contains("RFC 9126"), "\(log)")
            #expect(!log.contains("code_challenge"))
        }
    }

    @Test(
        "if the server or the profile requires a pushed request, its refusal ends the sign-in",
        arguments: [true, false])
    func demandedPush(byServer: Bool) async throws {
        var configuration = OAuthStandIn.Configuration()
        (configuration.acceptsPushedRequests, configuration.requiresPushedRequests) = (true, byServer)
        let more = byServer ? "" : "[oauth]\nrequire_pushed_authorization_requests = true"
        try await OAuthScene.play(configuration, profile: more) { scene, server in
            server.misbehave(.refusesPushes)
            let login = try await scene.authc(["login", OAuthScene.provider, "--method", "browser"])
            #expect(login.status == 65, "\(login.err)")
            #expect(!login.err.contains("browser: http"), "\(login.err)")
            #expect(server.counts.codes == 0)
        }
    }

    @Test("the request of a pasted address is pushed only if the server requires it, and the user sees for how long")
    func pasted() async throws {
        for isRequired in [false, true] {
            var configuration = OAuthStandIn.Configuration()
            (configuration.acceptsPushedRequests, configuration.requiresPushedRequests) = (true, isRequired)
            try await OAuthScene.play(configuration) { scene, server in
                let step = try await scene.ask(
                    "login.start", ["provider": .string(OAuthScene.provider), "method": "paste"])
                let (url, message) = (step["url"]?.stringValue ?? "", step["message"]?.stringValue ?? "")
                #expect(url.contains("request_uri=") == isRequired, "\(url)")
                #expect(url.contains("code_challenge=") != isRequired, "\(url)")
                #expect(message.contains("within 60 seconds") == isRequired, "\(message)")
                #expect(server.counts.pushes == (isRequired ? 1 : 0))
            }
        }
    }

    /// A key pair, by openssl: the file of the private key, and the public one.
    private func keys(_ scene: Scene, _ arguments: [String]) async throws -> (file: String, publicKey: String) {
        let file = scene.desktop.folder.path + "/client.pem"
        let made = try await scene.desktop.run(["openssl", "genpkey", "-out", file] + arguments)
        guard made.status == 0 else { throw Failure(made.err) }
        return (file, try await scene.desktop.run(["openssl", "pkey", "-in", file, "-pubout"]).out)
    }

    @Test(
        "a client that authenticates with a key (RFC 7523) keeps that key in the keyring, and signs each request",
        arguments: [
            (["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "issuer"),
            (["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "token_endpoint"),
        ])
    func clientKey(algorithm: [String], audience: String) async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.assertionAudience = audience == "issuer" ? .issuer : .tokenEndpoint
        // Proofs and assertions use the server's clock, which its responses show.
        configuration.clockAhead = .seconds(7200)
        (configuration.requiresProofs, configuration.requiresNonces) = (true, true)
        let more = """
            [oauth]
            client_auth = "private_key_jwt"
            assertion_audience = "\(audience)"
            dpop = true
            """
        try await OAuthScene.play(configuration, profile: more) { scene, server in
            let (file, publicKey) = try await keys(scene, algorithm)
            server.use(clientKey: publicKey)
            let login = "$0 login \(OAuthScene.provider) --method service --secret-fd client_key=3 3<"
            let none = try await scene.shell(login + "/dev/null")
            #expect(none.status == 64, "\(none.err)")
            let done = try await scene.shell(login + "'\(file)'")
            #expect(done.status == 0, "\(done.err)")
            #expect(try await scene.agent.authc("refresh").status == 0)
            try await scene.restart()
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(server.counts.services == 3)
            // Once more each where a nonce was wanted, and each time another assertion.
            #expect(server.counts.assertions == 3 + server.counts.nonceChallenges)
            #expect(server.counts.proofRefusals.isEmpty)
        }
    }

    @Test("an invalid key, or one that the server does not know, prevents the sign-in")
    func wrongKey() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.clientKey = "none yet"
        try await OAuthScene.play(configuration, profile: "[oauth]\nclient_auth = \"private_key_jwt\"") {
            scene, server in
            let login = ["login", OAuthScene.provider, "--method", "service", "--password-stdin"]
            let none = try await scene.authc(login, input: "no key at all")
            #expect(none.status == 65, "\(none.err)")
            #expect(none.err.contains("private key in PEM"), "\(none.err)")
            let (file, _) = try await keys(scene, ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
            let unknown = try await scene.authc(login, input: try String(contentsOfFile: file, encoding: .utf8))
            #expect(unknown.status == 65, "\(unknown.err)")
            #expect(server.counts.assertions == 0 && server.counts.services == 0)
        }
    }

    @Test("a refresh token from stdin belongs to the session from then on, and rotates")
    func imported() async throws {
        try await OAuthScene.play { scene, server in
            let login = ["login", OAuthScene.provider, "--method", "import", "--password-stdin"]
            let wrong = try await scene.authc(login, input: "no-such-token")
            #expect(wrong.status == 65, "\(wrong.err)")
            let done = try await scene.authc(login, input: server.giveRefreshToken())
            #expect(done.status == 0, "\(done.err)")
            #expect(done.err.contains("Remove the refresh token"), "\(done.err)")
            let status = try await scene.agent.status(OAuthScene.provider)
            #expect(status.user?.email == "janedoe@example.com")
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(server.counts.refreshes == 3)
            #expect(server.counts.reuses == 0)
        }
    }

    @Test("a refresh token that has rotated is kept, although the ID token that comes with the new one is not accepted")
    func importedWithoutIdentity() async throws {
        try await OAuthScene.play { scene, server in
            server.misbehave(.staleKeys)
            let login = ["login", OAuthScene.provider, "--method", "import", "--password-stdin"]
            let done = try await scene.authc(login, input: server.giveRefreshToken())
            #expect(done.status == 0 && done.err.contains("The ID token was not used."), "\(done.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.email == "janedoe@example.com")
            server.clear()
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(server.counts.reuses == 0 && server.counts.revocations == 0)
        }
    }
}
