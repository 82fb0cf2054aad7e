import StandInBackends
import Testing

@Suite("What the stand-ins refuse")
struct StrictnessTests {
    @Test("a body without the content type of JSON", arguments: Backend.allCases)
    func mediaType(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            let reply = try await client.call(
                backend, backend.signIn, backend.credentials(password: "Correct-horse1"),
                headers: ["content-type": "text/plain"])
            #expect(reply.status == 415)
        }
    }

    @Test("a body that is broken", arguments: Backend.allCases)
    func broken(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            let reply = try await client.raw(
                backend, backend.signIn, "{\"email\":", headers: ["content-type": "application/json"])
            #expect(reply.text.contains("not a JSON object"))
        }
    }

    @Test("keys in the other style, and unknown keys")
    func keys() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.forkInTheRoad)
            let camel = try await client.call(
                .forkInTheRoad, "PUT /api/user/profile", ["phoneNumber": "1"], token: token)
            #expect(camel.status == 400)
            #expect(camel.message?.contains("phoneNumber is not known") == true)
            let flat = try await client.call(
                .appTemplate, "POST /auth/login", ["email": "ada@example.org", "password": "Correct-horse1"])
            #expect(flat.status == 400)
            #expect(try flat.json["errors"]?.array?.contains("credentials is required") == true)
        }
    }

    @Test("a bearer that is missing, doubled or of another kind")
    func bearer() async throws {
        try await Client.with { client async throws in
            let call = "GET /api/auth/me"
            #expect(try await client.call(.forkInTheRoad, call).message == "Authorization header is missing")
            for value in ["Basic YTpi", "Bearer", "Bearer a b", "bearer"] {
                let reply = try await client.call(.forkInTheRoad, call, headers: ["authorization": value])
                #expect(reply.status == 401, "\(value)")
            }
            let token = try await client.signIn(.forkInTheRoad)
            let doubled = try await client.call(
                .forkInTheRoad, call, token: token, headers: ["Authorization": "Bearer \(token)"])
            #expect(doubled.status == 400)
        }
    }

    @Test("a password call with a missing or another user's X-User-ID")
    func userID() async throws {
        try await Client.with { client async throws in
            let signedIn = try await client.call(
                .anonymousWall, Backend.anonymousWall.signIn,
                ["email": "ada@example.org", "password": "Correct-horse1"]
            ).json
            let token = try #require(signedIn["accessToken"]?.string)
            let id = try #require(signedIn["user"]?["id"]?.string)
            func change(_ headers: [String: String]) async throws -> Int {
                try await client.call(
                    .anonymousWall, "POST /api/v1/auth/password/change",
                    ["oldPassword": "Correct-horse1", "newPassword": "Correct-horse2"], token: token,
                    headers: headers
                ).status
            }
            #expect(try await change([:]) == 400)
            #expect(try await change(["X-User-ID": "somebody"]) == 403)
            #expect(try await change(["X-User-ID": id]) == 200)
            #expect(try await client.signIn(.anonymousWall, password: "Correct-horse2") != token)
        }
    }

    @Test("a path that is none, in the backend's own shape")
    func unknownPath() async throws {
        try await Client.with { client async throws in
            let envelope = try await client.call(.envelope, "GET /nothing")
            #expect(envelope.status == 404)
            #expect(try envelope.json["errorMsg"]?.string == "No such endpoint")
            #expect(try await client.call(.awsLambda, "GET /nothing").json["error"]?.string == "NOT_FOUND")
        }
    }
}
