import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The real agent with a third-party OpenID provider.
@Suite("glewlwyd", .serialized, .timeLimit(.minutes(4)))
struct GlewlwydTests {
    /// - Parameter client: `nil`: no client is registered.
    private func play(
        _ client: String?, _ oauth: String = "", _ test: @escaping @Sendable (Scene, Glewlwyd) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            let redirect = "http://127.0.0.1:\(try FreePort.find())/callback"
            try await Glewlwyd.running(in: scene.desktop, redirectURI: redirect) { server in
                try await scene.addProfile(
                    """
                    name = "\(OAuthScene.provider)"
                    title = "glewlwyd"
                    issuer = "\(server.issuer)"
                    \(client.map { "client_id = \"\($0)\"" } ?? "registration = true")
                    scopes = ["openid", "scope1"]
                    [oauth]
                    redirect = "\(redirect)"
                    \(oauth)
                    """)
                try await test(scene, server)
            }
        }
    }

    /// With the confidential client.
    private func signInOnDevice(_ scene: Scene, _ server: Glewlwyd) async throws {
        try await server.grant(client: "conf")
        let login = try await Child(
            [Programs.authc, "login", OAuthScene.provider, "--method", "device", "--password-stdin"],
            environment: scene.desktop.environment, input: .text(Glewlwyd.secret))
        await login.err.wait(for: "this code: ")
        await login.err.wait(for: "\n")
        let code = try #require(login.err.text.firstMatch(of: /this code: (\S+)/)?.1)
        try await server.give(userCode: String(code))
        let output = await login.output()
        #expect(output.status == 0, "\(output.err)")
    }

    @Test("discovery, PAR, PKCE in a real Chromium, a checked ID token, and a hundred renewals with rotation")
    func browser() async throws {
        try await play("pub") { scene, server in
            let login = try await Child(
                [Programs.authc, "login", OAuthScene.provider, "--method", "browser"],
                environment: scene.desktop.environment)
            guard await login.err.wait(for: "browser: http"), await login.err.wait(for: "\n"),
                let url = login.err.text.firstMatch(of: /browser: (\S+)/)?.1
            else { throw Failure("no address was told: \(await login.err.all())") }
            #expect(url.contains("request_uri=") && !url.contains("code_challenge"), "\(url)")
            try await Chromium.running(in: scene.desktop) { browser in
                // The provider's own page is first; the user signs in and approves there.
                try await browser.open(String(url))
                #expect(try await browser.script("return location.pathname") as? String == "/login.html")
                for (method, path, body) in [
                    ("POST", "/api/auth/", #"{"username":"alice","password":"alicepw12"}"#),
                    ("PUT", "/api/auth/grant/pub", #"{"scope":"openid scope1"}"#),
                ] {
                    let status = try await browser.script(
                        """
                        const r = new XMLHttpRequest(); r.open('\(method)', '\(path)', false);
                        r.setRequestHeader('Content-Type', 'application/json'); r.send('\(body)'); return r.status
                        """)
                    #expect(status as? Int == 200, "\(path)")
                }
                try await browser.open(url + "&g_continue")
                #expect(try await browser.title() == "Signed in to glewlwyd")
            }
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            let subject = try await scene.agent.status(OAuthScene.provider).user?.id
            #expect(subject?.isEmpty == false)
            var tokens: Set<String> = [try await scene.agent.authc("token").out]
            for _ in 0..<100 {
                let answer = try await scene.ask("session.refresh", [:])
                #expect(answer["state"] == "active", "\(answer.text())")
                tokens.insert(try await scene.agent.authc("token").out)
            }
            #expect(tokens.count == 101)
            #expect(try await scene.agent.status(OAuthScene.provider).user?.id == subject)
        }
    }

    @Test("a client registers itself although a grant has another name there, and renews with it")
    func registered() async throws {
        try await play(nil, "client_auth = \"basic\"") { scene, server in
            let (login, url) = try await scene.beginInBrowser()
            let client = try #require(url.firstMatch(of: /client_id=([^&]+)/)?.1)
            try await server.grant(client: String(client))
            #expect(try await server.visit(url).contains("Signed in to glewlwyd"))
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("logout").status == 0)
        }
    }

    @Test("a code on another device, introspection that agrees with us, and revocation, all with tokens bound to a key")
    func device() async throws {
        try await play("conf", "client_auth = \"basic\"\ndpop = true") { scene, server in
            try await signInOnDevice(scene, server)
            #expect(try await scene.ask("token.get", [:])["token_type"] == "DPoP")
            let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(try await server.isActive(token))
            #expect(try await scene.agent.authc("whoami", "--fresh").status == 0)
            #expect(try await scene.agent.authc("refresh").status == 0)
            let next = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(next != token)
            let logout = try await scene.agent.authc("logout")
            #expect(logout.status == 0, "\(logout.err)")
            #expect(!(logout.out + logout.err).contains("could not be notified"), "\(logout.out)\(logout.err)")
            #expect(try await !server.isActive(next))
        }
    }

    @Test("a proxy proves the key with each request to a resource of glewlwyd, which accepts the token in no other way")
    func proxy() async throws {
        try await play("conf", "client_auth = \"basic\"\ndpop = true") { scene, server in
            try await signInOnDevice(scene, server)
            let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
            for scheme in ["Bearer", "DPoP"] {
                let bare = try await scene.desktop.run([
                    "curl", "--silent", "--include", "--noproxy", "*", "--header",
                    "Authorization: \(scheme) \(token)", server.issuer + "/userinfo",
                ])
                #expect(bare.out.hasPrefix("HTTP/1.1 401"), "\(bare.out)")
            }
            let command = [Programs.authc, "proxy", "-s", OAuthScene.provider, "--to", server.issuer]
            try await scene.proxy(command) { proxy in
                for options in [[], ["--data", "a=b"], []] {
                    let user = try await proxy.curl("/api/oidc/userinfo", options)
                    #expect(user.hasPrefix("HTTP/1.1 200") && user.contains("\"sub\""), "\(user)")
                }
            }
        }
    }
}
