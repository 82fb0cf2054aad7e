import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Profiles of OAuth providers")
struct OAuthProfileTests {
    private static let five = """
        name = "example"
        title = "Example"
        issuer = "https://id.example.org/"
        client_id = "authd"
        scopes = ["openid", "offline_access"]

        """

    private func problems(_ text: String) -> [String] {
        guard case .failure(let failure) = ReadingResult.profile(text, source: "mine.toml") else { return [] }
        return failure.problems.map(\.description)
    }

    @Test("five lines are a profile")
    func fiveLines() throws {
        let profile = try ProfileReader.read(Self.five, source: "mine.toml")
        let oauth = try #require(profile.oauth)
        #expect(oauth.issuer == "https://id.example.org/")
        #expect(oauth.clientID == "authd")
        #expect(oauth.scopes == ["openid", "offline_access"])
        #expect(oauth.clientAuthentication == .none)
        #expect(profile.environments == [ProviderEnvironment(name: "production", baseURL: "https://id.example.org")])
        #expect(profile.signIn.map(\.name) == ["browser", "device", "paste", "import"])
        #expect(profile.signIn.contains { $0.flow == .device && $0.fields.isEmpty })
    }

    @Test("a provider without discovery has its endpoints in the profile, and its client's secret is requested")
    func explicit() throws {
        let text = """
            name = "example"
            client_id = "authd"
            [environments]
            production = "https://api.example.org/v3"
            [oauth]
            client_auth = "basic"
            token_endpoint = "https://example.org/token"
            device_authorization_endpoint = "https://example.org/device"
            [oauth.parameters]
            audience = "https://api.example.org"
            """
        let profile = try ProfileReader.read(text, source: "mine.toml")
        let oauth = try #require(profile.oauth)
        #expect(oauth.issuer == nil)
        #expect(oauth.endpoints.token == "https://example.org/token")
        #expect(oauth.parameters == [FormField("audience", "https://api.example.org")])
        #expect(profile.environments[0].baseURL == "https://api.example.org/v3")
        #expect(profile.signIn.map(\.flow).contains(.service))
        #expect(profile.signIn[0].fields.map(\.name) == ["client_secret"])
        #expect(profile.signIn[0].fields[0].secret)
    }

    @Test(
        "without discovery, a profile has the sign-in methods whose endpoints it names",
        arguments: [
            (["device_authorization"], ["device", "import"]), (["authorization"], ["browser", "paste", "import"]),
            (["device_authorization", "authorization"], ["browser", "device", "paste", "import"]), ([], ["import"]),
        ])
    func methods(endpoints: [String], methods: [String]) throws {
        let text = """
            name = "example"
            client_id = "authd"
            [environments]
            production = "https://api.example.org"
            [oauth]
            token_endpoint = "https://example.org/token"

            """
        let lines = endpoints.map { "\($0)_endpoint = \"https://example.org/\($0)\"\n" }.joined()
        let profile = try ProfileReader.read(text + lines, source: "mine.toml")
        #expect(profile.signIn.map(\.name) == methods)
    }

