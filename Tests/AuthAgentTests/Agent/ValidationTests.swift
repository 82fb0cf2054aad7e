import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("A provider that refuses a token that it has issued just now", .timeLimit(.minutes(1)))
struct ValidationTests {
    private static let session = SessionParams()
    private static let refused = ExampleProvider.json(401, #"{"message":"ended"}"#)

    private func play(
        _ renewal: Renewal.Kind, answer: HTTPResponse = Self.refused, refreshToken: Bool = false,
        _ test: @escaping @Sendable (SessionRequests, ManualClock, ScriptedTransport) async throws -> Void
    ) async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/validate") { return answer }
            if request.url.hasSuffix("/refresh") { return Self.refused }
            let refresh = refreshToken ? #","refresh":"r-1""# : ""
            return ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000\#(refresh)}"#)
        }
        let example = try ExampleProvider(transport: transport) { profile in
            profile.validation = RequestTemplate(method: "GET", path: try Template(parsing: "/validate"), bearer: true)
            profile.reply.refreshToken = .pointer(try JSONPointer("/refresh"))
            profile.renewal.kind = renewal
            profile.renewal.request?.body = .json(
                .object([("token", .text(try Template(parsing: "{refresh_token}")))]))
            if renewal != .refresh { profile.renewal = Renewal(kind: renewal) }
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            try await test(sessions, example.clock, transport)
        }
    }

    @Test(
        "ends the session if nothing renews it, as its profile says or as it has nothing for that",
        arguments: [Renewal.Kind.none, .refresh, .signIn])
    func nothingRenews(kind: Renewal.Kind) async throws {
        try await play(kind) { sessions, _, transport in
            let error = await #expect(throws: AgentError.self) { try await sessions.validate(Self.session) }
            #expect(error?.kind == .signInRequired, "\(String(describing: error))")
            let status = try sessions.status(nil)
            #expect(status.state == .signInRequired && status.cause == "token_rejected")
            #expect(transport.asked.count == 2)
        }
    }

    @Test("renews the session if it can; if it refuses that too, the session keeps its token")
    func renewalRefused() async throws {
        try await play(.refresh, refreshToken: true) { sessions, _, transport in
            let error = await #expect(throws: AgentError.self) { try await sessions.validate(Self.session) }
            #expect(error?.kind == .refused, "\(String(describing: error))")
            let status = try sessions.status(nil)
            #expect(status.state == .active)
            #expect(transport.asked.last?.hasSuffix("/refresh") == true)
        }
    }

    @Test("a page with the status 401 ends nothing, however old the token is", arguments: [0, 500])
    func page(age: Int) async throws {
        let page = HTTPResponse(
            status: 401, headers: [("Content-Type", "text/html")], body: Array("<p>Log in to the network</p>".utf8))
        try await play(.none, answer: page) { sessions, clock, _ in
            clock.advance(.seconds(age))
            let error = await #expect(throws: AgentError.self) { try await sessions.validate(Self.session) }
            #expect(error?.kind == .badReply, "\(String(describing: error))")
            let status = try sessions.status(nil)
            #expect(status.state == .active)
            let token = try await sessions.token(TokenGet())
            #expect(token.accessToken == "token-1")
        }
    }
}
