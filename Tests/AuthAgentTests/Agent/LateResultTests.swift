import AgentTestSupport
import AuthModel
import AuthWire
import Synchronization
import Testing

@testable import AuthAgent

@Suite("Late results, when the session has another sign-in", .timeLimit(.minutes(1)))
struct LateResultTests {
    private static let here = "http://localhost:1"
    private static let other = "http://localhost:2"

    /// Each sign-in is another account. Every request to the held path waits for the test.
    private final class Provider: Sendable {
        let hold = Hold()
        private let held: String
        private let numbers = Counter()
        private let bearers = Mutex<[String]>([])

        init(holding held: String) { self.held = held }

        /// Path and token of each request that had a token, in order.
        var asked: [String] { bearers.withLock { $0 } }

        func example() throws -> ExampleProvider {
            let transport = ScriptedTransport { [self] request throws(TransportError) in try await answer(request) }
            return try ExampleProvider(transport: transport) { profile in
                profile.environments.append(ProviderEnvironment(name: "other", baseURL: LateResultTests.other))
                profile.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
                profile.userRequest = UserRequest(
                    request: RequestTemplate(method: "GET", path: try Template(parsing: "/me"), bearer: true),
                    user: [try JSONPointer("/user")])
            }
        }

        private func answer(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
            let bearer = request.headers.first { $0.name == "Authorization" }?.value.reveal().dropFirst("Bearer ".count)
            let path = request.url.split(separator: "/").last ?? ""
            if let bearer { bearers.withLock { $0.append("\(path) \(bearer)") } }
            if request.url.hasSuffix(held), await !hold.pass() { throw .cancelled }
            if request.url.hasSuffix("/me") {
                let account = bearer?.split(separator: "-").last ?? ""
                return ExampleProvider.json(200, #"{"user":{"id":"\#(account)","email":"\#(account)@b.example"}}"#)
            }
            if request.url.hasSuffix("/refresh") {
                return ExampleProvider.json(200, #"{"token":"late-token","expires_in":1000}"#)
            }
            if request.url.hasSuffix("/votes") { return ExampleProvider.json(401, "{}") }
            if request.url.hasSuffix("/logout") { return ExampleProvider.json(200, "{}") }
            let number = numbers.next()
            return ExampleProvider.json(
                200, #"{"token":"token-\#(number)","expires_in":1000,"user":{"id":"\#(number)"}}"#)
        }

        /// Returns when this was asked for.
        func waits(for request: String) async {
            while !asked.contains(request) { await Task.yield() }
        }
    }

    private static func signIn(_ signIns: SignInService, environment: String? = nil) async throws {
        let step = try await signIns.start(
            LoginStart(
                provider: "example", environment: environment, fields: SessionRegistryTests.fields, replaceAccount: true
            ))
        try #require(step.kind == .done)
    }

    @Test("a queued write is not sent with the token of another sign-in that took the session while it waited for one")
    func queuedWrite() async throws {
        for isOld in [false, true] {
            let provider = Provider(holding: "/refresh")
            let example = try provider.example()
            try await example.running { sessions, signIns in
                try await Self.signIn(signIns)
                let name = try SessionName("example")
                let record = try await sessions.registry.session(name).record
                example.clock.advance(.seconds(400))
                // An older authd wrote down neither the sign-in nor the user.
                let entry = OutboxEntry(
                    id: "a", session: name,
                    owner: .init(provider: "example", environment: "local", userID: isOld ? nil : "1"),
                    signIn: isOld ? nil : record.signIn, title: "vote", idempotencyKey: "key-a",
                    queuedAt: WallTime(unixSeconds: 1))
                let params = APIRequest(session: name, method: "POST", path: "/votes", queue: true)
                let sent = Task { try await example.apiClient.send(.request(params), entry) }
                await provider.hold.isReached()
                try await Self.signIn(signIns)
                let error = await #expect(throws: AgentError.self) { try await sent.value }
                #expect(error?.kind == .denied && error?.cause == "other_sign_in")
            }
            #expect(provider.asked.filter { $0.hasPrefix("votes") } == ["votes token-1"])
        }
    }

    @Test("a token for an origin is not given out if the session was signed in elsewhere while it was waited for")
    func tokenForOrigin() async throws {
        let provider = Provider(holding: "/refresh")
        let example = try provider.example()
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            example.clock.advance(.seconds(400))
            let token = Task { try await sessions.token(TokenGet(minValid: .seconds(700), origin: Self.here)) }
            await provider.hold.isReached()
            try await Self.signIn(signIns, environment: "other")
            let error = await #expect(throws: AgentError.self) { try await token.value }
            #expect(error?.kind == .denied && error?.cause == "other_origin")
            #expect(try await sessions.token(TokenGet(origin: Self.other)).accessToken == "token-2")
        }
    }

    @Test("a token for the place that a changed profile names is not given out, with the reason")
    func tokenForChangedOrigin() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            var changed = try ExampleProvider.profile()
            changed.environments[0].baseURL = Self.other
            // As between the two steps of a reload: the session has not been told yet.
            sessions.context.providers.profiles = ProfileCatalog([changed])
            for origin in [Self.here, Self.other] {
                let error = await #expect(throws: AgentError.self) {
                    try await sessions.token(TokenGet(origin: origin))
                }
                #expect(error?.kind == .signInRequired && error?.cause == "origin_changed")
            }
        }
    }

    @Test("the user of the former account does not become the session's")
    func user() async throws {
        let provider = Provider(holding: "/me")
        let example = try provider.example()
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            let asked = Task { try await sessions.user(UserGet(fresh: true)).user.id }
            await provider.hold.isReached()
            try await Self.signIn(signIns)
            provider.hold.release()
            #expect(try await asked.value == "1")
            #expect(try sessions.status(nil).user?.id == "2")
        }
    }

    @Test("places that were found for a former sign-in are not trusted, and none that the profile has left")
    func places() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            let session = try await sessions.registry.session(SessionName("example"))
            let former = await session.record
            var found = try #require(former.origins)
            found.allow(.all, at: Self.other)
            try await Self.signIn(signIns)
            #expect(await !session.trust(found, of: former))
            let error = AgentError(.signInRequired, "elsewhere", cause: "origin_changed")
            await session.note(.refused(error), with: former)
            #expect(try sessions.status(nil).state == .active)

            let present = await session.record
            var changed = try ExampleProvider.profile()
            changed.environments[0].baseURL = "http://localhost:3"
            await sessions.registry.reload(ProfileCatalog([changed]))
            #expect(await !session.trust(found, of: present))
            #expect(await session.record.origins == present.origins)
            #expect(try sessions.status(nil).cause == "origin_changed")
        }
    }

    @Test("another account takes the session during a renewal: the former token and the late one are revoked")
    func renewal() async throws {
        let provider = Provider(holding: "/refresh")
        let example = try provider.example()
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            example.clock.advance(.seconds(400))
            let renewed = Task { try? await sessions.refresh(SessionParams()) }
            await provider.hold.isReached()
            try await Self.signIn(signIns)
            await provider.waits(for: "logout token-1")
            provider.hold.release()
            await provider.waits(for: "logout late-token")
            _ = await renewed.value
            #expect(try await sessions.token(TokenGet()).accessToken == "token-2")
        }
    }

    @Test("a sign-out whose caller has gone is finished, and the token is revoked")
    func abandonedSignOut() async throws {
        let hold = Hold()
        let (reports, tell) = AsyncStream<Bool>.makeStream()
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                guard request.url.hasSuffix("/logout") else {
                    return ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000,"user":{"id":"7"}}"#)
                }
                tell.yield(await hold.pass())
                return ExampleProvider.json(200, "{}")
            }
        ) {
            $0.signOut = RequestTemplate(method: "POST", path: try Template(parsing: "/logout"), bearer: true)
        }
        try await example.running { sessions, signIns in
            try await Self.signIn(signIns)
            let leaving = Task { try await sessions.logout(SessionLogout()) }
            await hold.isReached()
            leaving.cancel()
            await #expect(throws: AgentError.callerGone) { try await leaving.value }
            hold.release()
            var ends = reports.makeAsyncIterator()
            #expect(await ends.next() == true)
        }
        #expect(try await example.store.loadAll().isEmpty)
    }
}
