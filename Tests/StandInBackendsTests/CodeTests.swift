import StandInBackends
import Testing

@Suite("E-mailed codes at the stand-ins")
struct CodeTests {
    private let base = "POST /api/v1/auth"

    @Test("registering with a code, then setting a password, then signing in with it")
    func registration() async throws {
        try await Client.with { client async throws in
            let sent = try await client.call(
                .anonymousWall, "\(base)/email/send-code", ["email": "new@example.org", "purpose": "register"])
            #expect(sent.text == "Verification code sent")
            let code = try #require(client.standIns.lastCode(to: "new@example.org"))
            #expect(code.count == 6)
            let body: JSONValue = ["email": "new@example.org", "code": .string(code)]
            let reply = try await client.call(.anonymousWall, "\(base)/register/email", body)
            #expect(reply.status == 201)
            let token = try #require(try reply.json["accessToken"]?.string)
            let id = try #require(try reply.json["user"]?["id"]?.string)
            let again = try await client.call(.anonymousWall, "\(base)/register/email", body)
            #expect(again.status == 400)
            let set = try await client.call(
                .anonymousWall, "\(base)/password/set", ["password": "A-new-one1"], token: token,
                headers: ["X-User-ID": id])
            #expect(set.message == "Password set successfully")
            let byPassword = try await client.call(
                .anonymousWall, "\(base)/login/password", ["email": "new@example.org", "password": "A-new-one1"])
            #expect(byPassword.status == 200)
        }
    }

    @Test("some codes begin with a zero, all are text of six digits, and a number is refused")
    func zeros() async throws {
        try await Client.with { client async throws in
            let sent = try await client.call(
                .anonymousWall, "\(base)/email/send-code", ["email": "ada@example.org", "purpose": "login"])
            #expect(sent.message == "Verification code sent")
            let code = try #require(client.standIns.lastCode(to: "ada@example.org"))
            #expect(code.hasPrefix("0"))
            let number = try #require(Int(code))
            let wrong = try await client.call(
                .anonymousWall, "\(base)/login/email",
                ["email": "ada@example.org", "code": .integer(number)])
            #expect(wrong.text == "code must be a string")
            let right = try await client.call(
                .anonymousWall, "\(base)/login/email", ["email": "ada@example.org", "code": .string(code)])
            #expect(right.status == 200)
        }
    }

    @Test("a reset signs in, and the old password is no longer valid")
    func reset() async throws {
        try await Client.with { client async throws in
            _ = try await client.call(
                .anonymousWall, "\(base)/password/reset-request", ["email": "ada@example.org"])
            let code = try #require(client.standIns.lastCode(to: "ada@example.org"))
            let reply = try await client.call(
                .anonymousWall, "\(base)/password/reset",
                ["email": "ada@example.org", "code": .string(code), "newPassword": "Another-one1"])
            #expect(try reply.json["accessToken"]?.string != nil)
            let old = try await client.call(
                .anonymousWall, Backend.anonymousWall.signIn,
                ["email": "ada@example.org", "password": "Correct-horse1"])
            #expect(old.status == 401)
        }
    }

    @Test("five wrong codes end a code")
    func guessing() async throws {
        try await Client.with { client async throws in
            _ = try await client.call(
                .anonymousWall, "\(base)/email/send-code", ["email": "ada@example.org", "purpose": "login"])
            let code = try #require(client.standIns.lastCode(to: "ada@example.org"))
            func attempt(_ code: String) async throws -> Int {
                try await client.call(
                    .anonymousWall, "\(base)/login/email", ["email": "ada@example.org", "code": .string(code)]
                ).status
            }
            for _ in 1...5 { #expect(try await attempt("999999") == 400) }
            #expect(try await attempt(code) == 400)
        }
    }
}
