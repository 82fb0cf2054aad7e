import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("A change of the user", .timeLimit(.minutes(1)))
struct UserUpdateTests {
    private static let page = HTTPResponse(
        status: 200, headers: [("Content-Type", "text/html")], body: Array("<html>busy</html>".utf8))

    /// What the provider answers to the request for the user after the change; `nil`: the connection breaks.
    private static let failures: [HTTPResponse?] = [
        ExampleProvider.json(500, "{}"), ExampleProvider.json(403, "{}"), ExampleProvider.json(200, "[]"),
        ExampleProvider.json(200, "{\"user\":"), page, nil,
    ]

    private static func example(
        change: HTTPResponse, fetch: HTTPResponse?, fetchesUser: Bool = true
    ) throws -> ExampleProvider {
        let transport = ScriptedTransport { request throws(TransportError) in
            guard request.url.hasSuffix("/me") else {
                return ExampleProvider.json(
                    200, #"{"token":"t","expires_in":1000,"user":{"id":"7","email":"a@b.example"}}"#)
            }
            if request.method == "PUT" { return change }
            guard let fetch else { throw .connectionLost(host: "localhost", reason: "test") }
            return fetch
        }
        return try ExampleProvider(transport: transport) { profile in
            profile.userUpdate = UserUpdateRequest(
                request: try Sample.request("PUT", "/me"), fields: ["name"], user: [])
            guard fetchesUser else { return }
            profile.userRequest = UserRequest(request: try Sample.request("GET", "/me"), user: [try JSONPointer("")])
        }
    }

    private static func changes(_ example: ExampleProvider) -> Int {
        example.transport.asked.count { $0 == "PUT http://localhost:1/me" }
    }

    @Test(
        "that the provider made has succeeded, even if the user cannot be fetched afterwards",
        arguments: Self.failures.indices)
    func notFetched(index: Int) async throws {
        let example = try Self.example(change: ExampleProvider.json(200, "{}"), fetch: Self.failures[index])
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let result = try await sessions.updateUser(UserUpdate(fields: ["name": "Ada"]))
            // As it was known before.
            #expect(result.user.id == "7" && result.user.email == "a@b.example")
            #expect(result.raw == ["id": "7", "email": "a@b.example"])
            #expect(Self.changes(example) == 1)
            #expect(example.transport.asked.contains("GET http://localhost:1/me"))
            #expect(try sessions.status(nil).state == .active)
        }
    }

    @Test("has succeeded at a provider that never reports the user, and without content in its answer")
    func neverFetched() async throws {
        let empty = HTTPResponse(status: 204, headers: [], body: [])
        let example = try Self.example(change: empty, fetch: nil, fetchesUser: false)
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            #expect(try await sessions.updateUser(UserUpdate(fields: ["name": "Ada"])).user.id == "7")
            #expect(Self.changes(example) == 1)
        }
    }

    @Test("that the provider refused has failed, and the user is not fetched")
    func refused() async throws {
        let example = try Self.example(
            change: ExampleProvider.json(422, #"{"message":"No such name."}"#), fetch: ExampleProvider.json(200, "{}"))
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let error = await #expect(throws: AgentError.self) {
                try await sessions.updateUser(UserUpdate(fields: ["name": "Ada"]))
            }
            #expect(error?.kind == .validation)
            #expect(error?.providerMessage == "No such name.", "\(String(describing: error))")
            #expect(!example.transport.asked.contains("GET http://localhost:1/me"))
        }
    }
}
