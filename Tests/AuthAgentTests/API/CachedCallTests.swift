import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

@Suite("Calls answered from memory")
struct CachedCallTests {
    /// A provider whose paths answer with the number of the call, and which can be out of reach.
    private final class Numbers: Sendable {
        private let state = Mutex(
            (count: 0, isAway: false, headers: [(name: String, value: String)](), tags: [String]()))

        var isAway: Bool {
            get { state.withLock { $0.isAway } }
            set { state.withLock { $0.isAway = newValue } }
        }
        /// What callers asked by.
        var tags: [String] { state.withLock { $0.tags } }

        init(_ headers: [(name: String, value: String)] = []) {
            state.withLock { $0.headers = headers }
        }

        func answer(_ request: HTTPRequest) throws(TransportError) -> HTTPResponse {
            let tag = request.headers.first { $0.name == "If-None-Match" }?.value.reveal()
            let answer: HTTPResponse? = state.withLock { state in
                if state.isAway { return nil }
                state.count += 1
                if let tag { state.tags.append(tag) }
                if tag == "\"same\"" { return HTTPResponse(status: 304, headers: state.headers, body: []) }
                return HTTPResponse(
                    status: 200, headers: [("Content-Type", "application/json")] + state.headers,
                    body: Array("\(state.count)".utf8))
            }
            guard let answer else { throw .connectionRefused(host: "h") }
            return answer
        }
    }

