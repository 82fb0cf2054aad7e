import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Whether and for what the browser is lent to another machine")
struct LendOfferTests {
    private static let issuer = "https://id.example"

    private static func profile(_ name: String, _ change: (inout OAuthProfile) -> Void = { _ in }) throws
        -> ProviderProfile
    {
        var oauth = OAuthProfile(issuer: issuer, clientID: "authd", scopes: ["openid", "read"])
        change(&oauth)
        return try Sample.profile { profile in
            profile = ProviderProfile(
                name: name, title: name, source: "test", environments: profile.environments,
                defaultEnvironment: profile.defaultEnvironment, signIn: oauth.methods, renewal: profile.renewal)
            profile.oauth = oauth
        }
    }

    private static func call(_ scopes: [String] = ["openid", "read"], issuer: String? = issuer) -> LoginLend {
        var call = LoginLend(host: "build", issuer: issuer, clientID: "authd", scopes: scopes)
        call.device = true
        return call
    }

    private static func offer(
        _ call: LoginLend, scopes: Set<String>? = nil, providers: Set<String> = ["corp"],
        _ profiles: [ProviderProfile]? = nil
    ) throws -> LendOffer {
        var rules = ListenerRules()
        (rules.signInProviders, rules.signInScopes) = (providers, scopes)
        return try LendOffer(call, by: rules, at: .extra, in: ProfileCatalog(try profiles ?? [profile("corp")]))
    }

    private static func cause(_ body: @autoclosure () throws -> LendOffer) -> String? {
        #expect(throws: AgentError.self) { _ = try body() }?.cause
    }

    @Test("scopes are those that are wanted and allowed: by the settings, otherwise by the profile of this machine")
    func scopes() throws {
        #expect(try Self.offer(Self.call()).oauth.scopes == ["openid", "read"])
        #expect(try Self.offer(Self.call(["read", "admin"])).oauth.scopes == ["read"])
        #expect(try Self.offer(Self.call(["read", "admin"]), scopes: ["admin", "openid"]).oauth.scopes == ["admin"])
        // Without scopes, a provider may grant all that it has.
        #expect(try Self.offer(Self.call([]), scopes: ["read", "write"]).oauth.scopes == ["read"])
        let bare = try Self.profile("corp") { $0.scopes = [] }
        #expect(try Self.offer(Self.call([]), scopes: ["read", "write"], [bare]).oauth.scopes == ["read", "write"])
        #expect(try Self.offer(Self.call([]), [bare]).oauth.scopes == [])
        #expect(Self.cause(try Self.offer(Self.call(["admin"]))) == "sign_in_scopes")
        #expect(Self.cause(try Self.offer(Self.call(["read"]), scopes: [])) == "sign_in_scopes")
        #expect(Self.cause(try Self.offer(Self.call(["read"]), [bare])) == "sign_in_scopes")
        // An empty list allows nothing. A request without scopes could get more.
        #expect(Self.cause(try Self.offer(Self.call([]), scopes: [], [bare])) == "sign_in_scopes")
    }

    @Test("the requested scopes have the bytes of this machine, each once, whatever the other machine wrote")
    func words() throws {
        let profile = try Self.profile("corp") { $0.scopes = ["caf\u{E9}", "read", "read"] }
        let scopes = try Self.offer(Self.call(["read", "read", "cafe\u{301}"]), [profile]).oauth.scopes
        #expect(scopes.map { Array($0.utf8) } == ["caf\u{E9}", "read"].map { Array($0.utf8) })
    }

    @Test("a provider that is not listed gets the error of an unknown one; the issuer is compared exactly")
    func providers() throws {
        #expect(Self.cause(try Self.offer(Self.call(), providers: ["other"])) == "sign_in_provider")
        #expect(Self.cause(try Self.offer(Self.call(issuer: Self.issuer + "/"))) == "sign_in_provider")
        #expect(Self.cause(try Self.offer(Self.call(issuer: "https://else.example"))) == "sign_in_provider")
        // The client's own name for the provider does not matter.
        let other = try Self.profile("corp") { $0.issuer = "https://else.example" }
        let offer = try Self.offer(Self.call(), providers: ["corp", "mine"], [other, Self.profile("mine")])
        #expect(offer.profile.name == "mine" && offer.question.server == Self.issuer)
    }

    @Test("without an issuer, the authorization endpoint says which server it is")
    func endpoint() throws {
        let place = "https://id.example/authorize"
        let bare = try Self.profile("corp") { oauth in
            oauth.issuer = nil
            oauth.endpoints.authorization = place
        }
        var call = Self.call(issuer: nil)
        call.authorizationEndpoint = place
        #expect(try Self.offer(call, [bare]).question.server == place)
        // A server with an issuer is named by it.
        let whole = try Self.profile("corp") { $0.endpoints.authorization = place }
        #expect(Self.cause(try Self.offer(call, [whole])) == "sign_in_provider")
        call.authorizationEndpoint = place + "/"
        #expect(Self.cause(try Self.offer(call, [bare])) == "sign_in_provider")
    }

    @Test("the client must be that of a profile here, and not one that a provider has registered for one machine")
    func clients() throws {
        var call = Self.call()
        call.clientID = "other"
        #expect(Self.cause(try Self.offer(call)) == AgentError.otherClient)
        let registering = try Self.profile("corp") { ($0.clientID, $0.registers) = ("", true) }
        call.clientID = ""
        #expect(Self.cause(try Self.offer(call, [registering])) == AgentError.otherClient)
    }
}
