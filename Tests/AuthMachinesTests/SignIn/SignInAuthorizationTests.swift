import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in at an authorization server, decided by events")
struct SignInAuthorizationTests {
    private static func unknownClient() -> AgentError { AgentError(.refused, "no", cause: "invalid_client") }

    @Test("the browser comes back: its code is exchanged, the listener closed, and its page shows how it ended")
    func browser() throws {
        var bench = try SignInBench.oauth("browser")
        let (starter, attempt) = try bench.beginBrowser()
        #expect(bench.actionNames == ["listen"])
        let step = try bench.step(for: starter)
        #expect(step.kind == .browser && step.url == attempt.url)
        let unrelated = bench.ask { .redirected($0, uri: nil, query: "code=c&state=other") }
        #expect(try bench.failure(for: unrelated) == .unknownAddress)
        let query = try attempt.query()
        let visitor = bench.ask { .redirected($0, uri: nil, query: query) }
        #expect(bench.actionNames == ["stopListening", "requestToken"])
        let second = bench.ask { .redirected($0, uri: nil, query: query) }
        #expect(try bench.failure(for: second) == .unknownAddress)
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        #expect(bench.actionNames == ["examine"])
        bench.examined((raw: ["sub": "a"], summary: UserSummary(id: "a")))
        #expect(bench.installed.map { $0.user?.id } == ["a"])
        #expect(!bench.hasReply(visitor))
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(try bench.step(for: visitor).kind == .done)
    }

    @Test("a token's lifetime begins when it was requested, although the clock was set before it arrived")
    func clockSetMeanwhile() throws {
        var bench = try SignInBench.oauth("browser")
        let (_, attempt) = try bench.beginBrowser()
        let query = try attempt.query()
        bench.ask { .redirected($0, uri: nil, query: query) }
        // The clock was an hour ahead when the token was requested.
        let sentAt = Moment(boot: bench.now.boot, wall: bench.now.wall + .seconds(3600))
        var grant = bench.grant("t")
        grant.issuedAt = sentAt.wall
        bench.advance(.seconds(2))
        bench.send(.tokenReceived(.success(grant), sentAt: sentAt))
        bench.examined((raw: ["sub": "a"], summary: UserSummary(id: "a")))
        guard case .install(_, let began, _)? = bench.actions.last else {
            Issue.record("not installed: \(bench.actionNames)")
            return
        }
        #expect(began.boot == sentAt.boot)
    }

    @Test("the page of a refusal shows the refusal")
    func refusedInBrowser() throws {
        var bench = try SignInBench.oauth("browser")
        let (_, attempt) = try bench.beginBrowser()
        let query = try attempt.query("error=access_denied")
        let visitor = bench.ask { .redirected($0, uri: nil, query: query) }
        #expect(try bench.step(for: visitor).error?.kind == .denied)
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
    }

    @Test("the browser does not come back in time: it ends")
    func browserTimeout() throws {
        var bench = try SignInBench.oauth("browser")
        try bench.beginBrowser()
        #expect(bench.wakeAt == bench.now.boot + AuthorizationAttempt.timeout)
        let waiting = bench.ask { .stepRequested($0) }
        #expect(!bench.hasReply(waiting))
        try bench.sleepUntilWake()
        #expect(try bench.step(for: waiting).error?.kind == .timeout)
    }

    @Test("cancelled while the user is away: a code or a grant that comes after that changes nothing, or is revoked")
    func cancelledAway() throws {
        var bench = try SignInBench.oauth("browser")
        let (_, attempt) = try bench.beginBrowser()
        let query = try attempt.query()
        var exchanging = bench
        bench.ask { .cancelRequested($0) }
        #expect(bench.actionNames == ["stopListening", "removePlaceholder", "end"])
        let visitor = bench.ask { .redirected($0, uri: nil, query: query) }
        #expect(try bench.failure(for: visitor) == .unknownAddress)
        exchanging.ask { .redirected($0, uri: nil, query: query) }
        exchanging.ask { .cancelRequested($0) }
        exchanging.send(.tokenReceived(.success(exchanging.grant("late")), sentAt: exchanging.now))
        #expect(exchanging.revoked == ["late"])
    }

    @Test("tokens whose ID token is not accepted are revoked, also after the sign-in has ended")
    func distrusted() throws {
        var bench = try SignInBench.oauth("browser")
        let (_, attempt) = try bench.beginBrowser()
        let query = try attempt.query()
        let visitor = bench.ask { .redirected($0, uri: nil, query: query) }
        var cancelled = bench
        let refusal = AgentError(.badReply, "no", cause: "id_token", retryable: false)
        bench.send(.idTokenRejected(bench.grant("t"), refusal))
        #expect(bench.revoked == ["t"])
        #expect(bench.installed.isEmpty)
        #expect(try bench.step(for: visitor).error == refusal)
        cancelled.ask { .cancelRequested($0) }
        cancelled.send(.idTokenRejected(cancelled.grant("late"), refusal))
        #expect(cancelled.revoked == ["late"])
    }

