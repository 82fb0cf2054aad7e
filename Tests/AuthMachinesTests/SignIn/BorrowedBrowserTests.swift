import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in with the browser of another machine, decided by events")
struct BorrowedBrowserTests {
    private static let redirect = "http://127.0.0.1:4711/callback"

    private static func bench(
        _ method: String = "browser", _ change: (inout OAuthProfile) -> Void = { _ in }
    ) throws -> SignInBench {
        try SignInBench.oauth(method, borrows: true) { oauth in
            oauth.scopes = ["read", "write"]
            change(&oauth)
        }
    }

    private static func lent(_ query: String? = nil, client: String = "authd", scopes: [String] = ["read", "write"])
        -> LoginLent
    {
        LoginLent(clientID: client, scopes: scopes, redirectURI: redirect, query: query)
    }

    /// Up to where the client asks the other machine.
    private static func begin(_ bench: inout SignInBench) throws -> AuthorizationAttempt {
        let starter = bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        #expect(bench.actionNames == ["stopListening", "prepareBrowser"] || bench.actionNames == ["prepareBrowser"])
        let attempt = try bench.attempt()
        bench.send(.authorizationReady(.success(BrowserAuthorization(attempt: attempt, listens: false))))
        #expect(bench.actions.isEmpty)
        let step = try bench.step(for: starter)
        #expect(step.kind == .lend && step.lend == attempt.lend && step.url == nil && step.fields == nil)
        return attempt
    }

    private static func answer(_ bench: inout SignInBench, _ lent: LoginLent?) -> CallerID {
        bench.ask { .answered($0, [:], former: nil, lent: lent) }
    }

    @Test("the code is exchanged with the verifier of this machine and the address of the other one")
    func exchanged() throws {
        var bench = try Self.bench()
        let attempt = try Self.begin(&bench)
        let caller = Self.answer(&bench, Self.lent(try attempt.query()))
        #expect(bench.actionNames == ["stopListening", "requestToken"])
        guard case .code(let code, let used)? = bench.requested.first else { throw Missing() }
        #expect(code == Secret("c") && used.redirectURI == Self.redirect && used.verifier == attempt.verifier)
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        bench.examined((raw: ["sub": "a"], summary: UserSummary(id: "a")))
        #expect(bench.installed.first?.tokens.scopes?.granted == ["read", "write"])
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        let last = try bench.step(for: caller)
        #expect(last.kind == .done && last.message == nil)
    }

    private struct Missing: Error {}

    @Test("scopes that the other machine has left out are not stored, and the user learns of them")
    func narrowed() throws {
        var bench = try Self.bench()
        let attempt = try Self.begin(&bench)
        let caller = Self.answer(&bench, Self.lent(try attempt.query(), scopes: ["read"]))
        #expect(bench.machine.authority.oauth?.scopes == ["read"])
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        bench.examined((raw: ["sub": "a"], summary: UserSummary(id: "a")))
        #expect(bench.installed.first?.tokens.scopes?.granted == ["read"])
        bench.send(.installed(.success(try SignInBench.status(user: "a"))))
        #expect(try bench.step(for: caller).message?.contains("write") == true)
    }

    @Test("scopes that this agent did not request are never stored, unless it requested none")
    func wider() throws {
        var bench = try Self.bench()
        let attempt = try Self.begin(&bench)
        _ = Self.answer(&bench, Self.lent(try attempt.query(), scopes: ["admin", "write", "read"]))
        #expect(bench.machine.authority.oauth?.scopes == ["read", "write"])
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        bench.examined((raw: ["sub": "a"], summary: UserSummary(id: "a")))
        #expect(bench.installed.first?.tokens.scopes?.granted == ["read", "write"])
        // Without a scope that it wanted.
        bench = try Self.bench()
        let other = try Self.begin(&bench)
        let caller = Self.answer(&bench, Self.lent(try other.query(), scopes: ["admin"]))
        #expect(try bench.step(for: caller).error?.cause == "lent" && bench.requested.isEmpty)
        // If it requested none, those of the other machine are stored.
        bench = try Self.bench { $0.scopes = [] }
        let open = try Self.begin(&bench)
        _ = Self.answer(&bench, Self.lent(try open.query(), scopes: ["read", "a b"]))
        #expect(bench.machine.authority.oauth?.scopes == ["read"] && bench.requested.count == 1)
        // The limit is that of a provider's list: the scopes become part of the session's record and status.
        bench = try Self.bench { $0.scopes = [] }
        let long = try Self.begin(&bench)
        _ = Self.answer(&bench, Self.lent(try long.query(), scopes: (10_000..<50_000).map { "s\($0)" }))
        let stored = try #require(bench.machine.authority.oauth?.scopes)
        #expect(stored.count == (16 << 10) / 7 && stored.first == "s10000")
    }

    @Test("without openid, which shows who has signed in, nothing is exchanged", arguments: ["browser", "device"])
    func withoutUser(method: String) throws {
        var bench = try Self.bench(method) { $0.scopes = ["openid", "read"] }
        var lent = LoginLent(clientID: "authd", scopes: ["read"], redirectURI: Self.redirect)
        if method == "device" {
            bench.begin()
            bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
            lent.device = try SignInBench.device().json
        } else {
            lent.query = try Self.begin(&bench).query()
        }
        let caller = Self.answer(&bench, lent)
        let last = try bench.step(for: caller)
        #expect(last.kind == .failed && last.error?.cause == "sign_in_scopes" && bench.requested.isEmpty)
        #expect(last.error?.message.contains("sign_in_scopes") == true && bench.wakeAt == nil)
    }

