import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Sign-in")
struct SignInServiceTests {
    @Test("missing fields are requested one step at a time, and nothing is sent before")
    func steps() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            let first = try await signIns.start(LoginStart(provider: "example"))
            #expect(first.kind == .fields)
            #expect(first.fields?.map(\.name) == ["email", "password"])
            let second = try await signIns.answer(
                LoginAnswer(login: first.login, fields: ["email": "a@b.example"]))
            #expect(second.fields?.map(\.name) == ["password"])
            #expect(example.transport.asked.isEmpty)
            let done = try await signIns.answer(LoginAnswer(login: first.login, fields: ["password": "secret"]))
            #expect(done.kind == .done)
        }
    }

    @Test("invalid input is reported and requested again before anything is sent")
    func wrongInput() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            let step = try await signIns.start(
                LoginStart(provider: "example", fields: ["email": "no address", "password": "secret"]))
            #expect(step.kind == .fields)
            #expect(step.fields?.map(\.name) == ["email"])
            #expect(step.message?.contains("e-mail") == true)
            #expect(example.transport.asked.isEmpty)
            let done = try await signIns.answer(LoginAnswer(login: step.login, fields: ["email": "a@b.example"]))
            #expect(done.kind == .done)
        }
    }

    @Test("a refusal carries the provider's own words, and the session does not come to be")
    func refused() async throws {
        let transport = ScriptedTransport { _ throws(TransportError) in
            ExampleProvider.json(401, #"{"message":"Nobody of that name"}"#)
        }
        let example = try ExampleProvider(transport: transport)
        try await example.running { sessions, signIns in
            let step = try await signIns.start(SessionRegistryTests.start)
            #expect(step.kind == .failed)
            #expect(step.error?.kind == .refused)
            #expect(step.error?.providerMessage == "Nobody of that name")
            #expect(sessions.context.board.statuses().isEmpty)
        }
    }

    @Test("a second sign-in to the same session is refused without the id of the first, or ends it if it says so")
    func second() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            let first = try await signIns.start(LoginStart(provider: "example", fields: ["email": "a@b.example"]))
            do throws(AgentError) {
                _ = try await signIns.start(SessionRegistryTests.start)
                Issue.record("a second sign-in began")
            } catch {
                #expect(error.kind == .busy)
                #expect(error.cause == "sign_in_in_progress")
                #expect(!error.json.text().contains(first.login))
            }
            let here = try await signIns.wait(LoginParams(login: first.login))
            #expect(here.fields?.map(\.name) == ["password"])
            var replacing = SessionRegistryTests.start
            replacing.replacesSignIn = true
            #expect(try await signIns.start(replacing).kind == .done)
            let replaced = try await signIns.wait(LoginParams(login: first.login))
            #expect(replaced.kind == .failed && replaced.error == .cancelledLogin)
        }
    }

    @Test("a client that asks late gets the last step, which has no token, for some minutes; nothing else is possible")
    func late() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let done = try await signIns.start(SessionRegistryTests.start)
            let params = LoginParams(login: done.login)
            for _ in 1...2 { #expect(try await signIns.wait(params) == done) }
            #expect(done.kind == .done && !done.json.text().contains("token-1"), "\(done.json.text())")
            await #expect(throws: AgentError.unknownLogin) {
                try await signIns.answer(LoginAnswer(login: done.login, fields: ["password": "other"]))
            }
            await #expect(throws: AgentError.unknownLogin) { try await signIns.resend(params) }
            await #expect(throws: AgentError.unknownLogin) { try await signIns.wait(LoginParams(login: "l0")) }
            // The status is the present one.
            _ = try await sessions.logout(SessionLogout())
            let late = try await signIns.wait(params)
            #expect(late.kind == .done && late.status == nil)
            example.clock.advance(EndedSignIns.lifetime)
            await #expect(throws: AgentError.unknownLogin) { try await signIns.wait(params) }
        }
    }

    @Test("a cancelled sign-in has ended, and another may begin")
    func cancelled() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            let first = try await signIns.start(LoginStart(provider: "example"))
            #expect(try await signIns.cancel(LoginParams(login: first.login)).error?.kind == .denied)
            await #expect(throws: AgentError.unknownLogin) { try await signIns.cancel(LoginParams(login: first.login)) }
            #expect(try await signIns.start(SessionRegistryTests.start).kind == .done)
        }
    }

    @Test("an idle sign-in can be replaced after a quarter of an hour")
    func abandoned() async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { sessions, signIns in
            let idle = try await signIns.start(LoginStart(provider: "example"))
            let end = example.clock.now().boot + SignInMachine.abandonedAfter
            await example.clock.somebodySleeps(until: end)
            example.clock.advance(SignInMachine.abandonedAfter)
            for await _ in sessions.context.board.changes() where sessions.context.board.statuses().isEmpty { break }
            // The session's status is gone a moment before the sign-in has ended.
            _ = try await signIns.wait(LoginParams(login: idle.login))
            #expect(try await signIns.start(SessionRegistryTests.start).kind == .done)
        }
    }

    @Test("a caller that is gone before it knows the sign-in ends it", .timeLimit(.minutes(1)))
    func callerGone() async throws {
        let hold = Hold()
        let example = try ExampleProvider(
            transport: ScriptedTransport { request throws(TransportError) in
                guard request.url.hasSuffix("/send") else {
                    return ExampleProvider.json(200, #"{"token":"token-1","user":{"id":"7"}}"#)
                }
                // The provider answers, even if nobody waits for it any more.
                await hold.pass()
                return ExampleProvider.json(200, "{}")
            }
        ) { $0.signIn = [try CodeProvider.method()] }
        try await example.running { sessions, signIns in
            let start = LoginStart(provider: "example", fields: ["email": "a@b.example"])
            let leaving = Task { try await signIns.start(start) }
            await hold.isReached()
            leaving.cancel()
            _ = await leaving.result
            for await _ in sessions.context.board.changes() where sessions.context.board.statuses().isEmpty { break }
            hold.release()
            let next = try await signIns.start(start)
            #expect(next.fields?.map(\.name) == ["code"])
        }
    }

    @Test(
        "a sign-in goes on if a caller leaves that knows it, and another caller gets the step", .timeLimit(.minutes(1)))
    func otherCaller() async throws {
        let hold = Hold()
        let example = try ExampleProvider(
            transport: ScriptedTransport { _ throws(TransportError) in
                guard await hold.pass() else { throw .cancelled }
                return ExampleProvider.json(200, #"{"token":"token-1","user":{"id":"7"}}"#)
            })
        try await example.running { _, signIns in
            let first = try await signIns.start(LoginStart(provider: "example"))
            let leaving = Task {
                try await signIns.answer(LoginAnswer(login: first.login, fields: SessionRegistryTests.fields))
            }
            await hold.isReached()
            leaving.cancel()
            await #expect(throws: AgentError.callerGone) { try await leaving.value }
            hold.release()
            #expect(try await signIns.wait(LoginParams(login: first.login)).kind == .done)
        }
        #expect(try await example.store.loadAll().count == 1)
    }

    @Test(
        "unknown names are reported with the known ones",
        arguments: [
            LoginStart(provider: "nobody"), LoginStart(provider: "example", environment: "moon"),
            LoginStart(provider: "example", method: "telepathy"),
            LoginStart(provider: "example", fields: ["shoe_size": "42"]),
        ])
    func unknownNames(params: LoginStart) async throws {
        let example = try ExampleProvider(transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            await #expect(throws: AgentError.self) { try await signIns.start(params) }
            #expect(example.transport.asked.isEmpty)
            // What was refused is not left behind.
            let next = try await signIns.start(SessionRegistryTests.start)
            #expect(next.kind == .done)
        }
    }

    @Test("a name that is taken by another provider's session is a conflict")
    func conflict() async throws {
        let store = MemoryStore()
        try await store.save(
            SessionRecord(
                session: SessionName("example"), provider: "other", environment: "local", method: "password",
                tokens: TokenSet(accessToken: Secret("t"), issuedAt: WallTime(unixSeconds: 1_800_000_000)), user: nil,
                rawUser: nil, signedInAt: WallTime(unixSeconds: 1_800_000_000)))
        let example = try ExampleProvider(store: store, transport: ExampleProvider.numbering())
        try await example.running { _, signIns in
            do throws(AgentError) {
                _ = try await signIns.start(SessionRegistryTests.start)
                Issue.record("the session was taken over")
            } catch {
                #expect(error.kind == .conflict)
            }
        }
    }
}