    @Test("cancelled while the browser's way back is prepared: the listener that comes is closed")
    func cancelledPreparing() throws {
        var bench = try SignInBench.oauth("browser")
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        let attempt = try bench.attempt()
        bench.ask { .cancelRequested($0) }
        bench.send(.authorizationReady(.success(BrowserAuthorization(attempt: attempt, listens: true))))
        #expect(bench.actionNames == ["stopListening"])
        #expect(bench.wakeAt == nil)
    }

    @Test("an address of a private scheme is accepted once, by the sign-in that waits for it")
    func scheme() throws {
        let redirect = try #require(RedirectTarget("com.example.app:/callback"))
        var bench = try SignInBench.oauth("browser") { $0.redirect = redirect }
        let (starter, attempt) = try bench.beginBrowser()
        #expect(try bench.step(for: starter).redirectScheme == "com.example.app")
        let query = try attempt.query()
        let elsewhere = bench.ask { .redirected($0, uri: "com.example.app:/other", query: query) }
        #expect(try bench.failure(for: elsewhere) == .unknownAddress)
        let unrelated = bench.ask { .redirected($0, uri: redirect.uri, query: "code=c&state=x") }
        #expect(try bench.failure(for: unrelated) == .unknownAddress)
        let desktop = bench.ask { .redirected($0, uri: redirect.uri, query: query) }
        #expect(try bench.failure(for: desktop) == nil)
        #expect(bench.requested.count == 1)
        let again = bench.ask { .redirected($0, uri: redirect.uri, query: query) }
        #expect(try bench.failure(for: again) == .unknownAddress)
    }

    @Test("an address is asked for again if it is not this sign-in's, and an empty one keeps the question")
    func paste() throws {
        var bench = try SignInBench.oauth("paste")
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        let attempt = try bench.attempt()
        bench.send(.authorizationReady(.success(BrowserAuthorization(attempt: attempt, listens: false))))
        for address in ["https://elsewhere.example/?code=c", " "] {
            let caller = bench.answer(["address": address])
            let step = try bench.step(for: caller)
            #expect(step.kind == .browser && step.url == attempt.url)
        }
        let query = try attempt.query()
        bench.answer(["address": " http://127.0.0.1/callback?\(query)\n"])
        #expect(bench.actionNames == ["stopListening", "requestToken"])
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        #expect(bench.actionNames == ["examine"])
    }

    @Test(
        "without a browser on this machine the device grant is used if the server has it, else the address is asked for"
    )
    func noBrowser() throws {
        var server = SignInBench.server
        var pasting = try SignInBench.oauth("browser", hasBrowser: false)
        pasting.begin()
        pasting.send(.serverFound(.success(server), proofKey: nil))
        guard case .prepareBrowser(_, false)? = pasting.actions.last else {
            Issue.record("the browser is expected on this machine")
            return
        }
        server.endpoints.deviceAuthorization = "https://id.example/device"
        var bench = try SignInBench.oauth("browser", hasBrowser: false)
        bench.begin()
        bench.send(.serverFound(.success(server), proofKey: nil))
        #expect(bench.actionNames == ["stopListening", "beginDevice"])
    }

    // MARK: Another device

