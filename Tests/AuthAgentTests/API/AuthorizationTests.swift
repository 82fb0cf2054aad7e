import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Synchronization
import Testing

/// Which `Authorization` a request has, and what a 401 says about the session.
@Suite("Authorization of a call")
struct AuthorizationTests {
    /// What the provider received as `Authorization`, request by request.
    private final class Seen: Sendable {
        private let values = Mutex<[[String]]>([])
        var all: [[String]] { values.withLock { $0 } }

        func add(_ request: HTTPRequest) {
            let own = request.headers.filter { $0.name.lowercased() == "authorization" }.map { $0.value.reveal() }
            values.withLock { $0.append(own) }
        }
    }

    /// - Parameter answer: to every request but sign-in and renewal, by the token that it has.
    private static func provider(
        _ seen: Seen, _ change: @escaping (inout ProviderProfile) throws -> Void,
        _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws -> ExampleProvider {
        let counter = Counter()
        return try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                if request.url.hasSuffix("/login") || request.url.hasSuffix("/refresh") {
                    if request.url.hasSuffix("/refresh") { seen.add(request) }
                    let token = "token-\(counter.next())"
                    return ExampleProvider.json(200, #"{"token":"\#(token)","expires_in":1000,"user":{"id":"7"}}"#)
                }
                seen.add(request)
                return answer(request)
            }, change)
    }

    private static func failure(_ call: () async throws(AgentError) -> APIResponse) async -> AgentError? {
        do throws(AgentError) {
            _ = try await call()
            return nil
        } catch {
            return error
        }
    }

    private static func open(_ name: String) throws -> Endpoint {
        Endpoint(name: name, request: RequestTemplate(method: "POST", path: try Template(parsing: "/users")))
    }

    @Test("a profile's own Authorization is the only one that is sent, with the token of each try")
    func ownHeader() async throws {
        let seen = Seen()
        let example = try Self.provider(seen) { profile in
            profile.headers = [
                TemplateField(name: "authorization", value: try Template(parsing: "Token {access_token}"))
            ]
            profile.userRequest = UserRequest(
                request: RequestTemplate(method: "GET", path: try Template(parsing: "/me"), bearer: true),
                user: [.whole])
        } _: { request in
            let isOld = request.headers.contains { $0.value.reveal() == "Token token-1" }
            return ExampleProvider.json(isOld ? 401 : 200, #"{"id":"7"}"#)
        }
        try await APIClientTests.play(example) { sessions, api in
            example.clock.advance(.seconds(400))
            _ = try await api.request(APIClientTests.get)
            _ = try await sessions.user(UserGet(fresh: true))
        }
        #expect(seen.all == [["Token token-1"], ["Token token-1"], ["Token token-2"], ["Token token-2"]])
    }

    @Test("without one, a request has the usual bearer")
    func usualBearer() async throws {
        let seen = Seen()
        let example = try Self.provider(seen) { _ in
        } _: { _ in
            ExampleProvider.json(200, "{}")
        }
        try await APIClientTests.play(example) { _, api in _ = try await api.request(APIClientTests.get) }
        #expect(seen.all == [["Bearer token-1"]])
    }

    @Test("a 401 to a call without a token says nothing about the session, and renews nothing")
    func openEndpoint() async throws {
        let seen = Seen()
        let example = try Self.provider(seen) {
            $0.endpoints = [try Self.open("create-user")]
        } _: { _ in
            ExampleProvider.json(401, #"{"message":"No such invitation."}"#)
        }
        try await APIClientTests.play(example) { sessions, api in
            example.clock.advance(.seconds(400))
            let error = await Self.failure { () async throws(AgentError) in
                try await api.call(APICall(endpoint: "create-user"))
            }
            #expect(error?.kind == .refused && error?.providerMessage == "No such invitation.")
            #expect(error?.message == "Example refused the request.")
            let state = try sessions.status(nil).state
            #expect(state == .active)
        }
        #expect(seen.all == [[]])
    }

    @Test("a token that was revoked elsewhere is renewed, however young it is")
    func youngToken() async throws {
        let seen = Seen()
        let example = try Self.provider(seen) { _ in
        } _: { request in
            let isOld = request.headers.contains { $0.value.reveal() == "Bearer token-1" }
            return ExampleProvider.json(isOld ? 401 : 200, "1")
        }
        try await APIClientTests.play(example) { _, api in
            example.clock.advance(.seconds(2))
            let answers = try await withThrowingTaskGroup(of: APIResponse.self) { group in
                for _ in 1...20 { group.addTask { try await api.request(APIClientTests.get) } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count == 20 && answers.allSatisfy { $0.body == 1 })
        }
        #expect(example.transport.asked.count { $0 == "POST http://localhost:1/refresh" } == 1)
    }

    @Test("an endpoint that always says 401 gets an error that does not contradict the status")
    func alwaysRefused() async throws {
        let seen = Seen()
        let example = try Self.provider(seen) { _ in
        } _: { _ in
            ExampleProvider.json(401, #"{"message":"Admins only."}"#)
        }
        try await APIClientTests.play(example) { sessions, api in
            for _ in 1...3 {
                let error = await Self.failure { () async throws(AgentError) in
                    try await api.request(APIClientTests.get)
                }
                #expect(error?.kind == .refused && error?.cause == "token_refused" && error?.httpStatus == 401)
                #expect(error?.providerMessage == "Admins only.")
                #expect(error?.message.contains("authc login") == false)
                // The write waits: a new sign-in may change it.
                #expect(error?.isFinalForWrite == false)
                let state = try sessions.status(nil).state
                #expect(state == .active)
            }
        }
        #expect(example.transport.asked.count { $0 == "POST http://localhost:1/refresh" } == 1)
    }

    @Test("such an endpoint ends no session at a provider that refuses to renew a new token")
    func alwaysRefusedWithoutRenewal() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/login") {
                return ExampleProvider.json(200, #"{"token":"token-1","refresh":"r-1","expires_in":1000}"#)
            }
            let message = request.url.hasSuffix("/refresh") ? "Too early." : "Admins only."
            return ExampleProvider.json(401, #"{"message":"\#(message)"}"#)
        }
        let example = try ExampleProvider(transport: transport) {
            $0.reply.refreshToken = .pointer(try JSONPointer("/refresh"))
            $0.renewal.request?.body = .json(.object([("token", .text(try Template(parsing: "{refresh_token}")))]))
        }
        try await APIClientTests.play(example) { sessions, api in
            for _ in 1...3 {
                let error = await Self.failure { () async throws(AgentError) in
                    try await api.request(APIClientTests.get)
                }
                #expect(error?.cause == "token_refused" && error?.providerMessage == "Admins only.")
                let status = try sessions.status(nil)
                #expect(status.state == .active && status.cause == "renewal_refused")
            }
        }
        #expect(example.transport.asked.count { $0 == "POST http://localhost:1/refresh" } == 1)
    }

    @Test("a session that the renewal has ended is reported as that")
    func endedByRenewal() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            request.url.hasSuffix("/login")
                ? ExampleProvider.json(200, #"{"token":"token-1","expires_in":1000,"user":{"id":"7"}}"#)
                : ExampleProvider.json(401, #"{"message":"Over."}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await APIClientTests.play(example) { sessions, api in
            let error = await Self.failure { () async throws(AgentError) in try await api.request(APIClientTests.get) }
            #expect(error?.kind == .signInRequired)
            let state = try sessions.status(nil).state
            #expect(state == .signInRequired)
        }
    }
}
