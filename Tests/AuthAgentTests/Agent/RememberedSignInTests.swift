import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Synchronization
import Testing

/// Sessions whose access token authorizes its own renewal, and whose sign-in is remembered.
@Suite("A remembered sign-in beside a token that renews itself")
struct RememberedSignInTests {
    private static func start(remember: Bool) -> LoginStart {
        LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: remember)
    }

    /// Renews live tokens as long as it is not told to refuse, and signs anybody in.
    private static func transport(refuses: Bool = false) -> ScriptedTransport {
        let numbers = Counter()
        return ScriptedTransport { request throws(TransportError) in
            if refuses, request.url.hasSuffix("/refresh") { return ExampleProvider.json(401, #"{"message":"no"}"#) }
            return ExampleProvider.json(200, #"{"token":"token-\#(numbers.next())","expires_in":1000}"#)
        }
    }

    @Test("is made again after the token's end, and not before")
    func afterTheEnd() async throws {
        let example = try ExampleProvider(transport: Self.transport())
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: true))
            #expect(try sessions.status(nil).remembered)
            example.clock.advance(.seconds(500))
            _ = try await sessions.refresh(SessionParams())
            example.clock.advance(.seconds(2000))
            #expect(try await sessions.token(SessionRegistryTests.get).accessToken == "token-3")
            #expect(try sessions.status(nil).state == .active)
        }
        let asked = example.transport.asked.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        #expect(asked == ["login", "refresh", "login"])
    }

    @Test("is made again if the token is refused before its end")
    func refused() async throws {
        let example = try ExampleProvider(transport: Self.transport(refuses: true))
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: true))
            example.clock.advance(.seconds(500))
            #expect(try await sessions.refresh(SessionParams()).state == .active)
        }
        let asked = example.transport.asked.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        #expect(asked == ["login", "refresh", "login"])
    }

    @Test("is not made if none is remembered: the session needs the user then")
    func notRemembered() async throws {
        let example = try ExampleProvider(transport: Self.transport(refuses: true))
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: false))
            example.clock.advance(.seconds(500))
            await #expect(throws: AgentError.self) { try await sessions.refresh(SessionParams()) }
            #expect(try sessions.status(nil).state == .signInRequired)
        }
    }

    @Test("is not kept if it would not be used, and the user is notified")
    func useless() async throws {
        let example = try ExampleProvider(transport: Self.transport()) {
            $0.signIn[0].fields.append(StepField(name: "code", label: "Code", optional: true, kind: "code"))
        }
        try await example.running { sessions, signIns in
            let step = try await signIns.start(Self.start(remember: true))
            #expect(step.message?.contains("Nothing is remembered") == true)
            #expect(try sessions.status(nil).remembered == false)
        }
    }

    @Test("is made again after a refresh token was finally refused", arguments: [true, false])
    func refreshTokenRefused(remember: Bool) async throws {
        let numbers = Counter()
        let transport = ScriptedTransport { request throws(TransportError) in
            if request.url.hasSuffix("/refresh") { return ExampleProvider.json(401, #"{"message":"no"}"#) }
            let number = numbers.next()
            return ExampleProvider.json(
                200, #"{"token":"token-\#(number)","refresh":"r-\#(number)","expires_in":1000}"#)
        }
        let example = try ExampleProvider(transport: transport) {
            $0.reply.refreshToken = .pointer(try JSONPointer("/refresh"))
            $0.renewal.request?.body = .json(
                .object([("token", .text(try Template(parsing: "{refresh_token}")))]))
        }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: remember))
            #expect(try sessions.status(nil).remembered == remember)
            // The refresh token is tried first even after the token's end.
            example.clock.advance(.seconds(2000))
            if remember {
                #expect(try await sessions.token(SessionRegistryTests.get).accessToken == "token-2")
            } else {
                await #expect(throws: AgentError.self) { try await sessions.refresh(SessionParams()) }
                #expect(try sessions.status(nil).state == .signInRequired)
            }
        }
        let asked = example.transport.asked.map { $0.split(separator: "/").last.map(String.init) ?? "" }
        #expect(asked == (remember ? ["login", "refresh", "login"] : ["login", "refresh"]))
    }

    @Test("is not taken for a profile whose sign-in needs a code, and is for one that renews by a refresh token")
    func notRepeatable() throws {
        var profile = try ExampleProvider.profile()
        #expect(profile.repeatedMethod?.name == "password")
        profile.signIn[0].fields.append(StepField(name: "code", label: "Code", kind: "code"))
        #expect(profile.repeatedMethod == nil)
        profile = try ExampleProvider.profile()
        profile.renewal.request?.body = .json(
            .object([
                ("token", .text(try Template(parsing: "{refresh_token}")))
            ]))
        #expect(profile.repeatedMethod?.name == "password")
    }

    @Test("uses the new password after a reset; of another account, and after a sign-out, nothing is kept")
    func reset() async throws {
        let bodies = Mutex<[String]>([])
        let numbers = Counter()
        let transport = ScriptedTransport { request throws(TransportError) in
            let body = request.body?.reveal() ?? ""
            bodies.withLock { $0.append(body) }
            let user = body.contains("bob@") ? "8" : "7"
            let token = #"{"token":"t-\#(numbers.next())","expires_in":1000,"user":{"id":"\#(user)"}}"#
            return ExampleProvider.json(200, token)
        }
        let example = try ExampleProvider(transport: transport) { profile in
            profile.renewal = Renewal(kind: .signIn)
            profile.signIn[0].fields[1].kind = FieldKind.password
            var reset = profile.signIn[0]
            reset.fields[1].kind = FieldKind.newPassword
            profile.password[.reset] = reset
        }
        try await example.running { sessions, signIns in
            let name = try SessionName("example")
            func reset(_ email: String, replaces: Bool = false) async throws -> Step {
                try await signIns.start(
                    .reset,
                    PasswordParams(
                        session: name, provider: "example", fields: ["email": email, "password": "New-1"],
                        replaceAccount: replaces))
            }
            _ = try await signIns.start(Self.start(remember: true))
            let step = try await reset("ada@a.example")
            #expect(step.kind == .done && step.message == nil)
            #expect(try sessions.status(nil).remembered)
            _ = try await sessions.refresh(SessionParams())
            let last = try #require(bodies.withLock { $0.last })
            #expect(last.contains("New-1") && last.contains(#""email":"a@b.example""#), "\(last)")

            let other = try await reset("bob@a.example", replaces: true)
            #expect(other.message?.contains("--remember") == true)
            #expect(try sessions.status(nil).remembered == false)

            _ = try await sessions.logout(SessionLogout(session: name))
            _ = try await signIns.start(Self.start(remember: true))
            _ = try await sessions.logout(SessionLogout(session: name))
            _ = try await reset("ada@a.example")
            #expect(try sessions.status(nil).remembered == false)
        }
    }

    // MARK: Requests before its own

    /// A sign-in that fetches a value, which its own request sends.
    private static func guarded(_ profile: inout ProviderProfile, count: Int = 1, host: String? = nil) throws {
        var csrf = RequestTemplate(method: "GET", path: try Template(parsing: "/csrf"))
        csrf.captures = [Capture(name: "csrf", place: .pointer(try JSONPointer("/csrf")))]
        csrf.host = host
        profile.hosts = [ProviderHost(name: "other", addresses: [nil: "http://localhost:2"])]
        profile.signIn[0].before = Array(repeating: csrf, count: count)
        profile.signIn[0].request?.headers = [TemplateField(name: "X-CSRF", value: try Template(parsing: "{csrf}"))]
        (profile.renewal, profile.keepsCookies) = (Renewal(kind: .signIn), true)
    }

    @Test("plays them, with new values of their responses and without the session's cookies")
    func before() async throws {
        let numbers = Counter()
        let sent = Mutex<[String]>([])
        let transport = ScriptedTransport { request throws(TransportError) in
            let fields = request.headers.filter { ["Cookie", "X-CSRF"].contains($0.name) }
            sent.withLock { $0.append(fields.map { $0.name + "=" + $0.value.reveal() }.joined(separator: " ")) }
            let number = numbers.next()
            let body = #"{"csrf":"c-\#(number)","token":"t-\#(number)","expires_in":1000}"#
            return HTTPResponse(
                status: 200, headers: [("Content-Type", "application/json"), ("Set-Cookie", "n=\(number)")],
                body: Array(body.utf8))
        }
        let example = try ExampleProvider(transport: transport) { try Self.guarded(&$0) }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: true))
            #expect(try sessions.status(nil).remembered)
            _ = try await sessions.refresh(SessionParams())
            #expect(try await sessions.token(SessionRegistryTests.get).accessToken == "t-4")
        }
        #expect(sent.withLock { $0 } == ["", "X-CSRF=c-1 Cookie=n=1", "", "X-CSRF=c-3 Cookie=n=3"])
    }

    @Test("sends no password if their response lacks a value, and keeps the session")
    func valueMissing() async throws {
        let numbers = Counter()
        let transport = ScriptedTransport { _ throws(TransportError) in
            ExampleProvider.json(200, numbers.next() > 2 ? "{}" : #"{"csrf":"c","token":"t-1","expires_in":1000}"#)
        }
        let example = try ExampleProvider(transport: transport) { try Self.guarded(&$0) }
        try await example.running { sessions, signIns in
            _ = try await signIns.start(Self.start(remember: true))
            let error = await #expect(throws: AgentError.self) { try await sessions.refresh(SessionParams()) }
            #expect(error?.cause == "no_capture")
            #expect(try sessions.status(nil).state == .active)
        }
        #expect(transport.asked.map { $0.hasSuffix("/csrf") } == [true, false, true])
    }

    @Test("has the limits of a user's sign-in, and sends nothing to an origin that the session does not have")
    func limits() async throws {
        let store = MemoryStore()
        let first = try ExampleProvider(store: store, transport: Self.answering()) { try Self.guarded(&$0) }
        try await first.running { _, signIns in _ = try await signIns.start(Self.start(remember: true)) }
        let record = try #require(try await store.load(try SessionName("example")))
        for (count, host, cause, requests) in [(10, nil, "step_limit", 10), (1, "other", "origin_changed", 0)]
            as [(Int, String?, String, Int)]
        {
            let transport = Self.answering()
            let example = try ExampleProvider(transport: transport) {
                try Self.guarded(&$0, count: count, host: host)
            }
            let failure = await #expect(throws: ProviderFailure.self) {
                try await example.sessions.context.providers.renew(record, sentAt: example.clock.now())
            }
            #expect(failure?.error.cause == cause && failure?.weight == "temporary")
            #expect(transport.asked.count == requests)
        }
    }

    private static func answering() -> ScriptedTransport {
        ScriptedTransport { _ throws(TransportError) in
            ExampleProvider.json(200, #"{"csrf":"c","token":"t-1","expires_in":1000}"#)
        }
    }
}