    private static func play(
        _ numbers: Numbers, api: APIRules = APIRules(), endpoints: [Endpoint] = [],
        _ test: @escaping @Sendable (APIClient, ManualClock, ExampleProvider) async throws -> Void
    ) async throws {
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                request.url.hasSuffix("/login")
                    ? ExampleProvider.json(200, #"{"token":"t","expires_in":100000,"user":{"id":"7"}}"#)
                    : try numbers.answer(request)
            }
        ) { profile in
            profile.api = api
            profile.endpoints = endpoints
        }
        try await example.running { _, signIns in
            _ = try await signIns.start(SessionRegistryTests.start)
            try await test(example.apiClient, example.clock, example)
        }
    }

    private static func get(
        _ api: APIClient, _ path: String = "/a", cache: CacheMode = .standard
    ) async throws -> APIResponse {
        try await api.request(APIRequest(method: "GET", path: path, cache: cache, retry: false))
    }

    @Test("a fresh response is not requested again; `reload` requests it, and `only` never does")
    func modes() async throws {
        try await Self.play(Numbers(), api: APIRules(cache: .seconds(300))) { api, clock, _ in
            let first = try await Self.get(api)
            clock.advance(.seconds(299))
            let second = try await Self.get(api)
            #expect(first.body == 1 && !first.fromCache && first.ageMs == nil)
            #expect(second.body == 1 && second.fromCache && second.ageMs == 299_000)
            let reloaded = try await Self.get(api, cache: .reload)
            #expect(reloaded.body == 2 && !reloaded.fromCache)
            clock.advance(.seconds(9000))
            let only = try await Self.get(api, cache: .only)
            #expect(only.body == 2 && only.ageMs == 9_000_000)
            let third = try await Self.get(api)
            #expect(third.body == 3)
            let error = await #expect(throws: AgentError.self) { try await Self.get(api, "/b", cache: .only) }
            #expect(error?.kind == .notFound && error?.cause == "not_kept")
        }
    }

    @Test("a stale response is revalidated with its tag, and is fresh after a 304")
    func revalidates() async throws {
        let numbers = Numbers([("ETag", "\"same\""), ("Cache-Control", "max-age=10")])
        try await Self.play(numbers) { api, clock, _ in
            _ = try await Self.get(api)
            clock.advance(.seconds(11))
            let confirmed = try await Self.get(api)
            #expect(confirmed.body == 1 && confirmed.fromCache && confirmed.ageMs == 0 && confirmed.status == 200)
            clock.advance(.seconds(9))
            let fresh = try await Self.get(api)
            #expect(fresh.ageMs == 9000)
        }
        #expect(numbers.tags == ["\"same\""])
    }

    @Test("a 304 to the next account does not give it the former account's response")
    func otherAccount() async throws {
        @Sendable func start(_ email: String) -> LoginStart {
            LoginStart(provider: "example", fields: ["email": email, "password": "secret"], replaceAccount: true)
        }
        let asked = Mutex<[String]>([])
        let signIns = Mutex<SignInService?>(nil)
        let bob = start("bob@a.example")
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/login") {
                let email = request.json?["email"]?.stringValue ?? ""
                let answer = #"{"token":"of-\#(email)","expires_in":100000,"user":{"id":"\#(email)"}}"#
                return ExampleProvider.json(200, answer)
            }
            func header(_ name: String) -> String { request.headers.first { $0.name == name }?.value.reveal() ?? "" }
            let (account, tag) = (
                header("Authorization").dropFirst("Bearer of-".count).prefix(3), header("If-None-Match")
            )
            asked.withLock { $0.append("\(account) \(tag)") }
            let headers = [(name: "ETag", value: "\"same\""), (name: "Cache-Control", value: "max-age=10")]
            guard !tag.isEmpty else {
                return HTTPResponse(
                    status: 200, headers: [("Content-Type", "application/json")] + headers,
                    body: Array("\"\(account)\"".utf8))
            }
            guard account == "ada" else { return HTTPResponse(status: 304, headers: headers, body: []) }
            // The next account signs in while the token of this one is refused.
            _ = try? await signIns.withLock { $0 }?.start(bob)
            return ExampleProvider.json(401, "{}")
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { _, service in
            signIns.withLock { $0 = service }
            _ = try await service.start(start("ada@a.example"))
            let first = try await Self.get(example.apiClient)
            #expect(first.body == "ada")
            example.clock.advance(.seconds(11))
            let second = try await Self.get(example.apiClient)
            #expect(second.body == "bob" && !second.fromCache)
            let third = try await Self.get(example.apiClient)
            #expect(third.body == "bob" && third.fromCache)
        }
        #expect(asked.withLock { $0 } == ["ada ", "ada \"same\"", "bob \"same\"", "bob "])
    }

    @Test("if the provider cannot be reached, the cached response is returned with its age, unless that is forbidden")
    func away() async throws {
        let numbers = Numbers()
        try await Self.play(numbers) { api, clock, _ in
            _ = try await Self.get(api)
            numbers.isAway = true
            clock.advance(.seconds(100))
            let answer = try await Self.get(api)
            #expect(answer.body == 1 && answer.fromCache && answer.ageMs == 100_000)
            let error = await #expect(throws: AgentError.self) { try await Self.get(api, cache: .reload) }
            #expect(error?.kind == .providerUnreachable)
        }
        let strict = Numbers([("Cache-Control", "must-revalidate")])
        try await Self.play(strict) { api, _, _ in
            _ = try await Self.get(api)
            strict.isAway = true
            await #expect(throws: AgentError.self) { try await Self.get(api) }
        }
    }

    @Test("a write invalidates its path and those of its endpoint; its own response may replace the copy")
    func writes() async throws {
        func endpoint(_ name: String, _ method: String, _ path: String) throws -> Endpoint {
            Endpoint(
                name: name, request: RequestTemplate(method: method, path: try Template(parsing: path), bearer: true))
        }
        var change = try endpoint("change", "PUT", "/things/{id}")
        change.answersAsRead = true
        change.clears = ["list"]
        let endpoints = [
            try endpoint("list", "GET", "/things"), change, try endpoint("drop", "DELETE", "/things/{id}"),
        ]
        try await Self.play(Numbers(), api: APIRules(cache: .seconds(300)), endpoints: endpoints) { api, _, _ in
            for path in ["/things", "/things?page=2", "/things/1", "/things/2"] { _ = try await Self.get(api, path) }
            // By its path or by its name, a call has the same effect.
            _ = try await api.request(APIRequest(method: "PUT", path: "/things/1"))
            let changed = try await Self.get(api, "/things/1")
            #expect(changed.body == 5 && changed.fromCache)
            let (list, page) = (try await Self.get(api, "/things"), try await Self.get(api, "/things?page=2"))
            #expect(list.body == 6 && page.body == 7)
            let other = try await Self.get(api, "/things/2")
            #expect(other.body == 4 && other.fromCache)
            _ = try await api.request(APIRequest(method: "DELETE", path: "/things/1"))
            let gone = try await Self.get(api, "/things/1")
            #expect(gone.body == 9 && !gone.fromCache)
        }
    }

    @Test("signing out empties it, and nothing is kept where the profile says so")
    func empties() async throws {
        try await Self.play(Numbers(), api: APIRules(cache: .seconds(300))) { api, _, example in
            _ = try await Self.get(api)
            _ = try await example.sessions.logout(SessionLogout())
            _ = try await example.signIns.start(SessionRegistryTests.start)
            let again = try await Self.get(api)
            #expect(again.body == 2 && !again.fromCache)
        }
        try await Self.play(Numbers(), api: APIRules(cache: .zero)) { api, _, _ in
            _ = try await Self.get(api)
            let again = try await Self.get(api)
            #expect(again.body == 2)
            await #expect(throws: AgentError.self) { try await Self.get(api, cache: .only) }
        }
    }

    @Test("a client with its own cache gets no response from ours")
    func ownConditions() async throws {
        let numbers = Numbers([("ETag", "\"same\"")])
        try await Self.play(numbers, api: APIRules(cache: .seconds(300))) { api, _, _ in
            _ = try await Self.get(api)
            let own = APIRequest(method: "GET", path: "/a", headers: ["If-None-Match": "\"same\""])
            let answer = try await api.request(own)
            #expect(answer.status == 304 && !answer.fromCache && answer.body == nil)
        }
    }
}
