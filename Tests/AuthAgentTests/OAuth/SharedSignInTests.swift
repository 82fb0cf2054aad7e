import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

/// Two sessions at one authorization server, whose every response to a request for tokens the test writes: `b` shares the
/// sign-in of `a`.
@Suite("Sessions that share a sign-in", .timeLimit(.minutes(1)))
struct SharedSignInTests {
    private static let issuer = "http://127.0.0.1:1/o"
    private static let places = ["a": "http://127.0.0.1:2/mcp", "b": "http://127.0.0.1:3/mcp"]
    private static let ofB = SessionParams(session: try? SessionName("b"))

    /// The server, which counts the renewals of `a`.
    private final class Server: Sendable {
        let answer: Mutex<HTTPResponse>
        /// To renewals of `a`; `nil`: a token.
        let answerToA = Mutex<HTTPResponse?>(nil)
        let renewals = Counter()
        let clock = Mutex<ManualClock?>(nil)

        init(_ answer: HTTPResponse) { self.answer = Mutex(answer) }

        func reply(_ request: HTTPRequest) -> HTTPResponse {
            guard request.method == "POST" else {
                return ExampleProvider.json(
                    200, #"{"issuer":"\#(issuer)","token_endpoint":"http://127.0.0.1:1/token"}"#)
            }
            // The next request to the server may begin at once.
            clock.withLock { $0 }?.advance(RenewalQueue.spacing)
            let form = request.body.flatMap { Form.decode($0.reveal()) } ?? []
            if form["resource"] == SharedSignInTests.places["b"] { return answer.withLock { $0 } }
            let number = renewals.next()
            return answerToA.withLock { $0 } ?? SharedSignInTests.token("a-\(number)")
        }
    }

