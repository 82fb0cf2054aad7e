import StandInBackends
import Testing

@Suite("The stand-ins' control endpoint")
struct ControlTests {
    @Test("misbehaviours are added and cleared")
    func orders() async throws {
        try await Client.with { client async throws in
            let order: JSONValue = [
                "path": "/auth/login", "times": nil,
                "behaviour": ["status": 429, "retry_after": "7", "body": "slow down"],
            ]
            #expect(try await client.control("POST /control/envelope", order).status == 200)
            let body = Backend.envelope.credentials(password: "Correct-horse1")
            let limited = try await client.call(.envelope, "POST /auth/login", body)
            #expect(limited.status == 429)
            #expect(limited.text == "slow down")
            #expect(limited.header("retry-after") == "7")
            #expect(try await client.control("POST /control/envelope", ["clear": true]).status == 200)
            #expect(try await client.call(.envelope, "POST /auth/login", body).status == 200)
        }
    }

    @Test("an invalid misbehaviour is refused with the reason")
    func badOrders() async throws {
        try await Client.with { client async throws in
            let wrong: [(JSONValue, String)] = [
                (["behaviour": ["cut": "somewhere"]], "before-answer or mid-body"),
                (["behaviour": ["stauts": 500]], "stauts is not known"),
                (["behaviour": ["status": 99]], "from 200 to 599"),
                (["token_seconds": "long"], "token_seconds must be a number"),
                (["lifetime": 1], "lifetime is not known"),
            ]
            for (order, reason) in wrong {
                let reply = try await client.control("POST /control/envelope", order)
                #expect(reply.status == 400)
                #expect(reply.message?.contains(reason) == true, "\(reply.text)")
            }
            #expect(try await client.control("POST /control/nobody", [:]).status == 404)
        }
    }

    @Test("the token lifetime can be set, calls are counted, secrets and mail are recorded")
    func everythingElse() async throws {
        try await Client.with { client async throws in
            #expect(try await client.control("POST /control/envelope", ["token_seconds": 10]).status == 200)
            let login = try await client.call(
                .envelope, "POST /auth/login", Backend.envelope.credentials(password: "Correct-horse1")
            ).json
            #expect(login["expiresIn"]?.integer == 10)
            _ = try await client.call(
                .anonymousWall, "POST /api/v1/auth/email/send-code",
                ["email": "ada@example.org", "purpose": "login"])
            let counts = try await client.control("GET /control/counts").json
            #expect(counts["envelope"]?["POST /auth/login"]?.integer == 1)
            #expect(counts["aws-lambda"] == [:])
            let secrets = try await client.control("GET /control/secrets").json
            #expect(secrets["tokens"]?.array?.contains(login["token"] ?? nil) == true)
            #expect(secrets["passwords"]?.array == ["Correct-horse1"])
            let mail = try await client.control("GET /control/mail").json
            let code = client.standIns.lastCode(to: "ada@example.org")
            #expect(mail["mail"]?.array?.first?["code"]?.string == code)
            #expect(secrets["codes"]?.array?.first?.string == code)
        }
    }

    @Test("a backend is stopped and restarted")
    func listening() async throws {
        try await Client.with { client async throws in
            #expect(try await client.control("POST /control/envelope", ["listening": false]).status == 200)
            await #expect(throws: (any Error).self) { _ = try await client.call(.envelope, "GET /users/profile") }
            #expect(try await client.control("POST /control/envelope", ["listening": true]).status == 200)
            #expect(try await client.call(.envelope, "GET /users/profile").status == 401)
        }
    }
}
