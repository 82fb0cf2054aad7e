import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in, decided by events")
struct SignInMachineTests {
    @Test("asks for what is missing, requests tokens once nothing is, and ends with the session")
    func steps() throws {
        var bench = try SignInBench.password([:])
        let first = bench.begin()
        #expect(bench.actionNames == ["showPlaceholder"])
        #expect(try bench.step(for: first).fields?.map(\.name) == ["email", "password", "device"])
        let second = bench.answer(["email": "a@b.example", "password": "p"])
        #expect(bench.actionNames == ["request"])
        bench.signedIn(bench.grant("t", user: "a"))
        #expect(bench.actionNames == ["examine"])
        bench.examined()
        #expect(bench.installed.map { $0.tokens.accessToken.reveal() } == ["t"])
        #expect(!bench.hasReply(second))
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
        #expect(try bench.step(for: second).kind == .done)
        let late = bench.ask { .stepRequested($0) }
        #expect(try bench.step(for: late) == bench.step(for: second))
        let answer = bench.answer(["password": "p"])
        #expect(try bench.failure(for: answer) == .unknownLogin)
    }

    @Test("a refusal ends it with the provider's error, and the placeholder goes")
    func refused() throws {
        var bench = try SignInBench.password()
        let caller = bench.begin()
        bench.refused(AgentError(.refused, "no"))
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
        #expect(try bench.step(for: caller).error?.kind == .refused)
    }

    @Test("an answer while nothing is requested is refused, and changes nothing")
    func notAsked() throws {
        var bench = try SignInBench.password()
        bench.begin()
        let caller = bench.answer(["email": "x@b.example"])
        #expect(try bench.failure(for: caller)?.kind == .busy)
        #expect(bench.machine.form.fields["email"]?.reveal() == "a@b.example")
    }

    @Test("a field that the method does not have is refused, and the question stands")
    func unknownField() throws {
        var bench = try SignInBench.password([:])
        bench.begin()
        let caller = bench.answer(["shoe_size": "42"])
        #expect(try bench.failure(for: caller)?.kind == .validation)
        let waiting = bench.ask { .stepRequested($0) }
        #expect(try bench.step(for: waiting).kind == .fields)
    }

    @Test("a misspelt field is refused with the one that was meant")
    func misspeltField() throws {
        var bench = try SignInBench.password([:])
        bench.begin()
        let caller = bench.answer(["paswrd": "secret"])
        let failure = try bench.failure(for: caller)
        let expected = " has no field paswrd (did you mean password?); it has: email, password, device."
        #expect(failure?.message.hasSuffix(expected) == true, "\(failure?.message ?? "")")
        #expect(failure?.details == ["email", "password", "device"])
    }

    @Test("answers are checked against their rules without being kept or sent, and the question stands")
    func checked() throws {
        var bench = try SignInBench.password([:])
        bench.begin()
        let first = bench.ask { .checkRequested($0, ["email": "a"]) }
        let bad = try bench.step(for: first)
        #expect(bad.fields?.map(\.name) == ["email"] && bad.message?.hasPrefix("E-mail: an e-mail address") == true)
        let second = bench.ask { .checkRequested($0, ["email": "a@b.example", "password": "p"]) }
        let good = try bench.step(for: second)
        #expect(good.fields?.isEmpty == true && good.message == nil)
        #expect(bench.actionNames.isEmpty && bench.machine.form.fields.isEmpty)
        let unknown = bench.ask { .checkRequested($0, ["shoe_size": "42"]) }
        #expect(try bench.failure(for: unknown)?.kind == .validation)
        bench.answer(["email": "a@b.example", "password": "p"])
        #expect(bench.actionNames == ["request"])
        let early = bench.ask { .checkRequested($0, ["email": "a"]) }
        #expect(try bench.failure(for: early)?.kind == .busy)
    }

    @Test("those that wait get the same step as the caller whose answer is worked on")
    func waiting() throws {
        var bench = try SignInBench.password()
        let first = bench.begin()
        let second = bench.ask { .stepRequested($0) }
        let gone = bench.ask { .stepRequested($0) }
        bench.send(.callerGone(gone))
        bench.signedIn(bench.grant("t", user: "a"))
        bench.examined()
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(try bench.step(for: first).kind == .done)
        #expect(try bench.step(for: second).kind == .done)
        #expect(!bench.hasReply(gone))
    }

