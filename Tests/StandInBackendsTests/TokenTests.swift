import StandInBackends
import Testing

@Suite("The stand-ins' tokens")
struct TokenTests {
    @Test("a token is refused from its end on", arguments: Backend.allCases.filter { $0.whoAmI != nil })
    func end(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            let call = try #require(backend.whoAmI)
            let token = try await client.signIn(backend)
            #expect(try await client.call(backend, call, token: token).status == 200)
            client.standIns.advanceClock(by: .seconds(3598))
            #expect(try await client.call(backend, call, token: token).status == 200)
            client.standIns.advanceClock(by: .seconds(3))
            let reply = try await client.call(backend, call, token: token)
            #expect(reply.status == 401)
            #expect(reply.message == "Token has expired")
        }
    }

    @Test("a token that is changed or signed by another key is refused")
    func forged() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.forkInTheRoad)
            var letters = Array(token)
            letters[letters.count - 6] = letters[letters.count - 6] == "A" ? "B" : "A"
            let foreign = try await client.signIn(.appTemplate)
            for bad in [String(letters), foreign, "no.jwt.atall"] {
                let reply = try await client.call(.forkInTheRoad, "GET /api/auth/me", token: bad)
                #expect(reply.status == 401)
            }
        }
    }

    @Test(
        "a refreshed token is taken through the grace and refused after it",
        arguments: Backend.allCases.filter { $0.refresh != nil })
    func rotation(_ backend: Backend) async throws {
        try await Client.with { client async throws in
            let refresh = try #require(backend.refresh)
            let old = try await client.signIn(backend)
            let new = try #require(try await client.call(backend, refresh, token: old).json["token"]?.string)
            #expect(new != old)
            client.standIns.advanceClock(by: .seconds(4))
            #expect(try await client.call(backend, refresh, token: old).status == 200)
            client.standIns.advanceClock(by: .seconds(2))
            #expect(try await client.call(backend, refresh, token: old).status == 401)
            #expect(try await client.call(backend, refresh, token: new).status == 200)
        }
    }

    @Test("validation renews the session when less than half of its life is left")
    func validation() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.awsLambda)
            func validate() async throws -> JSONValue {
                try await client.call(.awsLambda, "GET /auth/validate", token: token).json
            }
            client.standIns.advanceClock(by: .seconds(1700))
            #expect(try await validate()["session"] == nil)
            client.standIns.advanceClock(by: .seconds(200))
            let renewed = try await validate()
            #expect(renewed["session"]?["expiresAt"]?.double != nil)
            #expect(renewed["token"]?.string != nil)
        }
    }

    @Test("refreshing returns the new end as a date")
    func endAsDate() async throws {
        try await Client.with { client async throws in
            let token = try await client.signIn(.appTemplate)
            let body = try await client.call(.appTemplate, "POST /auth/refresh", token: token).json
            #expect(body["expiresAt"]?.string?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/) != nil)
        }
    }
}