    private static func token(_ token: String) -> HTTPResponse {
        ExampleProvider.json(200, #"{"access_token":"\#(token)","token_type":"Bearer","expires_in":1000}"#)
    }

    private static func token(for audiences: String...) -> HTTPResponse {
        let claims: JSON = ["aud": .array(audiences.map { .string(places[$0] ?? "") })]
        return token("e30." + Base64URL.encode(claims.serialized()) + ".c2ln")
    }

    private static func error(_ status: Int, _ code: String) -> HTTPResponse {
        ExampleProvider.json(status, #"{"error":"\#(code)"}"#)
    }

    /// - Parameters:
    ///   - age: of the token, which lives 1000 seconds.
    ///   - shared: the session whose sign-in is used.
    private static func record(
        _ name: String, age: Int = 0, user: String? = nil, signIn: String, sharing shared: String? = nil,
        _ signInOfShared: String? = nil
    ) throws -> SessionRecord {
        let now = ManualClock().now().wall
        let place = places[name] ?? ""
        var record = SessionRecord(
            session: try SessionName(name), provider: place, environment: ProviderProfile.generatedEnvironment,
            method: "browser",
            tokens: TokenSet(
                accessToken: Secret("\(name)-0"), refreshToken: shared == nil ? Secret("refresh") : nil,
                issuedAt: now + .seconds(-age), expiresAt: now + .seconds(1000 - age)),
            user: user.map { UserSummary(id: $0) }, rawUser: nil, signedInAt: now, signIn: SignInID(signIn))
        record.resource = ProtectedResource(
            url: place, identifier: place, issuer: issuer, clientSource: .user, clientID: "authd")
        record.resource?.sharedSession = try shared.map { try SessionName($0) }
        record.resource?.sharedSignIn = signInOfShared.flatMap { SignInID($0) }
        return record
    }

    private func play(
        _ records: [SessionRecord], _ answer: HTTPResponse = Self.token(for: "b"),
        _ test: @escaping @Sendable (SessionRequests, Server) async throws -> Void
    ) async throws {
        let store = MemoryStore()
        for record in records { try await store.save(record) }
        let server = Server(answer)
        let example = try ExampleProvider(
            store: store,
            transport: ScriptedTransport { request throws(TransportError) in server.reply(request) })
        server.clock.withLock { $0 = example.clock }
        try await example.running { sessions, _ in try await test(sessions, server) }
    }

    private static func pair(age: Int = 0) throws -> [SessionRecord] {
        [try record("a", signIn: "s1"), try record("b", age: age, signIn: "s2", sharing: "a", "s1")]
    }

    // MARK: Refusals

    @Test(
        "an error that is not the server's refusal of the token does not end the session, and renews nothing",
        arguments: [
            (404, "not_found"), (403, "blocked"), (403, "access_denied"), (401, "invalid_client"),
            (400, "invalid_request"),
        ])
    func temporary(status: Int, code: String) async throws {
        try await play(try Self.pair(age: 2000), Self.error(status, code)) { sessions, server in
            await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
            let status = try sessions.status(Self.ofB.session)
            #expect(status.state == .stale)
            #expect(server.renewals.next() == 1)
            server.answer.withLock { $0 = Self.token(for: "b") }
            server.clock.withLock { $0 }?.advance(.seconds(10))
            let renewed = try await sessions.refresh(Self.ofB)
            #expect(renewed.state == .active)
        }
    }

    @Test(
        "a refusal of the token while the other session is renewed is final",
        arguments: ["invalid_grant", "invalid_target", "invalid_scope", "access_denied", "unauthorized_client"])
    func final(code: String) async throws {
        try await play(try Self.pair(age: 2000), Self.error(400, code)) { sessions, server in
            await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
            let status = try sessions.status(Self.ofB.session)
            #expect(status.state == .signInRequired)
            #expect(server.renewals.next() == 2)
        }
    }

    @Test("a refusal that is repeated from memory does not renew the other session again")
    func remembered() async throws {
        try await play(try Self.pair(), Self.error(400, "invalid_target")) { sessions, server in
            for _ in 0..<3 {
                await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
            }
            #expect(server.renewals.next() == 2)
        }
    }

    @Test(
        "errors of a session do not name the one whose sign-in it uses", arguments: ["invalid_grant", "server_error"])
    func unnamed(code: String) async throws {
        try await play(try Self.pair(age: 2000), Self.error(400, "invalid_target")) { sessions, server in
            server.answerToA.withLock { $0 = Self.error(400, code) }
            let error = await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
            let status = try sessions.status(Self.ofB.session)
            for text in [error?.message, status.lastError] {
                let text = try #require(text)
                #expect(!text.contains("session a") && !text.contains("Session a "), "\(text)")
            }
        }
    }

    // MARK: The account

    @Test(
        "another sign-in of the other session renews it only if it is known to be the same user's",
        arguments: [
            ("7", "7", "s1", true), ("7", "8", "s1", false), (nil, nil, "s1", false), ("7", nil, "s1", false),
            (nil, "7", "s1", false), (nil, nil, nil, true),
        ] as [(String?, String?, String?, Bool)])
    func account(user: String?, next: String?, shared: String?, renews: Bool) async throws {
        let records = [
            try Self.record("a", user: user, signIn: "s1"),
            try Self.record("b", user: user, signIn: "s2", sharing: "a", shared),
        ]
        try await play(records) { sessions, server in
            let before = try sessions.status(Self.ofB.session)
            #expect(before.renews)
            let again = try Self.record("a", user: next, signIn: "s3")
            _ = try await sessions.registry.signedIn(again, sentAt: sessions.context.clock.now())
            let after = try sessions.status(Self.ofB.session)
            #expect(after.renews == renews)
            if renews {
                let renewed = try await sessions.refresh(Self.ofB)
                #expect(renewed.state == .active)
            } else {
                let error = await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
                #expect(error?.cause == "shared_sign_in")
            }
        }
    }

    // MARK: The audience

    @Test(
        "a renewal whose token is not for this resource alone is not used",
        arguments: [["a"], ["a", "b"], []])
    func audience(names: [String]) async throws {
        let answer =
            switch names.count {
            case 0: Self.token("opaque")
            case 1: Self.token(for: "a")
            default: Self.token(for: "a", "b")
            }
        try await play(try Self.pair(), answer) { sessions, _ in
            let error = await #expect(throws: AgentError.self) { try await sessions.refresh(Self.ofB) }
            #expect(error?.cause == "audience")
            let token = try await sessions.token(TokenGet(session: Self.ofB.session))
            #expect(token.accessToken == "b-0")
        }
    }

    // MARK: Sign-out

    @Test("a sign-out ends only the session itself if records name themselves or each other")
    func circle() async throws {
        for (first, second) in [("a", "a"), ("b", "a")] {
            let records = [
                try Self.record("a", signIn: "s1", sharing: first), try Self.record("b", signIn: "s2", sharing: second),
            ]
            try await play(records) { sessions, _ in
                _ = try await sessions.logout(SessionLogout(session: try SessionName("a")))
                let left = try sessions.list().map(\.session.text)
                #expect(left == ["b"])
                _ = try await sessions.logout(SessionLogout(session: Self.ofB.session))
                let none = try sessions.list()
                #expect(none.isEmpty)
            }
        }
    }
}
