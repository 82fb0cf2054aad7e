import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A provider that registers us itself (RFC 7591), with the real programs and keyring.
@Suite("OAuth: a client that registers itself", .serialized, .timeLimit(.minutes(1)))
struct OAuthRegistrationTests {
    private static var registering: OAuthStandIn.Configuration {
        var configuration = OAuthStandIn.Configuration()
        configuration.registersClients = true
        return configuration
    }

    @Test("it is registered once, is that for every session and after a sign-out, and renews as that after a restart")
    func once() async throws {
        let more = "[oauth]\nclient_auth = \"basic\""
        try await OAuthScene.play(Self.registering, profile: more) { scene, server in
            for name in ["one", "two"] {
                let login = try await scene.loginByBrowser(["-s", name])
                #expect(login.status == 0, "\(login.err)")
            }
            #expect(server.counts.registrations == 1)
            try await scene.restart()
            for name in ["one", "two"] {
                #expect(try await scene.authc(["refresh", "-s", name]).status == 0)
                #expect(try await scene.authc(["logout", "-s", name]).status == 0)
            }
            #expect(server.counts.refreshes == 2 && server.goodTokens.isEmpty)
            #expect(try await scene.loginByDevice(server).status == 0)
            #expect(server.counts.registrations == 1)
            try await scene.agent.child.end()
            let log = try scene.agent.child.err.text
            for secret in server.secrets { #expect(!log.contains(secret), "a secret stands in the log") }
        }
    }

    @Test(
        "a provider that has forgotten the client registers it again, before or after a refusal",
        arguments: [true, false])
    func fromScratch(isToldOf: Bool) async throws {
        try await OAuthScene.play(Self.registering) { scene, server in
            if !isToldOf { server.misbehave(.omitsRegistrationURI) }
            #expect(try await scene.loginByDevice(server).status == 0)
            server.forgetClient()
            let stale = try await scene.authc(["refresh"])
            #expect(stale.status != 0)
            #expect(try await scene.agent.status(OAuthScene.provider).state == .active)
            let again = isToldOf ? try await scene.loginByBrowser() : try await scene.loginByDevice(server)
            #expect(again.status == 0, "\(again.err)")
            #expect(server.counts.registrations == 2)
            #expect(try await scene.authc(["refresh"]).status == 0)
        }
    }

    @Test("two first sign-ins at once are one registration")
    func atOnce() async throws {
        try await OAuthScene.play(Self.registering) { scene, server in
            server.holdRegistrations(true)
            var logins: [Child] = []
            for name in ["one", "two"] {
                logins.append(
                    try await Child(
                        [Programs.authc, "login", OAuthScene.provider, "--method", "device", "-s", name],
                        environment: scene.desktop.environment))
            }
            let watch = try await Child([Programs.authc, "watch", "--json"], environment: scene.desktop.environment)
            for name in ["one", "two"] { await watch.out.wait(for: "\"session\":\"\(name)\"") }
            await watch.end()
            try await server.waitForCounts { $0.registrationRequests >= 1 }
            server.holdRegistrations(false)
            for login in logins { #expect(try await scene.giveCode(of: login, to: server).status == 0) }
            #expect(server.counts.registrations == 1)
            for name in ["one", "two"] { #expect(try await scene.authc(["refresh", "-s", name]).status == 0) }
        }
    }

    @Test("a provider that does not support all grants gets a second registration, for those that it supports")
    func fewerGrants() async throws {
        var configuration = Self.registering
        configuration.grantTypes = ["authorization_code", "refresh_token", "implicit"]
        try await OAuthScene.play(configuration) { scene, server in
            let login = try await scene.loginByBrowser()
            #expect(login.status == 0, "\(login.err)")
            #expect(server.counts.registrationRequests == 2 && server.counts.registrations == 1)
            #expect(try await scene.authc(["refresh"]).status == 0)
        }
    }

    @Test("a provider without registration is reported")
    func unsupported() async throws {
        try await OAuthScene.play { scene, server in
            try await scene.addProfile(
                """
                name = "stranger"
                issuer = "\(server.issuer)"
                registration = true
                """, named: "stranger")
            let login = try await scene.authc(["login", "stranger", "--method", "device"])
            #expect(login.status != 0)
            #expect(login.err.contains("registers no clients"), "\(login.err)")
        }
    }
}