    // MARK: The end

    @Test("left alone it ends after a quarter of an hour, from the last answer on")
    func abandoned() throws {
        var bench = try SignInBench.password([:])
        bench.begin()
        bench.advance(.seconds(600))
        bench.answer(["email": "a@b.example"])
        #expect(bench.wakeAt == bench.now.boot + SignInMachine.abandonedAfter)
        bench.advance(.seconds(899))
        bench.send(.wake)
        #expect(bench.actions.isEmpty)
        let waiting = bench.ask { .callerGone($0) }
        #expect(!bench.hasReply(waiting))
        try bench.sleepUntilWake()
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
        #expect(bench.wakeAt == nil)
    }

    @Test("during a request to the provider it has no other time limit")
    func working() throws {
        var bench = try SignInBench.password()
        bench.begin()
        #expect(bench.wakeAt == nil)
    }

    @Test("cancelled during the request: every caller gets the last step, and the late tokens are revoked")
    func cancelledWhileSigningIn() throws {
        var bench = try SignInBench.password()
        let first = bench.begin()
        let cancelling = bench.ask { .cancelRequested($0) }
        for caller in [first, cancelling] { #expect(try bench.step(for: caller).error?.kind == .denied) }
        bench.signedIn(bench.grant("late", user: "a"))
        #expect(bench.revoked == ["late"])
        #expect(bench.actions.count == 1)
        let again = bench.ask { .cancelRequested($0) }
        #expect(try bench.failure(for: again) == .unknownLogin)
    }

    @Test("cancelled while the tokens are examined: they are revoked once, and not installed")
    func cancelledWhileExamining() throws {
        var bench = try SignInBench.password()
        bench.begin()
        bench.signedIn(bench.grant("t", user: "a"))
        bench.ask { .cancelRequested($0) }
        #expect(bench.revoked == ["t"])
        bench.examined()
        #expect(bench.actions.isEmpty)
    }

    @Test("too late to cancel: the session learns of the tokens, and the caller gets how it ended")
    func cancelledWhileInstalling() throws {
        var bench = try SignInBench.password()
        bench.begin()
        bench.signedIn(bench.grant("t", user: "a"))
        bench.examined()
        let cancelling = bench.ask { .cancelRequested($0) }
        #expect(bench.actions.isEmpty && !bench.hasReply(cancelling))
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(bench.revoked.isEmpty)
        #expect(try bench.step(for: cancelling).kind == .done)
    }

    @Test("a store that refuses the session: the tokens are the session's, and are not revoked")
    func notStored() throws {
        var bench = try SignInBench.password()
        let caller = bench.begin()
        bench.signedIn(bench.grant("t", user: "a"))
        bench.examined()
        bench.send(.installed(.failure(AgentError(.keyringUnavailable, "full"))))
        #expect(bench.revoked.isEmpty)
        #expect(try bench.step(for: caller).error?.kind == .keyringUnavailable)
    }

    @Test("a caller that is gone before it knows the sign-in ends it, and its late tokens are revoked")
    func starterGone() throws {
        var bench = try SignInBench.password()
        let starter = bench.begin()
        bench.send(.callerGone(starter))
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
        bench.signedIn(bench.grant("late", user: "a"))
        #expect(bench.revoked == ["late"])
        #expect(!bench.hasReply(starter))
    }

    @Test("a caller that knows the sign-in may go: it goes on, and another one gets the step")
    func callerGone() throws {
        var bench = try SignInBench.password([:])
        bench.begin()
        let caller = bench.answer(["email": "a@b.example", "password": "p"])
        bench.send(.callerGone(caller))
        #expect(bench.actions.isEmpty)
        let other = bench.ask { .stepRequested($0) }
        bench.signedIn(bench.grant("t", user: "a"))
        bench.examined()
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(try bench.step(for: other).kind == .done)
    }

    @Test("another sign-in replaces it: its callers get the end, and its tokens are revoked")
    func replaced() throws {
        var bench = try SignInBench.password()
        bench.former = try SignInBench.status(user: "b")
        let first = bench.begin()
        #expect(try bench.step(for: first).fields?.map(\.name) == ["replace_account"])
        let waiting = bench.ask { .abandoned($0) }
        #expect(try bench.step(for: waiting).error?.kind == .denied)
        #expect(bench.actionNames.last == "end")
    }

    @Test("a key is checked, and stored only then; its user is asked for; cancelled, it is forgotten and not revoked")
    func key() throws {
        let profile = try Sample.profile { profile in
            var method = SignInMethod(
                name: "key", label: "Key",
                fields: [StepField(name: "key", label: "Key", secret: true, kind: FieldKind.key)])
            method.key = SignInKey(token: try Template(parsing: "{key}"), check: try Sample.request("GET", "/check"))
            profile.signIn = [method]
        }
        var bench = try SignInBench(profile, LoginStart(provider: "sample"))
        bench.begin()
        bench.answer(["key": " k-1\n"])
        #expect(bench.actionNames == ["request"] && bench.machine.form.fields["key"]?.reveal() == "k-1")
        var refused = bench
        refused.refused(AgentError(.refused, "no"), .check)
        #expect(refused.installed.isEmpty && refused.actionNames.last == "end")
        var cancelled = bench
        cancelled.ask { .cancelRequested($0) }
        cancelled.responded(.check, SignInResponse(grant: bench.grant("k-1")))
        #expect(cancelled.revoked.isEmpty && cancelled.actions.isEmpty)
        bench.responded(.check, SignInResponse(grant: bench.grant("k-1")))
        guard case .examine(.some)? = bench.actions.first else {
            Issue.record("the user is not asked for: \(bench.actionNames)")
            return
        }
        bench.examined()
        #expect(bench.installed.map { $0.tokens.accessToken.reveal() } == ["k-1"])
        #expect(bench.installed.first?.remembered == nil)
    }

    // MARK: Another account

    @Test("the account that the provider names is confirmed; a refusal revokes the new tokens, once")
    func otherAccount() throws {
        var bench = try SignInBench.password(["email": "ada@b.example", "password": "p"])
        bench.former = try SignInBench.status(user: "ada")
        let first = bench.begin()
        #expect(bench.actionNames == ["showPlaceholder", "request"])
        bench.signedIn(bench.grant("t", user: "bob"))
        bench.examined()
        #expect(bench.installed.isEmpty)
        #expect(try bench.step(for: first).fields?.map(\.name) == ["replace_account"])
        let wrong = bench.answer(["password": "another"])
        #expect(try bench.failure(for: wrong)?.kind == .validation)
        let early = bench.ask { .resendRequested($0) }
        #expect(try bench.failure(for: early)?.kind == .unsupported)
        let refusing = bench.answer(["replace_account": "no"])
        #expect(bench.revoked == ["t"] && bench.installed.isEmpty)
        #expect(try bench.step(for: refusing).error?.cause == "other_user")
    }

    @Test("after a yes the tokens are examined again, installed without another request, and the former ones revoked")
    func agreed() throws {
        var bench = try SignInBench.password(["email": "ada@b.example", "password": "p"])
        bench.former = try SignInBench.status(user: "ada")
        bench.begin()
        bench.signedIn(bench.grant("t", user: "bob"))
        bench.examined()
        bench.answer(["replace_account": "yes"])
        #expect(bench.actionNames == ["examine"])
        bench.examined()
        guard case .install(let record, _, let revokesFormer)? = bench.actions.first else {
            Issue.record("nothing is installed")
            return
        }
        #expect(record.tokens.accessToken.reveal() == "t" && revokesFormer)
    }

    @Test("a question without an answer ends with the sign-in, and the tokens are revoked")
    func unanswered() throws {
        var bench = try SignInBench.password(["email": "ada@b.example", "password": "p"])
        bench.former = try SignInBench.status(user: "ada")
        bench.begin()
        bench.signedIn(bench.grant("t", user: "bob"))
        bench.examined()
        try bench.sleepUntilWake()
        #expect(bench.revoked == ["t"])
    }

    @Test("the user is asked for if the tokens do not say whose they are, and a known account could be replaced")
    func unknownUser() throws {
        var bench = try SignInBench.password(["email": "ada@b.example", "password": "p"])
        bench.former = try SignInBench.status(user: "ada")
        bench.begin()
        bench.signedIn(bench.grant("t"))
        guard case .examine(let record?)? = bench.actions.first else {
            Issue.record("the user is not asked for")
            return
        }
        #expect(record.tokens.accessToken.reveal() == "t")
        bench.examined((raw: ["sub": "bob"], summary: UserSummary(id: "bob", email: "bob@b.example")))
        #expect(bench.installed.isEmpty && bench.wakeAt != nil)
    }

    @Test("a fresh look at the optional fields is not lost to the question about the account")
    func blank() throws {
        let profile = try Sample.profile { profile in
            for index in profile.signIn[0].fields.indices { profile.signIn[0].fields[index].optional = true }
        }
        var bench = try SignInBench(profile, LoginStart(provider: "sample", environment: "local"))
        bench.former = try SignInBench.status(user: "ada")
        let first = bench.begin()
        #expect(try bench.step(for: first).fields?.map(\.name) == ["replace_account"])
        let second = bench.answer(["replace_account": "yes"])
        #expect(try bench.step(for: second).fields?.map(\.name) == ["email", "password", "device"])
    }

    // MARK: No network

    @Test("a request without a network is reported as a wait, and sent once when the network is back")
    func networkReturns() throws {
        var bench = try SignInBench.password()
        let first = bench.begin()
        bench.send(.networkMissing(.request(.own)))
        #expect(bench.actionNames == ["awaitNetwork"])
        #expect(try bench.step(for: first).kind == .wait)
        let waiting = bench.ask { .stepRequested($0) }
        bench.send(.networkReturned)
        #expect(bench.actionNames == ["request"])
        bench.send(.networkReturned)
        #expect(bench.actionNames.isEmpty)
        bench.signedIn(bench.grant("t", user: "ada"))
        #expect(!bench.hasReply(waiting) && bench.actionNames == ["examine"])
    }

    @Test("a network that comes and goes does not extend the limit of a request")
    func networkFlaps() throws {
        var bench = try SignInBench.password()
        bench.begin()
        bench.send(.networkMissing(.request(.own)))
        let end = try #require(bench.wakeAt)
        bench.advance(.seconds(20))
        bench.send(.networkReturned)
        bench.send(.networkMissing(.request(.own)))
        #expect(bench.wakeAt == end)
        let waiting = bench.ask { .stepRequested($0) }
        try bench.sleepUntilWake()
        let last = try bench.step(for: waiting)
        #expect(last.kind == .failed && last.error == .noNetworkInTime)
        bench.send(.networkReturned)
        #expect(bench.actionNames.isEmpty)
    }

    @Test("a sign-in that is cancelled while it waits for a network ends at once")
    func cancelledOffline() throws {
        var bench = try SignInBench.password()
        bench.begin()
        bench.send(.networkMissing(.request(.own)))
        let caller = bench.ask { .cancelRequested($0) }
        #expect(try bench.step(for: caller).error == .cancelledLogin)
        bench.send(.networkReturned)
        #expect(bench.actionNames.isEmpty && bench.wakeAt == nil)
    }

    // MARK: A code

    @Test("a code is requested after it was sent, and sent again only after its pause")
    func resend() throws {
        var bench = try SignInBench.code()
        let first = bench.begin()
        #expect(bench.actionNames == ["showPlaceholder", "request"])
        bench.responded(.challenge, SignInResponse(message: "On its way"))
        let step = try bench.step(for: first)
        #expect(step.fields?.map(\.name) == ["code"] && step.message == "On its way")
        #expect(step.sentTo == "a@b.example")
        let early = bench.ask { .resendRequested($0) }
        #expect(try bench.failure(for: early)?.kind == .rateLimited)
        bench.advance(.seconds(30))
        let again = bench.ask { .resendRequested($0) }
        #expect(bench.actionNames == ["request"])
        #expect(!bench.hasReply(again))
        bench.responded(.challenge, SignInResponse())
        #expect(try bench.step(for: again).fields?.map(\.name) == ["code"])
    }

    @Test("five wrong codes may be corrected; the sixth ends it")
    func corrections() throws {
        var bench = try SignInBench.code()
        bench.begin()
        bench.responded(.challenge, SignInResponse())
        for count in 1...6 {
            let caller = bench.answer(["code": "999999"])
            bench.refused(AgentError(.validation, "wrong"))
            #expect(try bench.step(for: caller).kind == (count == 6 ? .failed : .fields))
        }
    }
}
