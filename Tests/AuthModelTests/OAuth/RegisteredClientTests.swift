import AuthModel
import AuthWire
import Testing

@Suite("A registered client is used again only for what it was registered with (RFC 7591)")
struct RegisteredClientTests {
    private static let issuer = "https://id.example.org"
    private static let now = WallTime(unixSeconds: 1_800_000_000)

    private static func redirect(_ text: String) throws -> RedirectTarget { try #require(RedirectTarget(text)) }

    private static func profile(
        _ change: (inout OAuthProfile) throws -> Void = { _ in }
    ) throws -> OAuthProfile {
        var profile = OAuthProfile(issuer: issuer, clientID: "", scopes: ["read", "write"])
        try change(&profile)
        return profile
    }

    /// The client that was registered for a profile, when its sign-in had bound this redirect.
    private static func client(
        _ profile: OAuthProfile, at redirect: String = "http://127.0.0.1:4711/callback",
        _ members: JSONObject = ["client_id": "c1"]
    ) throws -> RegisteredClient {
        var client = try RegisteredClient(.object(members), issuer: issuer, mayBeInsecure: false)
        var bound = profile
        bound.redirect = try Self.redirect(redirect)
        client.request = RegisteredClient.Request(bound)
        return client
    }

    private static func isUsable(_ client: RegisteredClient, for profile: OAuthProfile) -> Bool {
        client.isUsable(at: issuer, for: profile, now)
    }

    @Test("the same profile, and the same scopes in another order")
    func same() throws {
        let profile = try Self.profile()
        let client = try Self.client(profile)
        #expect(Self.isUsable(client, for: profile))
        #expect(try Self.isUsable(client, for: Self.profile { $0.scopes = ["write", "read"] }))
        var unknown = client
        unknown.request = nil
        #expect(!Self.isUsable(unknown, for: profile))
    }

    @Test(
        "not if the profile has another redirect: path, host, scheme, or a fixed port that is not the registered one",
        arguments: [
            ("http://127.0.0.1/callback", true), ("http://127.0.0.1:4711/callback", true),
            ("http://127.0.0.1:4712/callback", false), ("http://127.0.0.1/other", false),
            ("http://localhost/callback", false), ("https://127.0.0.1/callback", false),
            ("com.example.app:/callback", false),
        ])
    func redirect(text: String, isUsable: Bool) throws {
        let client = try Self.client(Self.profile())
        let changed = try Self.profile { $0.redirect = try Self.redirect(text) }
        #expect(Self.isUsable(client, for: changed) == isUsable)
    }

    @Test("not if the profile has another address with a private scheme")
    func scheme() throws {
        let profile = try Self.profile { $0.redirect = try Self.redirect("com.example.app:/callback") }
        let client = try Self.client(profile, at: "com.example.app:/callback")
        #expect(Self.isUsable(client, for: profile))
        let changed = try Self.profile { $0.redirect = try Self.redirect("com.example.app:/other") }
        #expect(!Self.isUsable(client, for: changed))
    }

    @Test("not with more scopes or fewer, another client authentication, or tokens bound to a key or not")
    func request() throws {
        let client = try Self.client(Self.profile())
        let changes: [(inout OAuthProfile) -> Void] = [
            { $0.scopes = ["read", "write", "admin"] }, { $0.scopes = ["read"] },
            { $0.clientAuthentication = .basic }, { $0.bindsTokens = true },
        ]
        for (index, change) in changes.enumerated() {
            #expect(try !Self.isUsable(client, for: Self.profile(change)), "\(index)")
        }
        let bound = try Self.profile { $0.bindsTokens = true }
        #expect(try Self.isUsable(Self.client(bound), for: bound))
        #expect(try !Self.isUsable(Self.client(bound), for: Self.profile()))
    }

    @Test("not at another server, nor if its secret ends during the sign-in")
    func server() throws {
        let profile = try Self.profile()
        #expect(try !Self.client(profile).isUsable(at: "https://other.example.org", for: profile, Self.now))
        let end = Self.now + AuthorizationAttempt.timeout
        for (seconds, isUsable) in [(0.0, false), (1.0, true)] {
            let client = try Self.client(
                profile,
                [
                    "client_id": "c1", "client_secret": "s",
                    "client_secret_expires_at": .number(end.unixSeconds + seconds),
                ])
            #expect(Self.isUsable(client, for: profile) == isUsable)
        }
    }
}
