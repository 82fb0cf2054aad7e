import AgentTestSupport
import AuthAgent
import AuthTokens
import AuthWire
import Synchronization
import Testing

@testable import AuthModel

/// Requests in the name of a session whose tokens are bound to a key (RFC 9449).
@Suite("Calls that prove a key")
struct ProvedCallTests {
    /// What a request showed: its proof's claims, and how it showed the token.
    private struct Shown: Sendable {
        let claims: JSON
        let authorization: String
    }

    private static func shown(_ request: HTTPRequest) -> Shown? {
        func field(_ name: String) -> [String] {
            request.headers.filter { $0.name == name }.map { $0.value.reveal() }
        }
        let parts = field("DPoP").first?.split(separator: ".") ?? []
        guard field("DPoP").count == 1, parts.count == 3, field("Authorization").count == 1,
            let bytes = Base64URL.decode(Array(parts[1].utf8)), let claims = try? JSON(parsing: bytes)
        else { return nil }
        return Shown(claims: claims, authorization: field("Authorization")[0])
    }

    /// Plays with a session that is in the store, at a provider that answers each of its requests in turn.
    private func play(
        _ answers: [HTTPResponse], _ change: (inout ProviderProfile) throws -> Void = { _ in },
        _ test: @escaping @Sendable (SessionRequests, APIClient, ManualClock) async throws -> Void
    ) async throws -> [Shown?] {
        let seen = Mutex<[Shown?]>([])
        let transport = ScriptedTransport { request async throws(TransportError) in
            if let source = request.source {
                let reading = source.begin()
                while try await reading.nextBytes() != nil {}
            }
            return seen.withLock { seen in
                seen.append(Self.shown(request))
                return answers[min(seen.count, answers.count) - 1]
            }
        }
        let store = MemoryStore()
        let now = ManualClock().now().wall
        let tokens = TokenSet(
            accessToken: Secret("bound"), tokenType: "DPoP", refreshToken: nil, issuedAt: now,
            expiresAt: now + .seconds(1000), proofKey: SystemCryptography().makeKey())
        try await store.save(
            SessionRecord(
                session: try SessionName("example"), provider: "example", environment: "local", method: "password",
                tokens: tokens, user: nil, rawUser: nil, signedInAt: now))
        let example = try ExampleProvider(store: store, transport: transport, change)
        try await example.running { sessions, _ in try await test(sessions, example.apiClient, example.clock) }
        return seen.withLock { $0 }
    }

    private func challenge(_ nonce: String) -> HTTPResponse {
        HTTPResponse(
            status: 401,
            headers: [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", nonce)], body: [])
    }

    @Test("each attempt has a new proof with a new time, for its address without the query, and for the token")
    func retries() async throws {
        let answers = [ExampleProvider.json(503, "{}"), challenge("n1"), ExampleProvider.json(200, "1")]
        let shown = try await play(answers) { _, api, clock in
            async let answer = api.request(APIClientTests.get)
            let start = clock.now().boot
            await clock.somebodySleeps(until: start + .seconds(1.25))
            clock.advance(.seconds(1.25))
            let body = try await answer.body
            #expect(body == 1)
        }
        let claims = try shown.map { try #require($0).claims }
        #expect(claims.count == 3)
        #expect(Set(claims.compactMap { $0["jti"]?.stringValue }).count == 3)
        #expect(claims.map { $0["nonce"] } == [nil, nil, "n1"])
        let dates = claims.compactMap { $0["iat"]?.integerValue }
        #expect(dates == [dates[0], dates[0] + 1, dates[0] + 1])
        for claims in claims {
            #expect(claims["htu"] == "http://localhost:1/things" && claims["htm"] == "GET")
            #expect(
                claims["ath"]?.stringValue == DPoPProof.hash(of: Secret("bound"), SystemCryptography()))
        }
        #expect(shown.allSatisfy { $0?.authorization == "DPoP bound" })
    }

    @Test("a nonce that is required again and again is sent once for each request, and then reported")
    func endless() async throws {
        let shown = try await play([challenge("n1"), challenge("n2")]) { _, api, _ in
            await #expect(throws: AgentError.self) { try await api.request(APIClientTests.get) }
        }
        #expect(shown.count == 2)
    }

    @Test("a body that can be read once only is not sent again for a nonce, nor is the session renewed for that")
    func once() async throws {
        let shown = try await play([challenge("n1"), ExampleProvider.json(200, "1")]) { _, api, clock in
            clock.advance(.seconds(400))
            let answers = AsyncStream<Result<APIResponse, AgentError>>.makeStream()
            let params = APIRequest(
                method: "POST", path: "/file", bodyStream: BodyStream(size: 3, once: true), stream: "s")
            let stream = try api.stream(for: params) { answers.continuation.yield($0) }
            async let life: Void = api.carry(params, by: stream)
            _ = try? await stream.write(APIWrite(stream: "s", offset: 0, bytes: [1, 2, 3], isLast: true))
            await life
            answers.continuation.finish()
            for await answer in answers.stream {
                guard case .failure(let error) = answer else { return #expect(Bool(false), "\(answer)") }
                #expect(error.cause == "use_dpop_nonce" && error.retryable)
            }
        }
        #expect(shown.count == 1)
    }

    @Test("requests of the profile's own are proved as calls are")
    func profile() async throws {
        let answers = [challenge("n1"), ExampleProvider.json(200, #"{"id":"7"}"#)]
        let shown = try await play(answers) { profile in
            profile.userRequest = UserRequest(
                request: RequestTemplate(method: "GET", path: try Template(parsing: "/me"), bearer: true),
                user: [.whole])
        } _: { sessions, _, _ in
            let user = try await sessions.user(UserGet(fresh: true)).user
            #expect(user.id == "7")
        }
        #expect(shown.count == 2)
        #expect(shown.last??.claims["nonce"] == "n1" && shown.last??.claims["htu"] == "http://localhost:1/me")
    }
}
