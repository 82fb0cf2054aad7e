import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("Steps that responses ask for, decided by events")
struct SignInStepTests {
    private static let code = StepField(name: "code", label: "Code", kind: FieldKind.code)

    /// With a request before it, and steps: a code, a choice, one without fields, and one that waits.
    private func bench(_ fields: [String: String] = ["email": "a@b.example", "password": "p"]) throws -> SignInBench {
        let profile = try Sample.profile { profile in
            var before = RequestTemplate(method: "GET", path: try Template(parsing: "/csrf"))
            before.captures = [Capture(name: "csrf", place: .header("X-CSRF"))]
            profile.signIn[0].before = [before]
            profile.signIn[0].request?.headers = [
                TemplateField(name: "X-CSRF", value: try Template(parsing: "{csrf}"))
            ]
            profile.signIn[0].next = [
                try step([Self.code], ["code": [.digits(count: 6)]]),
                try step([StepField(name: "tenant", label: "Tenant")]), try step(),
                try step(poll: StepPoll(interval: .seconds(3), lifetime: .seconds(600))),
            ]
        }
        return try SignInBench(profile, LoginStart(provider: "sample", fields: fields))
    }

    private func step(
        _ fields: [StepField] = [], _ rules: [String: [FieldRule]] = [:], poll: StepPoll? = nil
    ) throws -> SignInStep {
        let request = RequestTemplate(method: "POST", path: try Template(parsing: "/next"))
        return SignInStep(
            rule: ResponseRule(statuses: [401]), fields: fields, rules: rules, request: request, poll: poll)
    }

    private func asks(_ index: Int, _ message: String? = nil, error: AgentError? = nil) -> SignInResponse {
        var step = RequestedStep(index: index, message: message, error: error)
        if index == 0 { step.fields = [Self.code] }
        if index == 1 {
            step.fields = [
                StepField(
                    name: "tenant", label: "Tenant",
                    choices: [FieldChoice(value: "1", label: "North"), FieldChoice(value: "2", label: "South")])
            ]
            step.choices = ["tenant": [1, 2].compactMap { IssuedValue(JSON.integer($0)) }]
        }
        return SignInResponse(step: step)
    }

    /// Up to the sign-in's own request.
    private func begun() throws -> SignInBench {
        var bench = try bench()
        bench.begin()
        #expect(bench.parts == [.before(0)])
        var answer = SignInResponse()
        answer.captured = ["csrf": IssuedValue(Secret("c"))]
        bench.responded(.before(0), answer)
        #expect(bench.parts == [.own])
        return bench
    }

    @Test("a second factor and a choice: each is requested with the provider's words, and sent unchanged")
    func several() throws {
        var bench = try begun()
        let caller = bench.ask { .stepRequested($0) }
        bench.responded(.own, asks(0, "Enter the code"))
        let question = try bench.step(for: caller)
        #expect(question.kind == .fields && question.fields == [Self.code] && question.message == "Enter the code")
        #expect(question.error == nil)
        let typo = bench.answer(["code": "12345"])
        #expect(try bench.step(for: typo).message == "Code: 6 digits" && bench.parts.isEmpty)
        bench.answer(["code": " 123456\n"])
        #expect(bench.parts == [.step(0)])
        #expect(bench.machine.form.values.stepFields["code"]?.text.reveal() == "123456")
        bench.responded(.step(0), asks(1))
        let unknown = bench.answer(["tenant": "West"])
        #expect(try bench.step(for: unknown).message == "Tenant: one of North, South")
        bench.answer(["tenant": "South"])
        let chosen = try #require(bench.machine.form.values.stepFields["tenant"])
        #expect(chosen.text.reveal() == "2" && chosen.isJSON)
        bench.responded(.step(1), asks(2))
        #expect(bench.parts == [.step(2)])
        bench.responded(.step(2), SignInResponse(grant: bench.grant("t", user: "a")))
        bench.examined()
        #expect(bench.installed.first?.remembered == nil)
        #expect(bench.installed.map { $0.tokens.accessToken.reveal() } == ["t"])
    }

