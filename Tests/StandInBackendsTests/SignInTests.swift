import Foundation
import StandInBackends
import Testing

@Suite("Signing in at the stand-ins")
struct SignInTests {
    @Test("each backend issues a signed token that expires on time", arguments: Backend.allCases)
    func tokens(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            await client.standIns.setTokenLifetime(.seconds(90), at: backend)
            let before = Date().timeIntervalSince1970
            let token = try await client.signIn(backend)
            let parts = token.split(separator: ".")
            try #require(parts.count == 3)
            let header = try claims(parts[0])
            let payload = try claims(parts[1])
            #expect(header["alg"]?.string == "ES256")
            let issued = try #require(payload["iat"]?.integer)
            let ends = try #require(payload["exp"]?.integer)
            #expect((90...91).contains(ends - issued))
            #expect(abs(Double(issued) - before) < 5)
            #expect(payload["sub"]?.string != nil)
            let other = try claims(try await client.signIn(backend).split(separator: ".")[1])
            #expect(payload["jti"] != other["jti"])
        }
    }

    @Test("a wrong password has each backend's own form", arguments: Backend.allCases)
    func wrongPassword(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            let reply = try await client.call(
                backend, backend.signIn, backend.credentials(password: "not-the-password"))
            let body = try reply.json
            #expect(reply.status == (backend == .envelope ? 200 : 401))
            switch backend {
            case .envelope:
                #expect(body["errorCode"]?.integer == 1001)
                #expect(body["errorMsg"]?.string == "Invalid email or password")
                #expect(body["statusCode"]?.integer == 401)
            case .awsLambda:
                #expect(body["error"]?.string == "INVALID_CREDENTIALS")
                #expect(reply.message == "Invalid email or password")
            default:
                #expect(reply.message == "Invalid email or password")
            }
        }
    }

    @Test("answers carry the fields and dates of their backend")
    func shapes() async throws {
        try await Client.with { client async throws in
            func signIn(_ backend: Backend) async throws -> JSONValue {
                try await client.call(backend, backend.signIn, backend.credentials(password: "Correct-horse1")).json
            }
            let lambda = try await signIn(.awsLambda)
            #expect(lambda["user"]?["profile"]?["firstName"]?.string == "Ada")
            #expect(lambda["session"]?["sessionId"]?.string != nil)
            let end = try #require(lambda["session"]?["expiresAt"]?.double)
            #expect(abs(end - Date().timeIntervalSince1970 - 3600) < 5)
            #expect(try await signIn(.envelope)["expiresIn"]?.integer == 3600)
            let wall = try #require(try await signIn(.anonymousWall)["user"]?["createdAt"]?.string)
            #expect(wall.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d-0[78]:00\[America\/Los_Angeles\]/) != nil)
            #expect(try await signIn(.forkInTheRoad)["user"]?["created_at"]?.string?.hasSuffix("Z") == true)
            #expect(try await signIn(.appTemplate)["refreshToken"]?.string != nil)
        }
    }

    @Test("a registration that breaks password rules names each of them")
    func registrationRules() async throws {
        try await Client.with { client async throws in
            let weak = try await client.call(
                .awsLambda, "POST /auth/register",
                ["email": "eve@example.org", "displayName": "Eve", "password": "short"])
            #expect(weak.status == 400)
            let details = try #require(try weak.json["details"]?.string)
            #expect(details.contains("8 characters") && details.contains("digit") && details.contains("upper-case"))
            let good: JSONValue = [
                "email": "eve@example.org", "displayName": "Eve", "password": "Long-enough1!",
            ]
            #expect(try await client.call(.awsLambda, "POST /auth/register", good).status == 201)
            #expect(try await client.call(.awsLambda, "POST /auth/register", good).status == 409)
        }
    }

    @Test("a federated registration needs the provider's uid and no password, and signs in with it")
    func federated() async throws {
        try await Client.with { client async throws in
            let person: JSONValue = [
                "email": "kay@example.org", "displayName": "Kay", "authProvider": "google", "firebaseUid": "uid-1",
            ]
            #expect(try await client.call(.awsLambda, "POST /auth/register", person).status == 201)
            #expect(try await client.call(.awsLambda, "POST /auth/register", person).status == 409)
            for (uid, status) in [("uid-1", 200), ("uid-2", 401)] {
                let reply = try await client.call(
                    .awsLambda, "POST /auth/login",
                    ["email": "kay@example.org", "authProvider": "google", "firebaseUid": .string(uid)])
                #expect(reply.status == status)
            }
        }
    }

    private func claims(_ part: Substring) throws -> JSONValue {
        var text = part.replacing("-", with: "+").replacing("_", with: "/")
        while text.count % 4 > 0 { text.append("=") }
        return try JSONDecoder().decode(JSONValue.self, from: try #require(Data(base64Encoded: String(text))))
    }
}
