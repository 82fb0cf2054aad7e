import AgentTestSupport
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent
@testable import AuthModel

@Suite("The metadata of an authorization server")
struct OAuthServerTests {
    private static let profile = OAuthProfile(issuer: "https://id.example.org/tenant", clientID: "authd")

    private func server(_ text: String, profile: OAuthProfile = profile) throws(MetadataError) -> OAuthServer {
        let json = (try? JSON(parsing: Array(text.utf8))) ?? .null
        return try OAuthServer(metadata: json, of: profile, mayBeInsecure: false)
    }

    @Test("metadata and keys of the same name do not take each other's place")
    func kinds() async {
        let directory = ServerMetadataCache()
        let now = ManualClock().now().boot
        let name = "https://id.example.org/keys"
        await directory.keep(["issuer": "a"], of: name, .metadata, for: nil, at: now)
        #expect(await directory.entry(of: name, .keys, at: now) == nil)
        await directory.keep(["keys": []], of: name, .keys, for: nil, at: now)
        #expect(await directory.entry(of: name, .metadata, at: now)?.document == ["issuer": "a"])
        #expect(await directory.entry(of: name, .keys, at: now)?.document == ["keys": []])
    }

    @Test("metadata that is known is used if it cannot be fetched again in five seconds, and then for five minutes")
    func stalled() async throws {
        let limits = Mutex<[Duration?]>([])
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                guard request.url.contains("/.well-known/") else { return ExampleProvider.json(200, "{}") }
                let count = limits.withLock { limits in
                    limits.append(request.limit)
                    return limits.count
                }
                // Both documents are read at first.
                if count > 2 { throw .timedOut(host: "id.example.org", after: .seconds(5)) }
                let issuer = #"{"issuer":"https://id.example.org/tenant","token_endpoint":"https://id.example.org/t"}"#
                return ExampleProvider.json(200, issuer)
            }
        ) { $0.oauth = Self.profile }
        try await example.running { sessions, _ in
            let (providers, clock) = (sessions.context.providers, example.clock)
            let profile = try #require(providers.profile(named: "example"))
            for (pause, requests) in [(0, 2), (4000, 3), (299, 3), (1, 4)] {
                clock.advance(.seconds(pause))
                let server = try await providers.server(of: profile, at: clock.now())
                #expect(server.endpoints.token == "https://id.example.org/t")
                #expect(limits.withLock { $0.count } == requests)
            }
        }
        #expect(limits.withLock { $0 } == [nil, nil, .seconds(5), .seconds(5)])
    }

    @Test("metadata is looked for where OpenID Connect Discovery §4 and RFC 8414 §3.1 have it")
    func places() {
        #expect(
            OAuthServer.places(of: "https://example.com") == [
                "https://example.com/.well-known/openid-configuration",
                "https://example.com/.well-known/oauth-authorization-server",
            ])
        #expect(
            OAuthServer.places(of: "https://example.com/issuer1/") == [
                "https://example.com/issuer1/.well-known/openid-configuration",
                "https://example.com/.well-known/oauth-authorization-server/issuer1",
                "https://example.com/.well-known/openid-configuration/issuer1",
            ])
    }

    @Test("the endpoints are those it names, and the profile's own go before them")
    func endpoints() throws {
        var profile = Self.profile
        profile.endpoints.token = "https://other.example.org/token"
        let found = try server(
            """
            {"issuer":"https://id.example.org/tenant","token_endpoint":"https://id.example.org/token",
             "device_authorization_endpoint":"https://id.example.org/device?x=1",
             "authorization_response_iss_parameter_supported":true}
            """, profile: profile)
        #expect(found.endpoints.token == "https://other.example.org/token")
        #expect(found.endpoints.deviceAuthorization == "https://id.example.org/device?x=1")
        #expect(found.endpoints.userInfo == nil)
        #expect(found.identifiesIssuer)
    }

    @Test(
        "a document with another issuer is refused, however similar it is",
        arguments: [
            "https://id.example.org/tenant/", "https://ID.example.org/tenant", "https://id.example.org", "",
            "https://id.example.org/tenant\u{301}",
        ])
    func wrongIssuer(issuer: String) {
        let json = JSON.object(["issuer": .string(issuer)]).text()
        #expect(throws: MetadataError.self) { try server(json) }
    }

    @Test(
        "an endpoint is https, or on this machine",
        arguments: [
            "http://id.example.org/token", "ftp://id.example.org/", "https://id.example.org/#a", "javascript:1",
        ])
    func insecure(endpoint: String) {
        let json = JSON.object([
            "issuer": "https://id.example.org/tenant", "token_endpoint": .string(endpoint),
        ]).text()
        #expect(throws: MetadataError.self) { try server(json) }
        #expect(OAuthServer.isEndpoint("http://127.0.0.1:8080/token", mayBeInsecure: false))
    }

    @Test(
        "a remote issuer names no endpoint of this machine and none by plain http, not even with allow_insecure_http",
        arguments: [
            "http://127.0.0.1:8080/token", "https://localhost/token", "https://[::1]:8443/token",
            "http://10.0.0.1/token", "https://localhost./token", "https://a.localhost/token", "https://127.1/token",
            "https://2130706433/token", "https://0x7f.0.0.1/token", "https://0.0.0.0/token", "https://127.0.0.1./token",
            "https://[::]/token", "https://[0::0:1]/token", "https://[::ffff:127.0.0.1]/token",
            "https://[::ffff:7f00:1]/token",
        ])
    func localEndpoint(endpoint: String) throws {
        func named(by issuer: String) -> Bool {
            let json: JSON = ["issuer": .string(issuer), "token_endpoint": .string(endpoint)]
            let profile = OAuthProfile(issuer: issuer, clientID: "authd")
            return (try? OAuthServer(metadata: json, of: profile, mayBeInsecure: true)) != nil
        }
        #expect(!named(by: "https://id.example.org/tenant"))
        // The user has chosen these.
        #expect(named(by: "http://127.0.0.1:9000"))
        #expect(named(by: "http://id.example.org"))
        for remote in [
            "https://128.0.0.1/t", "https://[2001:db8::1]/t", "https://notlocalhost/t", "https://127.example/t",
        ] {
            #expect(OAuthServer.mayName(remote, of: "https://id.example.org", mayBeInsecure: false), "\(remote)")
        }
        let client: JSON = [
            "client_id": "c", "registration_client_uri": .string(endpoint), "registration_access_token": "t",
        ]
        let remote = try RegisteredClient(client, issuer: "https://id.example.org", mayBeInsecure: true)
        #expect(remote.place == nil)
    }
}

@Suite("Forms")
struct FormTests {
    @Test("what RFC 6749 Appendix B encodes comes back as it was")
    func appendixB() {
        let fields = [FormField("x", " %&+£€")]
        #expect(Form.encode(fields) == "x=%20%25%26%2B%C2%A3%E2%82%AC")
        #expect(Form.decode(Form.encode(fields)) == fields)
        #expect(Form.decode("x=+%25%26%2B%C2%A3%E2%82%AC") == fields)
    }

    @Test("a name that comes twice has no value, and a broken escape makes no form")
    func broken() {
        #expect(Form.decode("a=1&a=2")?["a"] == nil)
        #expect(Form.decode("a=1&b=2")?["b"] == "2")
        #expect(Form.decode("a=%4") == nil)
        #expect(Form.decode("a=%FF") == nil)
    }
}
