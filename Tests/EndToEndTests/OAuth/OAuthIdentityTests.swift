import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The user that signed in, and how a session ends: the real programs against an authorization server that misbehaves on order.
@Suite("OpenID Connect: who that is, and the end of it", .serialized, .timeLimit(.minutes(3)))
struct OAuthIdentityTests {
    @Test("an invalid ID token prevents the sign-in")
    func distrusted() async throws {
        try await OAuthScene.play { scene, server in
            for (fault, words) in [
                (OAuthStandIn.Fault.wrongNonce, "another sign-in"), (.wrongAudience, "another client"),
                (.wrongTokenHash, "another access token"), (.unsigned, "none"), (.signedWithName, "HS256"),
                (.staleKeys, "none of its keys"), (.noIDToken, "no ID token"),
            ] {
                server.misbehave(fault)
                let output = try await scene.loginByBrowser()
                #expect(output.status == 76, "\(fault): \(output.err)")
                #expect(output.err.contains(words), "\(fault): \(output.err)")
                let sessions = try await SessionList(scene.agent.json("list")).sessions
                #expect(sessions.isEmpty)
                server.clear()
            }
            // Both tokens of each.
            #expect(try await until { server.counts.revocations == 14 })
            #expect(try await scene.loginByBrowser().status == 0)
        }
    }

    @Test("an ID token is checked against its server's clock, which its responses show", arguments: [7200.0, -7200.0])
    func otherClock(seconds: Double) async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.clockAhead = .seconds(seconds)
        try await OAuthScene.play(configuration) { scene, _ in
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.email == "janedoe@example.com")
        }
    }

    @Test("keys are fetched again after a rollover, and only then")
    func rollover() async throws {
        try await OAuthScene.play { scene, server in
            for name in ["one", "two"] {
                let login = try await scene.loginByBrowser(["-s", name])
                #expect(login.status == 0, "\(login.err)")
            }
            #expect(server.counts.keyAnswers == 1)
            await server.rollKeys()
            #expect(try await scene.loginByBrowser(["-s", "three"]).status == 0)
            #expect(server.counts.keyAnswers == 2)
        }
    }

    @Test("UserInfo about another user is not used")
    func otherUserInfo() async throws {
        try await OAuthScene.play { scene, server in
            server.misbehave(.otherUserInfo)
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.id == "248289761001")
        }
    }

    @Test("the same user may sign in again, another may not, and the session stays")
    func again() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            #expect(try await scene.loginByBrowser().status == 0)
            server.use(.init(subject: "2", name: "Mallory", email: "mallory@example.com"))
            let other = try await scene.loginByBrowser()
            #expect(other.status == 65, "\(other.err)")
            #expect(other.err.contains("janedoe@example.com") && other.err.contains("mallory@example.com"))
            let byDevice = try await scene.loginByDevice(server)
            #expect(byDevice.status == 65, "\(byDevice.err)")
            #expect(try await scene.agent.status(OAuthScene.provider).user?.email == "janedoe@example.com")
            #expect(try await scene.loginByBrowser(["-s", "second"]).status == 0)
            server.use(.init(subject: "248289761001", name: "Jane Doe", email: "janedoe@example.com"))
            #expect(try await scene.agent.authc("refresh", "-s", OAuthScene.provider).status == 0)
        }
    }

    @Test("a sign-out revokes both tokens, and reports how to end the browser's session")
    func revoked() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            #expect(server.goodTokens.count == 2)
            let logout = try await scene.agent.authc("logout")
            #expect(logout.status == 0, "\(logout.err)")
            #expect(
                (logout.out + logout.err).contains("\(server.issuer)/end?client_id=authd-test&logout_hint=248289761001")
            )
            #expect(server.counts.revocations == 2)
            #expect(server.goodTokens.isEmpty)
            let items = try await scene.desktop.keyringItems()
            #expect(items.isEmpty)
        }
    }

    @Test("a sign-out without the provider is local, and reports what is still valid there")
    func unrevoked() async throws {
        try await OAuthScene.play { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            server.misbehave(.revokesNothing)
            let logout = try await scene.agent.authc("logout")
            #expect(logout.status == 0, "\(logout.err)")
            let words = logout.out + logout.err
            #expect(words.contains("could not be notified") && words.contains("the refresh token"), "\(words)")
            #expect(server.goodTokens.count == 2)
            let items = try await scene.desktop.keyringItems()
            #expect(items.isEmpty)
        }
    }

    @Test("a hundred programs that ask when the token has just ended are one call, and none is refused")
    func hundred() async throws {
        var configuration = OAuthStandIn.Configuration()
        configuration.tokenLifetime = .seconds(2)
        try await OAuthScene.play(configuration) { scene, server in
            #expect(try await scene.loginByBrowser().status == 0)
            server.setTokenLifetime(.seconds(3600))
            let watch = try await Child([Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            await watch.out.wait(for: "\"stale\"")
            await watch.end()
            #expect(server.counts.refreshes == 0)
            let path = scene.desktop.folder.path + "/run/authd/socket"
            let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
                for _ in 0..<100 {
                    group.addTask {
                        try await onThread {
                            let answer = try RawClient(path, timeout: 60).ask("token.get", [:])
                            return (answer["result"] ?? answer)["access_token"]?.stringValue
                        }
                    }
                }
                return try await group.reduce(into: [String?]()) { $0.append($1) }
            }
            #expect(tokens.count == 100)
            #expect(tokens.allSatisfy { $0 != nil })
            #expect(Set(tokens).count == 1)
            #expect(server.counts.refreshes == 1)
            #expect(server.counts.reuses == 0)
        }
    }
}

extension Scene {
    /// The quickest way in, for what is not about ways in.
    func signInByBrowser() async throws {
        let login = try await loginByBrowser()
        guard login.status == 0 else { throw Failure("no sign-in: \(login.err)") }
    }

    /// Signs in by a browser, of which curl plays the part.
    func loginByBrowser(_ arguments: [String] = []) async throws -> Child.Output {
        try await visit([OAuthScene.provider, "--method", "browser"] + arguments)
    }

    /// A sign-in with a browser.
    /// - Parameter variables: of the environment, besides the desktop's.
    func visit(_ arguments: [String], _ variables: [String: String] = [:]) async throws -> Child.Output {
        let login = try await Child(
            [Programs.authc, "login"] + arguments,
            environment: desktop.environment.merging(variables) { $1 })
        guard await login.err.wait(for: ": http"), await login.err.wait(for: "\n"),
            let url = login.err.text.firstMatch(of: /: (http\S+)/)?.1
        else { throw Failure("no address was told: \(await login.err.all())") }
        let parts = url.split(separator: "?", maxSplits: 1)
        _ = try await desktop.run([
            "curl", "--silent", "--location", "--noproxy", "*", "--max-time", "30", "--data", String(parts[1]),
            String(parts[0]),
        ])
        return await login.output()
    }
}
