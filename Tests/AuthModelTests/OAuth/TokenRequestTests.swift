import AuthModel
import AuthWire
import Testing

@Suite("Requests to a token endpoint")
struct TokenRequestTests {
    private func refresh(_ token: String, _ change: (inout OAuthProfile) -> Void) throws -> HTTPRequest {
        var oauth = OAuthProfile(issuer: nil, clientID: "authd")
        oauth.endpoints.token = "https://id.example.org/token"
        change(&oauth)
        let profile = ProviderProfile(
            name: "example", title: "Example", source: "test", environments: [], defaultEnvironment: "", signIn: [],
            renewal: Renewal(kind: .refresh))
        return try OAuthRequests(
            profile: profile, oauth: oauth, server: OAuthServer(issuer: nil, endpoints: oauth.endpoints),
            client: OAuthClient(secret: Secret("s3cret")), cryptography: nil, now: WallTime(unixSeconds: 0),
            namesClientInForm: false
        ).refresh(Secret(token))
    }

    /// As Notion and Atlassian document their token endpoints.
    @Test(
        "a profile may have them sent as JSON, in which no value adds a member",
        arguments: ["", "a&b=c", "\"},\"x\":\"", "two\nlines", "nul\u{0}", "ключ"])
    func json(token: String) throws {
        for authentication in [ClientAuthentication.basic, .post] {
            let request = try refresh(token) {
                $0.tokenEndpoint.acceptsJSON = true
                $0.clientAuthentication = authentication
            }
            var expected: JSONObject = ["grant_type": "refresh_token", "refresh_token": .string(token)]
            if authentication == .post {
                expected["client_id"] = "authd"
                expected["client_secret"] = "s3cret"
            }
            let body = try JSON(parsing: Array(try #require(request.body).reveal().utf8))
            #expect(body == .object(expected))
            let headers = request.headers.map { "\($0.name): \($0.value.reveal())" }
            #expect(headers.contains("Content-Type: application/json"))
            #expect(headers.contains("Authorization: Basic YXV0aGQ6czNjcmV0") == (authentication == .basic))
        }
        let form = try refresh(token) { _ in }
        #expect(form.headers.contains { $0.value.reveal() == "application/x-www-form-urlencoded" })
        #expect(Form.decode(try #require(form.body).reveal())?["refresh_token"] == token)
    }
}
