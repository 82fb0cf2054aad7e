import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Each page of Docs/providers is followed to the letter, at a server that answers as that provider says.
@Suite("Starters for real providers", .serialized, .timeLimit(.minutes(5)))
struct ProviderQuirkTests {
    private static let secrets: Set<ProviderStandIn.Provider> = [.google, .atlassian, .notion]

    private static func page(of provider: ProviderStandIn.Provider) throws -> ProviderPage {
        try ProviderPage(provider == .microsoft ? "entra" : provider.rawValue)
    }

    private func play(
        _ provider: ProviderStandIn.Provider, tokensExpire: Bool = true,
        _ test: @escaping @Sendable (Scene, ProviderStandIn, ProviderPage) async throws -> Void
    ) async throws {
        let page = try Self.page(of: provider)
        var configuration = ProviderStandIn.Configuration()
        configuration.clientID = try #require(page.value("--client-id"))
        configuration.tokensExpire = tokensExpire
        try await ProviderStandIn.serving(provider, configuration) { server in
            try await Scene.play { scene in
                try await scene.add(page, at: server.url)
                try await test(scene, server, page)
            }
        }
    }

    private func signIn(_ scene: Scene, _ server: ProviderStandIn, _ page: ProviderPage) async throws {
        let secret = Self.secrets.contains(server.provider) ? ProviderStandIn.clientSecret : nil
        let login = try await scene.login(with: page, secret: secret)
        #expect(login.status == 0, "\(login.err)")
    }

