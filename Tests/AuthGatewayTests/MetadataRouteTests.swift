import AuthModel
import AuthWire
import Testing

@testable import AuthGateway

@Suite("The metadata server of Google Compute Engine, as a view of a session")
struct MetadataRouteTests {
    private static let account = "/computeMetadata/v1/instance/service-accounts/default/"
    private static let flavor = [("Metadata-Flavor", "Google")]

    private func route(
        _ target: String, _ fields: [(String, String)] = flavor, method: String = "GET"
    ) throws -> MetadataRoute {
        let head = FrontHead(method: method, target: target, fields: fields.map { ($0.0, $0.1) })
        return try MetadataRoute(FrontRequest(head: head, target: target))
    }

    private func status(_ body: () throws -> Void) -> Int {
        do {
            try body()
            return 200
        } catch {
            return (error as? FrontProblem)?.status ?? 0
        }
    }

    @Test("the paths are those that client libraries use")
    func paths() throws {
        #expect(try route("/").item == .ping)
        #expect(try route("/computeMetadata/v1/").item == .ping)
        #expect(try route(Self.account + "token?scopes=a%2Cb").item == .token)
        #expect(try route(Self.account + "email").item == .email)
        #expect(try route(Self.account + "?recursive=true&alt=json").item == .account)
        #expect(
            try route(Self.account + "identity?audience=https%3A%2F%2Fapi.example.org&format=full").item
                == .identity(audience: "https://api.example.org"))
        for target in [
            "/computeMetadata/v1/project/project-id", "/computeMetadata/v1/universe/universe-domain",
            Self.account, Self.account + "token/", Self.account + "other", "/v1/token", "/metrics",
        ] {
            #expect(status { _ = try route(target) } == 404, "\(target)")
        }
        #expect(status { _ = try route(Self.account + "identity") } == 400)
    }

    @Test("there is one account: default, or its e-mail address")
    func account() throws {
        for name in ["default", "ada@example.org", "ada%40example.org"] {
            try route(Self.account.replacing("default", with: name) + "token").check(email: "ada@example.org")
        }
        let other = try route(Self.account.replacing("default", with: "eve@example.org") + "token")
        #expect(status { try other.check(email: "ada@example.org") } == 404)
    }

    @Test("a request without Metadata-Flavor, or one that was forwarded, is refused")
    func headers() {
        let token = Self.account + "token"
        for fields in [
            [], [("Metadata-Flavor", "google")], [("Metadata-Flavor", "Google"), ("Metadata-Flavor", "Google")],
            Self.flavor + [("X-Forwarded-For", "10.0.0.1")], Self.flavor + [("x-forwarded-for", "")],
        ] {
            #expect(status { _ = try route(token, fields) } == 403, "\(fields)")
            #expect(status { _ = try route("/", fields) } == 403, "\(fields)")
        }
        #expect(status { _ = try route(token, method: "POST") } == 405)
    }

    @Test("a token has a lifetime in whole seconds, and a type that the libraries can send")
    func token() throws {
        let work = try SessionName("work")
        func reply(_ type: String, _ valid: Duration?) throws -> JSON {
            let token = TokenResult(accessToken: "token-1", tokenType: type, valid: valid, session: work)
            return try JSON(parsing: EndpointReply.metadata(token: token).body)
        }
        #expect(
            try reply("bearer", .milliseconds(599_900))
                == ["access_token": "token-1", "expires_in": 599, "token_type": "Bearer"])
        #expect(try reply("Bearer", nil)["expires_in"] == 300)
        #expect(status { _ = try reply("DPoP", nil) } == 400)
    }

    @Test("an identity token is a JWT")
    func identity() throws {
        let work = try SessionName("work")
        let jwt = TokenResult(accessToken: "a.b.c", tokenType: "Bearer", session: work)
        #expect(try EndpointReply.metadata(identity: jwt).body == Array("a.b.c".utf8))
        let opaque = TokenResult(accessToken: "opaque", tokenType: "Bearer", session: work)
        #expect(status { _ = try EndpointReply.metadata(identity: opaque) } == 400)
    }

    @Test("every response, even a refusal, says that it is from such a server")
    func flavor() throws {
        let flavor = MetadataRoute.flavor
        let refusal = EndpointReply(metadata: FrontProblem(401, .notSignedIn, "No."))
        #expect(refusal.fields.contains { $0 == flavor })
        for item in [MetadataRoute.Item.ping, .email, .scopes, .aliases, .account] {
            let reply = try #require(EndpointReply.metadata(item, email: "ada@example.org", scopes: ["read"]))
            #expect(reply.status == 200 && reply.fields.contains { $0 == flavor })
        }
        let account = try #require(EndpointReply.metadata(.account, email: "ada@example.org", scopes: ["read"]))
        #expect(
            try JSON(parsing: account.body)
                == ["aliases": ["default"], "email": "ada@example.org", "scopes": ["read"]])
    }
}
