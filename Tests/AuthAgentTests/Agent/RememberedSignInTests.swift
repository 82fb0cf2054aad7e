import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
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

    @Test("is not kept if it would not be used, and the user is told so")
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
            // The refresh token is tried first also after the token's end.
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
}