    @Test("answers that are given from the start are used once, when a response asks for them")
    func givenBefore() throws {
        var bench = try bench(["email": "a@b.example", "password": "p", "code": "123456"])
        bench.begin()
        bench.responded(.before(0), captured("csrf"))
        bench.responded(.own, asks(0))
        #expect(bench.parts == [.step(0)])
        #expect(bench.machine.form.fields["code"] == nil)
        let caller = bench.ask { .stepRequested($0) }
        bench.responded(.step(0), asks(0, "Another one"))
        #expect(try bench.step(for: caller).message == "Another one")
    }

    private func captured(_ name: String) -> SignInResponse {
        var response = SignInResponse()
        response.captured = [name: IssuedValue(Secret("c"))]
        return response
    }

    @Test("a wrong code is asked for again in the provider's words, five times; the sixth ends it")
    func corrections() throws {
        var bench = try begun()
        bench.responded(.own, asks(0))
        for count in 1...6 {
            let caller = bench.answer(["code": "999999"])
            bench.refused(AgentError(.validation, "no", providerMessage: "Wrong code"), .step(0))
            let step = try bench.step(for: caller)
            #expect(step.kind == (count == 6 ? .failed : .fields), "\(count)")
            #expect(count == 6 || step.message == "Wrong code" && step.error?.kind == .validation)
        }
    }

    @Test("a provider that asks for the same step again and again: the sixth time ends it")
    func uses() throws {
        var bench = try begun()
        bench.responded(.own, asks(0))
        for count in 2...6 {
            let caller = bench.answer(["code": "123456"])
            bench.responded(.step(0), asks(0, "Again", error: AgentError(.refused, "no")))
            let step = try bench.step(for: caller)
            #expect(step.kind == (count == 6 ? .failed : .fields), "\(count)")
            #expect(count == 6 ? step.error?.cause == "step_limit" : step.error?.kind == .refused)
        }
    }

    @Test("ten requests follow each other without the user, and not one more")
    func requests() throws {
        let profile = try Sample.profile { profile in
            profile.signIn[0].next = try (0..<3).map { _ in try step() }
        }
        var bench = try SignInBench(
            profile, LoginStart(provider: "sample", fields: ["email": "a@b.example", "password": "p"]))
        let caller = bench.begin()
        var last = SignInPart.own
        for count in 2...10 {
            bench.responded(last, SignInResponse(step: RequestedStep(index: count % 3)))
            last = .step(count % 3)
            #expect(bench.parts == [last], "\(count)")
        }
        bench.responded(last, SignInResponse(step: RequestedStep(index: 2)))
        #expect(bench.parts.isEmpty)
        #expect(try bench.step(for: caller).error?.cause == "step_limit")
    }

    @Test("a value that no response had ends the sign-in before the request that needs it, and names the place")
    func missingCapture() throws {
        var bench = try bench()
        let caller = bench.begin()
        bench.responded(.before(0), SignInResponse())
        #expect(bench.parts.isEmpty)
        let error = try #require(try bench.step(for: caller).error)
        #expect(error.kind == .badReply && error.message.contains("the header X-CSRF") && error.retryable == false)
    }

    @Test("without requests before it, a code is sent by the challenge, and a first request is sent first")
    func nothingBefore() throws {
        var code = try SignInBench.code()
        code.begin()
        #expect(code.parts == [.challenge])
        code.responded(.challenge, SignInResponse())
        code.answer(["code": "123456"])
        #expect(code.parts == [.own])
        let profile = try Sample.profile { profile in
            profile.signIn[0].first = FirstRequest(request: try Sample.request("POST", "/users"))
        }
        var first = try SignInBench(
            profile, LoginStart(provider: "sample", fields: ["email": "a@b.example", "password": "p"]))
        first.begin()
        #expect(first.parts == [.first])
        first.responded(.first, SignInResponse())
        #expect(first.parts == [.own])
    }

    // MARK: Waiting

