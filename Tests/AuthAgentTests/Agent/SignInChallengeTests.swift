import AgentTestSupport
import AuthAgent
import AuthModel
import AuthWire
import Testing

@Suite("Sign-in by a code")
struct SignInChallengeTests {
    private static let start = LoginStart(provider: "example")
    private static let sent = "POST http://localhost:1/send"
    private static let tried = "POST http://localhost:1/code"

    /// Up to the question for the code.
    private func begun(_ signIns: SignInService) async throws -> Step {
        let first = try await signIns.start(Self.start)
        return try await signIns.answer(LoginAnswer(login: first.login, fields: ["email": " a@b.example\n"]))
    }

    @Test("the fields of the request that sends the code come first, with the optional ones; then the code")
    func order() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { sessions, signIns in
            let first = try await signIns.start(Self.start)
            #expect(first.fields?.map(\.name) == ["email", "device"])
            #expect(sessions.context.board.status(try SessionName("example"))?.state == .signingIn)
            #expect(provider.example.transport.asked.isEmpty)
            let second = try await signIns.answer(
                LoginAnswer(login: first.login, fields: ["email": "a@b.example"]))
            #expect(provider.example.transport.asked == [Self.sent])
            #expect(second.fields?.map(\.name) == ["code"])
            #expect(second.message == "It is on its way")
            #expect(second.sentTo == "a@b.example")
            let now = provider.example.clock.now().wall.unixSeconds
            #expect(second.expiresAt == now + 600)
            #expect(second.resendAt == now + 30)
            let done = try await signIns.answer(LoginAnswer(login: first.login, fields: ["code": "012345"]))
            #expect(done.kind == .done)
            #expect(done.message == "Welcome")
            #expect(done.status?.needsPassword == true)
            #expect(done.status?.renews == false)
            #expect(provider.example.transport.asked == [Self.sent, Self.tried])
        }
    }

    @Test("a code that is known already needs no sending")
    func known() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { _, signIns in
            let done = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "a@b.example", "code": "012345"]))
            #expect(done.kind == .done)
            #expect(provider.example.transport.asked == [Self.tried])
        }
    }

    @Test(
        "an invalid code is reported before anything is sent; after a wrong one the step asks again with the provider's words"
    )
    func wrongCode() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { _, signIns in
            let step = try await begun(signIns)
            let typo = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "12345"]))
            #expect(typo.fields?.map(\.name) == ["code"])
            #expect(typo.message == "Code: 6 digits")
            #expect(typo.error == nil)
            #expect(provider.example.transport.asked == [Self.sent])
            let wrong = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "999999"]))
            #expect(wrong.kind == .fields)
            #expect(wrong.message == "Invalid verification code")
            #expect(wrong.error?.kind == .validation)
            let done = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "012345"]))
            #expect(done.kind == .done)
        }
    }

    @Test("after five wrong codes the sign-in ends")
    func tooManyWrong() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { sessions, signIns in
            let step = try await begun(signIns)
            for _ in 1...5 {
                let again = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "999999"]))
                #expect(again.kind == .fields)
            }
            let last = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "999999"]))
            #expect(last.kind == .failed)
            #expect(last.error?.providerMessage == "Invalid verification code")
            #expect(sessions.context.board.statuses().isEmpty)
        }
    }

    @Test("another code is sent when it is time, and not before")
    func resend() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { _, signIns in
            let step = try await begun(signIns)
            do throws(AgentError) {
                _ = try await signIns.resend(LoginParams(login: step.login))
                Issue.record("it was sent too soon")
            } catch {
                #expect(error.kind == .rateLimited)
                #expect(error.retryAfter == .seconds(30))
            }
            provider.example.clock.advance(.seconds(30))
            let again = try await signIns.resend(LoginParams(login: step.login))
            #expect(again.fields?.map(\.name) == ["code"])
            #expect(provider.example.transport.asked == [Self.sent, Self.sent])
        }
    }

    @Test("a code that has ended is not sent to the provider")
    func ended() async throws {
        let provider = try CodeProvider()
        try await provider.example.running { _, signIns in
            let step = try await begun(signIns)
            provider.example.clock.advance(.seconds(600))
            let late = try await signIns.answer(LoginAnswer(login: step.login, fields: ["code": "012345"]))
            #expect(late.fields?.map(\.name) == ["code"])
            #expect(late.message?.contains("request another") == true)
            #expect(provider.example.transport.asked == [Self.sent])
        }
    }

    @Test("a code cannot be remembered, and that is reported before it is sent")
    func remembered() async throws {
        let transport = ExampleProvider.numbering()
        let example = try ExampleProvider(transport: transport) { profile in
            var code = profile.signIn[0]
            code.name = "other"
            profile.signIn.append(code)
            profile.renewal = Renewal(kind: .signIn, method: "password")
        }
        try await example.running { _, signIns in
            await #expect(throws: AgentError.self) {
                try await signIns.start(LoginStart(provider: "example", method: "other", remember: true))
            }
            let done = try await signIns.start(
                LoginStart(provider: "example", fields: SessionRegistryTests.fields, remember: true))
            #expect(done.status?.remembered == true)
            #expect(done.status?.renews == true)
        }
    }

    @Test(
        "a first password is set with the session's token, after each unmet rule was reported, and is no longer missing"
    )
    func setPassword() async throws {
        let store = MemoryStore()
        let provider = try CodeProvider(store: store)
        try await provider.example.running { sessions, signIns in
            _ = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "a@b.example", "code": "012345"]))
            let weak = try await signIns.start(.set, PasswordParams(fields: ["password": "short"]))
            #expect(weak.message == "Password: at least 8 characters\nPassword: a digit")
            #expect(provider.example.transport.asked == [Self.tried])
            _ = try await signIns.cancel(LoginParams(login: weak.login))
            let refused = try await signIns.start(.set, PasswordParams(fields: ["password": "hunter2hunter2"]))
            #expect(refused.error?.providerMessage == "Too well known")
            #expect(try sessions.status(nil).needsPassword)
            let done = try await signIns.start(.set, PasswordParams(fields: ["password": "a long one 7"]))
            #expect(done.kind == .done)
            #expect(done.message == "Password set")
            #expect(done.status?.needsPassword == false)
            #expect(try await store.load(SessionName("example"))?.needsPassword == false)
            await #expect(throws: AgentError.self) { try await signIns.start(.change, PasswordParams()) }
        }
    }
}