    @Test(
        "a session with a known user is not given to an unknown one without a question",
        arguments: [nil, UserSummary(name: "Ada")] as [UserSummary?])
    func unknownUser(user: UserSummary?) throws {
        func examine(_ former: SessionStatus?) throws -> (SignInBench, CallerID) {
            var bench = try Self.bench("device")
            bench.former = former
            bench.begin()
            bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
            let lent = LoginLent(
                clientID: "authd", scopes: ["read", "write"], device: try SignInBench.device().json)
            bench.ask { .answered($0, [:], former: former, lent: lent) }
            try bench.sleepUntilWake()
            let waiting = bench.ask { .stepRequested($0) }
            bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
            bench.examined(user.map { (raw: ["sub": "a"], summary: $0) })
            return (bench, waiting)
        }
        let known = try SignInBench.status(user: "a")
        let (asking, waiting) = try examine(known)
        var bench = asking
        let step = try bench.step(for: waiting)
        #expect(step.kind == .fields && step.fields?.map(\.name) == ["replace_account"] && bench.installed.isEmpty)
        #expect(step.message?.contains("a@b.example") == true)
        bench.answer(["replace_account": "no"])
        #expect(bench.installed.isEmpty && bench.revoked == ["t"])
        bench = asking
        bench.answer(["replace_account": "yes"])
        bench.examined()
        #expect(bench.installed.count == 1)
        // A session without a known user has nothing to protect.
        #expect(try examine(nil).0.installed.count == 1)
    }

    @Test("an answer for another client, or with a query of another sign-in, ends it, and nothing is exchanged")
    func others() throws {
        for (client, query, cause) in [
            ("other", nil, AgentError.otherClient), ("authd", "code=c&state=other", "lent"), ("authd", "", "lent"),
        ] as [(String, String?, String)] {
            var bench = try Self.bench()
            let attempt = try Self.begin(&bench)
            let caller = Self.answer(&bench, Self.lent(try query ?? attempt.query(), client: client))
            #expect(bench.requested.isEmpty && bench.actionNames.last == "end", "\(cause)")
            let last = try bench.step(for: caller)
            #expect(last.kind == .failed && last.error?.cause == cause)
        }
    }

    @Test("a response of another issuer is refused, as from a browser of this machine")
    func mixUp() throws {
        var bench = try Self.bench()
        let attempt = try Self.begin(&bench)
        let query = try attempt.query().replacing("id.example", with: "else.example")
        let caller = Self.answer(&bench, Self.lent(query))
        #expect(try bench.step(for: caller).error?.cause == "iss" && bench.requested.isEmpty)
    }

    @Test("an answer without what was lent is an error, and the sign-in waits for another one")
    func nothing() throws {
        var bench = try Self.bench()
        let attempt = try Self.begin(&bench)
        let caller = Self.answer(&bench, nil)
        #expect(try bench.failure(for: caller)?.kind == .validation)
        _ = Self.answer(&bench, Self.lent(try attempt.query()))
        #expect(bench.requested.count == 1)
    }

    @Test("a device code from the other machine is polled like one that was requested here")
    func device() throws {
        var bench = try Self.bench("device")
        let starter = bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        let step = try bench.step(for: starter)
        #expect(step.kind == .lend && step.lend?.device == true && step.lend?.scopes == ["read", "write"])
        #expect(step.lend?.codeChallenge == nil && !bench.actionNames.contains("beginDevice"))
        let device = try SignInBench.device()
        var lent = LoginLent(clientID: "authd", scopes: ["read"], device: device.json)
        let caller = Self.answer(&bench, lent)
        let away = try bench.step(for: caller)
        #expect(away.kind == .device && away.userCode == "U" && away.verificationURI == "https://id.example/d")
        try bench.sleepUntilWake()
        guard case .deviceCode(let polled)? = bench.requested.first else { throw Missing() }
        #expect(polled == device)
        // Without one it ends.
        bench = try Self.bench("device")
        bench.begin()
        bench.send(.serverFound(.success(SignInBench.server), proofKey: nil))
        lent.device = ["device_code": "d"]
        let refused = Self.answer(&bench, lent)
        #expect(try bench.step(for: refused).error?.cause == "lent")
    }

    @Test(
        "a server with neither an issuer nor a page is refused before the other machine is asked, which could not find it"
    )
    func nameless() throws {
        // Its endpoints are in the profile.
        func withoutIssuer() throws -> SignInBench {
            try Self.bench("device") {
                $0.issuer = nil
                $0.endpoints.deviceAuthorization = "https://id.example/device"
                $0.endpoints.token = "https://id.example/token"
            }
        }
        var bench = try withoutIssuer()
        let starter = bench.begin()
        var server = OAuthServer(issuer: nil, endpoints: OAuthEndpoints())
        server.endpoints.deviceAuthorization = "https://id.example/device"
        bench.send(.serverFound(.success(server), proofKey: nil))
        let last = try bench.step(for: starter)
        #expect(last.error?.kind == .unsupported && last.error?.message.contains("authorization_endpoint") == true)
        // With a page, that names it.
        bench = try withoutIssuer()
        let other = bench.begin()
        server.endpoints.authorization = "https://id.example/authorize"
        bench.send(.serverFound(.success(server), proofKey: nil))
        #expect(try bench.step(for: other).lend?.authorizationEndpoint == "https://id.example/authorize")
    }

    @Test(
        "methods without a browser, and clients that differ on each machine, are refused before anything is sent")
    func unsupported() throws {
        for method in ["service", "import"] {
            let error = #expect(throws: AgentError.self) {
                try Self.bench(method) { $0.clientAuthentication = .basic }
            }
            #expect(error?.kind == .unsupported && error?.cause == "borrow", "\(method)")
        }
        let error = #expect(throws: AgentError.self) { try Self.bench { $0.registers = true } }
        #expect(error?.cause == AgentError.otherClient)
    }
}