    @Test("a step that waits asks again at its pace, and Retry-After is honoured; the last answer signs in")
    func poll() throws {
        var bench = try begun()
        let starter = CallerID(1)
        bench.responded(.own, asks(3, "Open the link"))
        let step = try bench.step(for: starter)
        #expect(step.kind == .wait && step.message == "Open the link" && step.fields == nil)
        #expect(step.expiresAt == bench.now.wall.unixSeconds + 600)
        let waiting = bench.ask { .stepRequested($0) }
        for _ in 1...300 where bench.now.boot < ManualClock.moment(.seconds(60)).boot {
            #expect(bench.wakeAt == bench.now.boot + .seconds(3) && bench.parts.isEmpty)
            try bench.sleepUntilWake()
            #expect(bench.parts == [.step(3)] && bench.wakeAt == nil)
            bench.responded(.step(3), asks(3))
        }
        try bench.sleepUntilWake()
        let slow = ProviderFailure.temporary(AgentError(.rateLimited, "slow down"), retryAfter: .seconds(120))
        bench.send(.responded(.step(3), .failure(slow), sentAt: bench.now, former: nil))
        #expect(bench.wakeAt == bench.now.boot + .seconds(120))
        try bench.sleepUntilWake()
        #expect(!bench.hasReply(waiting))
        bench.responded(.step(3), SignInResponse(grant: bench.grant("t", user: "a")))
        #expect(bench.actionNames == ["examine"])
    }

    @Test("failures without a demanded pause make the pauses longer, up to a minute, and a later answer short again")
    func pollBackOff() throws {
        var bench = try begun()
        bench.responded(.own, asks(3))
        for seconds in [6, 12, 24, 48, 60, 60] {
            try bench.sleepUntilWake()
            let lost = ProviderFailure.temporary(AgentError(.providerUnreachable, "lost"), retryAfter: nil)
            bench.send(.responded(.step(3), .failure(lost), sentAt: bench.now, former: nil))
            #expect(bench.wakeAt == bench.now.boot + .seconds(seconds))
        }
        try bench.sleepUntilWake()
        bench.responded(.step(3), asks(3))
        #expect(bench.wakeAt == bench.now.boot + .seconds(3))
    }

    @Test("if the link is not opened, the sign-in ends at the expiry, and nothing more is requested")
    func pollEnd() throws {
        var bench = try begun()
        bench.responded(.own, asks(3))
        let waiting = bench.ask { .stepRequested($0) }
        try bench.sleepUntilWake()
        let slow = ProviderFailure.temporary(AgentError(.rateLimited, "slow down"), retryAfter: .seconds(3600))
        bench.send(.responded(.step(3), .failure(slow), sentAt: bench.now, former: nil))
        #expect(bench.wakeAt == ManualClock.moment(.seconds(600)).boot)
        try bench.sleepUntilWake()
        #expect(bench.parts.isEmpty)
        #expect(try bench.step(for: waiting).error?.kind == .timeout)
    }

    @Test("a refusal ends the wait with the provider's words; cancelled, tokens that come late are revoked")
    func pollRefused() throws {
        var bench = try begun()
        bench.responded(.own, asks(3))
        let waiting = bench.ask { .stepRequested($0) }
        try bench.sleepUntilWake()
        var cancelled = bench
        bench.refused(AgentError(.refused, "no"), .step(3))
        #expect(try bench.step(for: waiting).error?.kind == .refused)
        let answer = cancelled.answer(["code": "1"])
        #expect(try cancelled.failure(for: answer)?.kind == .busy)
        cancelled.ask { .cancelRequested($0) }
        #expect(try cancelled.step(for: waiting).error?.kind == .denied)
        cancelled.responded(.step(3), SignInResponse(grant: cancelled.grant("late")))
        #expect(cancelled.revoked == ["late"])
    }
}

extension SignInBench {
    fileprivate var parts: [SignInPart] {
        actions.compactMap { if case .request(let part) = $0 { part } else { nil } }
    }
}