    @Test(
        "a sign-in, two renewals and the end of the access, as the provider's page says",
        arguments: ProviderStandIn.Provider.allCases.filter { $0 != .github })
    func browser(provider: ProviderStandIn.Provider) async throws {
        try await play(provider) { scene, server, page in
            try await signIn(scene, server, page)
            let status = try await scene.agent.status(page.provider)
            #expect(status.state == .active && status.renews)
            #expect(status.user?.id == (provider == .slack ? "U1234" : "248289761001"))
            #expect(status.user?.name == "Jane Doe")
            if provider != .slack { #expect(status.user?.email == "janedoe@example.com") }
            #expect((status.expiresAt == nil) == (provider == .notion))
            var former = try await scene.agent.authc("token").out
            for number in 1...2 {
                let refresh = try await scene.agent.authc("refresh")
                #expect(refresh.status == 0, "\(refresh.err)")
                let token = try await scene.agent.authc("token").out
                #expect(token != former && server.counts.refreshes == number)
                former = token
            }
            for command in page.inlineCommands {
                let done = try await scene.type(command)
                #expect(done.status == 0, "\(command): \(done.err)")
            }
            #expect(server.counts.reuses == 0)
            // A page's command may request a token for a scope: a 401 for the session's own token counts after that.
            #expect(try await scene.agent.authc("refresh").status == 0)
            server.removeAccess()
            try await scene.expectRefusal(of: page.provider)
            try await signIn(scene, server, page)
            #expect(try await scene.agent.status(page.provider).state == .active)
            try await scene.agent.child.end()
            let log = try scene.agent.child.err.text
            for secret in server.secrets + [ProviderStandIn.clientSecret] { #expect(!log.contains(secret)) }
        }
    }

    /// Pages of providers without a deviation, at a server that follows the RFCs.
    @Test(
        "a page of a provider that follows the RFCs leads to a session that renews",
        arguments: ["auth0", "forgejo", "gitlab", "keycloak", "okta"])
    func usual(name: String) async throws {
        let page = try ProviderPage(name)
        var configuration = OAuthStandIn.Configuration()
        configuration.clientID = try #require(page.value("--client-id"))
        try await OAuthStandIn.serving(configuration) { server in
            try await Scene.play { scene in
                try await scene.add(page, at: server.issuer, issuer: server.issuer)
                let login = try await scene.login(with: page)
                #expect(login.status == 0, "\(login.err)")
                #expect(try await scene.agent.status(page.provider).user?.email == "janedoe@example.com")
                #expect(try await scene.agent.authc("refresh").status == 0)
                #expect(server.counts.refreshes == 1)
            }
        }
    }

    @Test("every page has a server in these tests")
    func complete() throws {
        let tested =
            try ProviderStandIn.Provider.allCases.map { try Self.page(of: $0).name }
            + ["auth0", "forgejo", "gitlab", "keycloak", "okta"]
        #expect(try ProviderPage.names() == tested.sorted())
    }

    // MARK: GitHub

    @Test("GitHub: pending codes and refused refresh tokens have status 200, and a used refresh token is refused")
    func gitHubApp() async throws {
        try await play(.github) { scene, server, page in
            let login = try await scene.loginByCode(server, page)
            #expect(login.status == 0, "\(login.err)")
            let status = try await scene.agent.status("github")
            #expect(status.user?.id == "248289761" && status.user?.name == "Jane Doe" && status.renews)
            #expect(status.expiresAt != nil)
            #expect(try await scene.agent.authc("refresh").status == 0)
            server.removeAccess()
            try await scene.expectRefusal(of: "github")
        }
    }

    @Test("GitHub: a wrong client ID is reported, although the answer has status 200")
    func gitHubClient() async throws {
        try await play(.github) { scene, server, page in
            let path = scene.profilePath("github")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let known = try #require(page.value("--client-id"))
            try text.replacing(known, with: "Iv1.other").write(toFile: path, atomically: true, encoding: .utf8)
            #expect(try await scene.type("authc reload").status == 0)
            let login = try await scene.authc(["login", "github"])
            #expect(login.status == 65 && login.err.contains("incorrect_client_credentials"), "\(login.err)")
            #expect(server.counts.devicePolls == 0)
        }
    }

    @Test("GitHub: the token of an OAuth App does not expire and is not renewed")
    func gitHubOAuthApp() async throws {
        try await play(.github, tokensExpire: false) { scene, server, page in
            let login = try await scene.loginByCode(server, page)
            #expect(login.status == 0, "\(login.err)")
            let status = try await scene.agent.status("github")
            #expect(status.state == .active && status.expiresAt == nil && !status.renews)
            #expect(try await scene.agent.authc("request", "GET", "/user").out.contains("jane"))
            #expect(server.counts.refreshes == 0)
        }
    }

    // MARK: Others

    @Test("Google: without consent for offline access there is no refresh token, and the session says so")
    func googleOffline() async throws {
        try await play(.google) { scene, server, page in
            let path = scene.profilePath("google")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try text.replacing("prompt = \"consent\"\n", with: "").write(
                toFile: path, atomically: true, encoding: .utf8)
            #expect(try await scene.type("authc reload").status == 0)
            try await signIn(scene, server, page)
            #expect(try await !scene.agent.status("google").renews)
        }
    }

    /// The profile of the page for a different authority than the tenant.
    private func use(_ authority: String, _ scene: Scene) async throws {
        let path = scene.profilePath("microsoft")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try text.replacing(ProviderStandIn.tenant, with: authority).write(
            toFile: path, atomically: true, encoding: .utf8)
        #expect(try await scene.type("authc reload").status == 0)
    }

    @Test(
        "Microsoft: at the authority of all tenants, each user's ID token is compared with the issuer of its tenant",
        arguments: ["common", "organizations"])
    func microsoftTenants(authority: String) async throws {
        try await play(.microsoft) { scene, server, page in
            try await use(authority, scene)
            server.inject(.wrongTenant)
            let refused = await #expect(throws: Failure.self) { try await scene.login(with: page) }
            #expect("\(String(describing: refused))".contains("another issuer"))
            try await signIn(scene, server, page)
            let status = try await scene.agent.status(page.provider)
            #expect(status.state == .active && status.user?.id == "248289761001")
            #expect(try await scene.agent.authc("refresh").status == 0)
        }
    }

    @Test(
        "Microsoft: a placeholder is accepted from the authority's own host and for several tenants only",
        arguments: ["elsewhere/common", "contoso.example"])
    func microsoftPlaceholder(authority: String) async throws {
        try await play(.microsoft) { scene, server, _ in
            try await use(authority, scene)
            let login = try await scene.authc(["login", "microsoft", "--method", "browser"])
            #expect(login.status == 76 && login.err.contains("{tenantid}"), "\(login.err)")
            #expect(server.counts.codes == 0)
        }
    }

    @Test("Microsoft: the reason of a refused renewal is shown on one line, with its code")
    func microsoftReason() async throws {
        try await play(.microsoft) { scene, server, page in
            try await signIn(scene, server, page)
            server.removeAccess()
            let refused = try await scene.expectRefusal(of: page.provider)
            #expect(refused.err.contains("AADSTS700082"), "\(refused.err)")
        }
    }

    @Test("Notion: a token without a lifetime is renewed once after a 401, and the call succeeds")
    func notionExpiry() async throws {
        try await play(.notion) { scene, server, page in
            try await signIn(scene, server, page)
            server.expireTokens()
            let call = try await scene.agent.authc("request", "GET", "/users/me")
            #expect(call.status == 0 && call.out.contains("Jane's workspace"), "\(call.err)")
            #expect(server.counts.refreshes == 1)
        }
    }

    @Test("Slack: an error of the API with status 200 is an error, and an expired token is renewed")
    func slackErrors() async throws {
        try await play(.slack) { scene, server, page in
            try await signIn(scene, server, page)
            server.expireTokens()
            let call = try await scene.agent.authc("request", "POST", "/auth.test")
            #expect(call.status == 0 && call.out.contains("U1234"), "\(call.err)\(call.out)")
            #expect(server.counts.refreshes == 1)
        }
    }
}
