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
        configuration.demandsPushedRequests = true
        try await OAuthScene.play(configuration) { scene, server in
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(server.counts.pushes == 1)
            #expect(login.err.contains("request_uri=urn"), "\(login.err)")
            #expect(!login.err.contains("code_challenge") && !login.err.contains("redirect_uri"), "\(login.err)")
        }
    }

    @Test("a request that is refused before the browser goes by the browser, and the log says so")
    func refusedPush() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.takesPushedRequests = true
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
        "where the server or the profile insists, a request that is not taken before is the end",
        arguments: [true, false])
    func demandedPush(byServer: Bool) async throws {
        var configuration = OAuthStandIn.Configuration()
        (configuration.takesPushedRequests, configuration.demandsPushedRequests) = (true, byServer)
        let more = byServer ? "" : "[oauth]\nrequire_pushed_authorization_requests = true"
        try await OAuthScene.play(configuration, profile: more) { scene, server in
            server.misbehave(.refusesPushes)
            let login = try await scene.authc(["login", OAuthScene.provider, "--method", "browser"])
            #expect(login.status == 65, "\(login.err)")
            #expect(!login.err.contains("browser: http"), "\(login.err)")
            #expect(server.counts.codes == 0)
        }
    }

    @Test("a refresh token from elsewhere comes by stdin, is the session's from then on, and rotates")
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
}
