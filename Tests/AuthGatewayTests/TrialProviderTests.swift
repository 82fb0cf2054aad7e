import AuthGateway
import AuthWire
import Testing

@Suite("The provider of authc try")
struct TrialProviderTests {
    private static let account: JSON = [
        "email": .string(TrialProvider.email), "password": .string(TrialProvider.password),
    ]

    private static func post(_ path: String, _ body: JSON) -> TrialProvider.Request {
        TrialProvider.Request(method: "POST", path: path, body: body.serialized())
    }

    @Test("signs in its account, and no other")
    func signIn() {
        var provider = TrialProvider()
        let wrong = provider.respond(
            to: Self.post("/session", ["email": .string(TrialProvider.email), "password": "x"]))
        #expect(wrong.status == 401 && wrong.event == nil)
        let done = provider.respond(to: Self.post("/session", Self.account))
        #expect(done.status == 200 && done.event == .signedIn)
        #expect(done.body["access_token"] == "demo-token-1" && done.body["expires_in"] == 12)
    }

    @Test("a renewal returns new tokens, and the former ones are refused")
    func renewal() {
        var provider = TrialProvider()
        let first = provider.respond(to: Self.post("/session", Self.account)).body
        let renewal = Self.post("/session/refresh", ["refresh_token": first["refresh_token"] ?? .null])
        let second = provider.respond(to: renewal)
        #expect(second.status == 200 && second.event == .renewed)
        #expect(second.body["access_token"] == "demo-token-2" && second.body["expires_in"] == 60)
        #expect(provider.respond(to: renewal).status == 401)
        for (token, status) in [("demo-token-1", 401), ("demo-token-2", 200)] {
            let call = TrialProvider.Request(method: "GET", path: "/me", authorization: "Bearer " + token)
            #expect(provider.respond(to: call).status == status)
        }
    }

    @Test("after a sign-out no token is valid")
    func signOut() {
        var provider = TrialProvider()
        let tokens = provider.respond(to: Self.post("/session", Self.account)).body
        let access = "Bearer " + (tokens["access_token"]?.stringValue ?? "")
        #expect(provider.respond(to: .init(method: "DELETE", path: "/session")).status == 401)
        let ended = provider.respond(to: .init(method: "DELETE", path: "/session", authorization: access))
        #expect(ended.status == 200 && ended.event == .signedOut)
        #expect(provider.respond(to: .init(method: "GET", path: "/me", authorization: access)).status == 401)
        let renewal = Self.post("/session/refresh", ["refresh_token": tokens["refresh_token"] ?? .null])
        #expect(provider.respond(to: renewal).status == 401)
        #expect(provider.respond(to: .init(method: "GET", path: "/", body: [0xFF])).status == 404)
    }
}