    @Test("the token endpoint is asked in its interval until the code is given")
    func device() throws {
        var bench = try SignInBench.oauth("device")
        let starter = bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.deviceReady(.success(try SignInBench.device()), sentAt: bench.now))
        #expect(try bench.step(for: starter).userCode == "U")
        for _ in 1...3 {
            #expect(bench.wakeAt == bench.now.boot + .seconds(5))
            try bench.sleepUntilWake()
            #expect(bench.requested.count == 1 && bench.wakeAt == nil)
            let pending = AgentError(.validation, "wait", cause: "authorization_pending")
            bench.send(.tokenReceived(.failure(.refused(pending)), sentAt: bench.now))
        }
        try bench.sleepUntilWake()
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        #expect(bench.actionNames == ["examine"])
    }

    @Test("the code expires before it is entered: the sign-in ends, and nothing more is requested")
    func deviceTimeout() throws {
        var bench = try SignInBench.oauth("device")
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.deviceReady(.success(try SignInBench.device(lifetime: 3)), sentAt: bench.now))
        let waiting = bench.ask { .stepRequested($0) }
        try bench.sleepUntilWake()
        #expect(bench.requested.isEmpty)
        #expect(try bench.step(for: waiting).error?.cause == "expired_token")
    }

    @Test("cancelled while the token endpoint is asked: the grant that comes is revoked")
    func deviceCancelled() throws {
        var bench = try SignInBench.oauth("device")
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.deviceReady(.success(try SignInBench.device()), sentAt: bench.now))
        try bench.sleepUntilWake()
        bench.ask { .cancelRequested($0) }
        bench.send(.tokenReceived(.success(bench.grant("late")), sentAt: bench.now))
        #expect(bench.revoked == ["late"])
    }

    // MARK: Registration

    private func registering(_ method: String = "browser") throws -> SignInBench {
        try SignInBench.oauth(method) { oauth in
            oauth.registers = true
            oauth.clientID = ""
        }
    }

    @Test("a server that has forgotten the client gets a new registration, once")
    func registersAgain() throws {
        var bench = try registering("device")
        let starter = bench.begin()
        #expect(bench.actionNames == ["showPlaceholder", "register"])
        bench.send(.registered(.success(try SignInBench.client("one"))))
        #expect(bench.machine.authority.oauth?.clientID == "one")
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.deviceReady(.failure(Self.unknownClient()), sentAt: bench.now))
        guard case .register(let refused?)? = bench.actions.last else {
            Issue.record("it is not registered again")
            return
        }
        #expect(refused.id == "one")
        bench.send(.registered(.success(try SignInBench.client("two"))))
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.deviceReady(.failure(Self.unknownClient()), sentAt: bench.now))
        #expect(try bench.step(for: starter).error == Self.unknownClient())
    }

    @Test("a port that is in use makes a new registration with another one, unless the profile names the port")
    func portInUse() throws {
        let inUse = AgentError(.conflict, "in use", cause: AgentError.redirectPort)
        var bench = try registering()
        bench.begin()
        bench.send(.registered(.success(try SignInBench.client("one"))))
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        bench.send(.authorizationReady(.failure(inUse)))
        #expect(bench.actionNames == ["stopListening", "register"])
        var fixed = try SignInBench.oauth("browser") { $0.redirect = RedirectTarget("http://127.0.0.1:8000/")! }
        let starter = fixed.begin()
        fixed.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        fixed.send(.authorizationReady(.failure(inUse)))
        #expect(try fixed.step(for: starter).error == inUse)
    }

    @Test("a code for a client that the server has forgotten is not used with another client")
    func codeOfFormerClient() throws {
        var bench = try registering()
        let client = try SignInBench.client("one")
        let (_, attempt) = try bench.beginBrowser(registeredAs: client)
        let query = try attempt.query()
        bench.ask { .redirected($0, uri: nil, query: query) }
        bench.send(.tokenReceived(.failure(.refused(Self.unknownClient())), sentAt: bench.now))
        #expect(bench.forgotten == [client])
        #expect(bench.actionNames.last == "end")
    }

    @Test("a user who cancels may have seen an error in the browser: the next sign-in registers again")
    func cancelledInBrowser() throws {
        var bench = try registering()
        let client = try SignInBench.client("one")
        try bench.beginBrowser(registeredAs: client)
        var replaced = bench
        bench.ask { .cancelRequested($0) }
        #expect(bench.forgotten == [client])
        replaced.ask { .abandoned($0) }
        #expect(replaced.forgotten.isEmpty)
    }

    // MARK: Other flows

    @Test("a server that does not accept proofs ends a sign-in whose tokens are to be bound to a key")
    func bound() throws {
        var bench = try SignInBench.oauth("browser") { $0.bindsTokens = true }
        let starter = bench.begin()
        guard case .findServer(makesKey: true)? = bench.actions.last else {
            Issue.record("no key is made")
            return
        }
        var server = SignInBench.server
        server.proofAlgorithms = ["RS256"]
        bench.send(.serverFound(.success(server), proofKey: Secret("key")))
        #expect(try bench.step(for: starter).error?.kind == .unsupported)
    }

    @Test("if the ID token was not used, the user is asked before a session with a known user is replaced")
    func userInDoubt() throws {
        for isKnown in [true, false] {
            let former = isKnown ? try SignInBench.status(user: "a") : nil
            var bench = try SignInBench.oauth("import", fields: ["refresh_token": "given"])
            bench.former = former
            bench.begin()
            bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
            var grant = bench.grant("t")
            grant.isUserUnverified = true
            bench.send(.tokenReceived(.success(grant), sentAt: bench.now))
            bench.examined()
            #expect(bench.installed.count == (isKnown ? 0 : 1))
        }
    }

    @Test("an imported refresh token that does not rotate stays the session's")
    func imported() throws {
        var bench = try SignInBench.oauth("import", fields: ["refresh_token": "given"])
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        guard case .refreshToken(let sent)? = bench.requested.first else {
            Issue.record("the token is not used")
            return
        }
        #expect(sent.reveal() == "given")
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        bench.examined()
        #expect(bench.installed.map { $0.tokens.refreshToken?.reveal() } == ["given"])
    }
}
