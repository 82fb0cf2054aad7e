import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("A call in the pause before it is repeated", .timeLimit(.minutes(1)))
struct RetriedCallTests {
    private static func failure(at api: APIClient) async -> AgentError? {
        do throws(AgentError) {
            _ = try await api.request(APIRequest(method: "GET", path: "/a"))
            return nil
        } catch {
            return error
        }
    }

    @Test("is not sent again after its session was signed out of, or signed in to again", arguments: [true, false])
    func otherSignIn(signsOut: Bool) async throws {
        let (calls, tokens) = (Counter(), Counter())
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                guard !request.url.hasSuffix("/login") else {
                    let token = #"{"token":"t\#(tokens.next())","expires_in":9000,"user":{"id":"7"}}"#
                    return ExampleProvider.json(200, token)
                }
                guard calls.next() == 1 else { return ExampleProvider.json(200, "1") }
                return HTTPResponse(status: 429, headers: [("Retry-After", "20")], body: [])
            })
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            let api = example.apiClient
            async let failure = Self.failure(at: api)
            await example.clock.somebodySleeps(until: example.clock.now().boot + .seconds(30))
            if signsOut {
                _ = try await sessions.logout(SessionLogout())
            } else {
                _ = try await signIns.start(SessionRegistryTests.start)
            }
            example.clock.advance(.seconds(30))
            #expect(await failure?.cause == "other_sign_in")
            #expect(calls.next() == 2)
        }
    }
}