    @Test("a profile says how a token endpoint deviates from RFC 6749, and mistakes in it are reported")
    func tokenEndpoint() throws {
        let text =
            Self.five + """
                [oauth]
                token_request = "json"
                token_objects = ["/authed_user", ""]
                bearer_types = ["user"]
                final_codes = ["invalid_refresh_token"]
                """
        let rules = try #require(try ProfileReader.read(text, source: "mine.toml").oauth).tokenEndpoint
        #expect(rules.acceptsJSON && rules.tokenObjects.map(\.text) == ["/authed_user", ""])
        #expect(rules.bearerTypes == ["user"] && rules.finalCodes == ["invalid_refresh_token"])
        #expect(try ProfileReader.read(Self.five, source: "mine.toml").oauth?.tokenEndpoint == .init())
        #expect(
            problems(
                Self.five + """
                    [oauth]
                    dpop = true
                    token_request = "xml"
                    token_objects = ["authed_user"]
                    bearer_types = ["DPoP", "a b"]
                    final_codes = 7
                    """) == [
                    "mine.toml:8: oauth.token_request: expected one of form, json, found xml",
                    "mine.toml:9: oauth.token_objects[0]: expected a JSON Pointer such as /session/token (RFC 6901), "
                        + "found authed_user",
                    "mine.toml:10: oauth.bearer_types: expected nothing: dpop binds the tokens to a key, found one",
                    "mine.toml:10: oauth.bearer_types[0]: expected a type of tokens that are sent as Bearer, found DPoP",
                    "mine.toml:10: oauth.bearer_types[1]: expected a type of tokens that are sent as Bearer, found a b",
                    "mine.toml:11: oauth.final_codes: expected a text or a list of texts, found integer",
                ])
    }

    @Test("a profile may bind tokens to a key, authenticate with a key, and require pushed requests")
    func keys() throws {
        let text =
            Self.five + """
                [oauth]
                client_auth = "private_key_jwt"
                client_key_id = "k1"
                assertion_audience = "token_endpoint"
                dpop = true
                resource = "https://api.example.org/mcp"
                targeted_tokens = false
                require_pushed_authorization_requests = true
                """
        let profile = try ProfileReader.read(text, source: "mine.toml")
        let oauth = try #require(profile.oauth)
        #expect(oauth.clientAuthentication == .privateKey && oauth.keyID == "k1")
        #expect(oauth.assertionAudience == .tokenEndpoint)
        #expect(oauth.bindsTokens && oauth.requiresPushedRequests)
        #expect(oauth.resource == "https://api.example.org/mcp" && !oauth.givesTargetedTokens)
        #expect(profile.signIn[0].fields.map(\.name) == ["client_key"])
        let usual = try #require(try ProfileReader.read(Self.five, source: "mine.toml").oauth)
        #expect(!usual.bindsTokens && !usual.requiresPushedRequests && usual.assertionAudience == .issuer)
    }

    @Test("a profile without a client_id may register the client, and needs no secret then")
    func registration() throws {
        let text = Self.five.replacing(#"client_id = "authd""#, with: "registration = true")
        let profile = try ProfileReader.read(text + "[oauth]\nclient_auth = \"post\"", source: "mine.toml")
        #expect(profile.oauth?.registers == true)
        #expect(profile.signIn.allSatisfy { method in !method.fields.contains { $0.name == "client_secret" } })
        #expect(!profile.signIn.contains { $0.flow == .service })
        #expect(problems(Self.five + "registration = true").contains { $0.contains("client_id: expected nothing") })
        #expect(problems(Self.five.replacing(#"client_id = "authd""#, with: "")).contains { $0.contains("client_id") })
        let key = text + "[oauth]\nclient_auth = \"private_key_jwt\""
        #expect(problems(key).contains { $0.contains("oauth.client_auth: expected none, basic or post") })
    }

    @Test(
        "mistakes are reported",
        arguments: [
            (#"issuer = "http://id.example.org""#, "mine.toml:3: issuer: expected an https address"),
            (#"issuer = "https://id.example.org/?a""#, "mine.toml:3: issuer: expected an https address"),
            ("", "mine.toml:1: issuer: expected the provider's issuer"),
            ("issuer = 7", "mine.toml:3: issuer: expected a text"),
        ])
    func wrongIssuer(line: String, expected: String) {
        let text = Self.five.replacing(#"issuer = "https://id.example.org/""#, with: line)
        #expect(
            problems(text).contains { $0.hasPrefix(expected) || (line.isEmpty && $0.contains("issuer: expected the")) })
    }

    @Test(
        "keys that have no meaning there are named",
        arguments: [
            ("[renewal]\nkind = \"none\"\n", "renewal: expected nothing: a client_id"),
            ("[oauth]\nclient_secret = \"s\"\n", "client_secret"),
            ("[oauth]\nclient_auth = \"jwt\"\n", "one of none, basic"),
            ("[oauth.parameters]\nstate = \"s\"\n", "a parameter that the agent does not set itself"),
            ("[oauth.parameters]\nresource = \"https://a.example\"\n", "expected the key resource in [oauth]"),
            ("[oauth]\nresource = \"api\"\n", "oauth.resource: expected the whole http or https address"),
            ("[oauth]\nresource = \"https://a.example/#b\"\n", "oauth.resource: expected the whole"),
            ("[oauth]\ntoken_endpoint = \"http://example.org/\"\n", "an https address"),
        ])
    func strangers(more: String, expected: String) {
        #expect(problems(Self.five + more).contains { $0.contains(expected) }, "\(problems(Self.five + more))")
    }

    @Test("the redirect leads to this machine, optionally with TLS, or to a private scheme")
    func redirect() throws {
        func read(_ oauth: String) throws -> OAuthProfile? {
            try ProfileReader.read(Self.five + "[oauth]\n" + oauth, source: "mine.toml").oauth
        }
        let made = try #require(try read(#"redirect = "https://127.0.0.1/callback""#))
        #expect(made.redirect.isSecurePage && made.tlsIdentity == nil)
        let own = try read(
            """
            redirect = "https://localhost:8443/"
            redirect_certificate = "/a.pem"
            redirect_key = "/b.pem"
            """)
        #expect(own?.tlsIdentity == TLSIdentityFiles(certificate: "/a.pem", key: "/b.pem"))
        let scheme = try read(#"redirect = "com.example.app:/callback""#)
        #expect(scheme?.redirect.uri == "com.example.app:/callback")
    }

    @Test(
        "a redirect to another machine, and files without a TLS redirect, are reported",
        arguments: [
            (#"redirect = "myapp:/callback""#, "oauth.redirect: expected an address of this machine"),
            (#"redirect_certificate = "/a.pem""#, "oauth.redirect_certificate: expected nothing"),
            ("redirect = \"https://localhost/\"\nredirect_key = \"/b\"", "oauth.redirect_certificate: expected a file"),
            (
                "redirect = \"https://localhost/\"\nredirect_key = \"b\"\nredirect_certificate = \"/a\"",
                "oauth.redirect_key: expected an absolute path"
            ),
        ])
    func wrongRedirect(oauth: String, expected: String) {
        let text = Self.five + "[oauth]\n" + oauth
        #expect(problems(text).contains { $0.contains(expected) }, "\(problems(text))")
    }

    @Test("a scope has no spaces")
    func scope() {
        let text = Self.five.replacing("offline_access", with: "a b")
        #expect(problems(text).contains { $0.contains("scopes[1]: expected one scope") })
    }
}
