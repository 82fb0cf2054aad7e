import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc login --from` with third-party authorization servers.
@Suite("The browser of another machine, at third-party servers", .serialized, .timeLimit(.minutes(4)))
struct RemoteSignInPeerTests {
    private static func profile(_ issuer: String, _ client: String, _ scopes: String, _ redirect: String) -> String {
        """
        name = "\(OAuthScene.provider)"
        title = "Peer"
        issuer = "\(issuer)"
        client_id = "\(client)"
        scopes = [\(scopes)]
        [oauth]
        redirect = "\(redirect)"
        """
    }

    /// The servers compare the redirect exactly, so it has a fixed port.
    private static func redirect() throws -> String { "http://127.0.0.1:\(try FreePort.find())/callback" }

    @Test("at glewlwyd: the laptop pushes the request, the host exchanges the code and renews; and with a device code")
    func glewlwyd() async throws {
        let desktop = try await Desktop()
        let redirect = try Self.redirect()
        let result: Result<Void, any Error>
        do {
            try await Glewlwyd.running(in: desktop, redirectURI: redirect) { server in
                let profile = Self.profile(server.issuer, "pub", "\"openid\", \"scope1\"", redirect)
                try await server.grant(client: "pub")
                try await TwoMachines.play(profile: profile) { machines in
                    let login = try await machines.login()
                    let url = try await machines.allow()
                    #expect(url.contains("request_uri=") && !url.contains("code_challenge"), "\(url)")
                    #expect(try await server.visit(url).contains("Continue on the other machine"))
                    let output = await login.output()
                    #expect(output.status == 0, "\(output)")
                    try await expectRenewal(machines)
                    // Only the client itself could have it introspected, and a public one cannot.
                    let user = server.issuer + "/userinfo"
                    #expect(try await desktop.status(of: user, token: token(machines)) == "200")
                    #expect(try await desktop.status(of: user, token: "other") == "401")
                    // Another session, with a code.
                    let other = try await machines.login(["--device", "-s", "other"])
                    _ = try await machines.question(2)
                    try await machines.answer("once", to: 2)
                    await other.err.wait(for: "this code: ")
                    await other.err.wait(for: "\n", times: 2)
                    let code = try #require(other.err.text.firstMatch(of: /this code: (\S+)/)?.1)
                    try await server.give(userCode: String(code))
                    let second = await other.output()
                    #expect(second.status == 0, "\(second)")
                    #expect(try await machines.host.agent.status("other").state == .active)
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await desktop.end()
        try result.get()
    }

    @Test("at django-oauth-toolkit: the token has the narrowed scopes, and renewing it does not widen them")
    func django() async throws {
        let desktop = try await Desktop()
        let redirect = try Self.redirect()
        let result: Result<Void, any Error>
        do {
            try await Peer.running(.django, [redirect], in: desktop) { server in
                let profile = Self.profile(server.url + "/o", "native", "\"openid\", \"read\", \"write\"", redirect)
                let rules = "sign_in_providers = [\"\(OAuthScene.provider)\"]\nsign_in_scopes = [\"openid\", \"read\"]"
                try await TwoMachines.play(rules: rules, profile: profile) { machines in
                    let login = try await machines.login()
                    let url = try await machines.allow()
                    // Alice's browser consents by itself.
                    let page = try await machines.laptop.get(url)
                    #expect(page.contains("Continue on the other machine"), "\(page)")
                    let output = await login.output()
                    #expect(output.status == 0 && output.err.contains("write"), "\(output)")
                    for isRenewed in [false, true] {
                        if isRenewed { try await expectRenewal(machines) }
                        let scopes = try await machines.host.agent.status(OAuthScene.provider).scopes
                        #expect(scopes.map(Set.init) == ["openid", "read"])
                        let token = try await token(machines)
                        #expect(try await desktop.status(of: server.url + "/api/read", token: token) == "200")
                        #expect(try await desktop.status(of: server.url + "/api/write", token: token) == "403")
                    }
                }
            }
            result = .success(())
        } catch {
            result = .failure(error)
        }
        await desktop.end()
        try result.get()
    }

    private func token(_ machines: TwoMachines) async throws -> String {
        try await machines.host.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private func expectRenewal(_ machines: TwoMachines) async throws {
        let before = try await token(machines)
        let renewed = try await machines.host.agent.authc("refresh")
        #expect(renewed.status == 0, "\(renewed)")
        #expect(try await token(machines) != before)
        let sessions = try await SessionList(machines.laptop.agent.json("list")).sessions
        #expect(sessions.isEmpty)
    }
}
