import AgentTestSupport
import AuthAgent
import AuthConcurrency
import AuthMachines
import AuthModel
import AuthTokens
import AuthWire
import Synchronization
import Testing

/// Two agents: one on a host without a browser, and one on a laptop that lends its own. The test carries what `authc` does.
@Suite("Sign-ins with the browser of another machine", .timeLimit(.minutes(1)))
struct LentSignInsTests {
    private final class Box<Value: Sendable>: Sendable {
        let value: Mutex<Value>
        init(_ value: Value) { self.value = Mutex(value) }
    }

    private static func rules(scopes: Set<String>? = nil) -> ListenerRules {
        var rules = ListenerRules()
        (rules.signInProviders, rules.signInScopes) = (["example"], scopes)
        return rules
    }

    /// - Parameters:
    ///   - profile: the laptop's, whose requests go to `server`.
    ///   - open: what the user's browser does.
    private static func laptop(
        _ server: SharedServer, profile: ProviderProfile? = nil, scopes: Set<String>? = nil,
        sessions records: [SessionRecord] = [],
        open: (@Sendable (String, TestPage) async throws(AgentError) -> Void)? = nil,
        _ test: @escaping @Sendable (Laptop) async throws -> Void
    ) async throws {
        let catalog = ProfileCatalog([try profile ?? SharedServer.profile()])
        let store = MemoryStore()
        for record in records { try await store.save(record) }
        let example = try ExampleProvider(store: store, transport: server.transport, catalog: catalog)
        let (page, notices, log) = (TestPage(), TestNotices(), Box<[String]>([]))
        let browser = TestBrowser { url async throws(AgentError) in
            if let open { try await open(url, page) } else { page.visit(server.approve(url)) }
        }
        try await example.running { sessions, _ in
            let lent = LentSignIns(
                context: sessions.context, registry: sessions.registry,
                dependencies: SignInDependencies(
                    cryptography: SystemCryptography(), redirects: page, keys: MemoryStore(),
                    note: { text in log.value.withLock { $0.append(text) } }),
                browser: browser, desktop: notices, showsNotices: { true })
            try await test(
                Laptop(
                    lent: lent, page: page, browser: browser, notices: notices, log: log, clock: example.clock,
                    transport: example.transport,
                    tables: StateBroadcast(ListenerTables(extra: rules(scopes: scopes)))))
        }
    }

    /// The laptop.
    private struct Laptop: Sendable {
        let lent: LentSignIns
        let page: TestPage
        let browser: TestBrowser
        let notices: TestNotices
        let log: Box<[String]>
        let clock: ManualClock
        let transport: ScriptedTransport
        let tables: StateBroadcast<ListenerTables>

        /// Changes the rules.
        func change(_ change: (inout ListenerRules) -> Void) {
            tables.update { tables in
                var new = tables ?? ListenerTables()
                change(&new[.extra])
                tables = new
            }
        }

        func lend(
            _ call: LoginLend, at listener: ListenerName = .extra,
            confirm: @escaping @Sendable (RemoteSignIn) async throws(AgentError) -> Void = { _ in }
        ) async throws(AgentError) -> LoginLent {
            let turn = try lent.reserve(for: call, at: listener, by: tables)
            return try await lent.lend(call, in: turn, at: listener, by: tables, confirm: confirm)
        }

        func error(
            of call: LoginLend, at listener: ListenerName = .extra,
            confirm: @escaping @Sendable (RemoteSignIn) async throws(AgentError) -> Void = { _ in }
        ) async -> AgentError? {
            do throws(AgentError) {
                _ = try await lend(call, at: listener, confirm: confirm)
                return nil
            } catch {
                return error
            }
        }
    }

    /// The host's sign-ins.
    private static func host(
        _ server: SharedServer, profile: ProviderProfile? = nil,
        _ test: @escaping @Sendable (SessionRequests, SignInService, ManualClock) async throws -> Void
    ) async throws {
        let catalog = ProfileCatalog([try profile ?? SharedServer.profile()])
        let example = try ExampleProvider(transport: server.transport, catalog: catalog)
        try await example.running { sessions, _ in
            let signIns = SignInService(
                context: sessions.context, registry: sessions.registry, loader: example.loader,
                dependencies: SignInDependencies(
                    cryptography: SystemCryptography(), redirects: TestPage(), keys: MemoryStore()))
            try await test(sessions, signIns, example.clock)
        }
    }

    private static func begin(_ signIns: SignInService, _ method: String = "browser") async throws -> (Step, LoginLend)
    {
        let step = try await signIns.start(
            LoginStart(provider: "example", method: method, hasBrowser: false, borrowsBrowser: true))
        #expect(step.kind == .lend)
        var call = try #require(step.lend)
        call.host = "build"
        return (step, call)
    }

    /// A request that a host could make.
    private static func call() -> LoginLend {
        var call = LoginLend(host: "build", issuer: SharedServer.issuer, clientID: "authd", scopes: ["read"])
        (call.codeChallenge, call.state) = ("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM", "s")
        return call
    }

    @Test(
        "the host gets narrowed tokens, the laptop asks once, opens its own provider, and has no token and no verifier")
    func whole() async throws {
        let server = SharedServer()
        try await Self.laptop(server, scopes: ["read"]) { laptop in
            try await Self.host(server) { sessions, signIns, _ in
                let (step, call) = try await Self.begin(signIns)
                let asked = Box<[RemoteSignIn]>([])
                let lent = try await laptop.lend(call) { signIn async throws(AgentError) in
                    #expect(laptop.browser.opened.isEmpty && laptop.transport.asked.isEmpty)
                    asked.value.withLock { $0.append(signIn) }
                }
                #expect(
                    asked.value.withLock { $0 } == [
                        RemoteSignIn(
                            host: "build", provider: "Example", server: SharedServer.issuer, scopes: ["read"],
                            isDevice: false, code: call.comparisonCode)
                    ])
                #expect(call.comparisonCode?.count == 5)
                #expect(laptop.page.shown == [.lent] && !laptop.page.isOpen)
                // It has sent nothing but the request for the server's description.
                #expect(server.forms.isEmpty && laptop.transport.asked.allSatisfy { $0.hasPrefix("GET ") })
                let url = try #require(laptop.browser.opened.first)
                #expect(url.hasPrefix("http://127.0.0.1:1/authorize?") && url.hasSuffix("&scope=read"))
                #expect(lent.clientID == "authd" && lent.scopes == ["read"] && lent.redirectURI == TestPage.address)
                let last = try await signIns.answer(LoginAnswer(login: step.login, fields: [:], lent: lent))
                #expect(last.kind == .done, "\(String(describing: last.error))")
                #expect(last.message?.contains("write") == true)
                #expect(try sessions.status(nil).scopes == ["read"])
                #expect(server.forms.map { $0["grant_type"] } == ["authorization_code"])
            }
        }
    }

    @Test("nothing is sent and no browser is opened if the user refuses, or if the settings change meanwhile")
    func refused() async throws {
        try await Self.laptop(SharedServer()) { laptop in
            let refusal = AgentError(.denied, "no", cause: "consent_refused")
            let refused = await laptop.error(of: Self.call()) { _ async throws(AgentError) in throw refusal }
            #expect(refused == refusal)
            let changed = await laptop.error(of: Self.call()) { _ in
                laptop.change { $0.signInScopes = ["read", "admin"] }
            }
            // The same scopes would be requested.
            #expect(changed == nil)
            let opened = laptop.browser.opened.count
            let narrower = await laptop.error(of: Self.call()) { _ in laptop.change { $0.signInProviders = [] } }
            #expect(narrower?.cause == "sign_in_provider")
            #expect(laptop.browser.opened.count == opened && opened == 1)
        }
    }

    @Test("new rules without the provider or with fewer scopes close the page; others do not")
    func newRules() async throws {
        let changes: [(String, @Sendable (inout ListenerRules) -> Void)] = [
            ("sign_in_provider", { $0.signInProviders = ["other"] }), ("changed", { $0.signInScopes = ["read"] }),
            ("confined", { $0.signInProviders = [] }),
        ]
        for (cause, change) in changes {
            try await Self.laptop(SharedServer(), scopes: ["read", "write"], open: { _, _ in }) { laptop in
                var call = Self.call()
                call.scopes = ["read", "write"]
                let error = Task { [call] in await laptop.error(of: call) }
                while laptop.browser.opened.isEmpty { await Task.yield() }
                laptop.change {
                    ($0.signInProviders, $0.signInScopes) = (["example", "other"], ["read", "write", "admin"])
                }
                laptop.page.visit("code=c&state=guess")
                while laptop.page.shown.isEmpty { await Task.yield() }
                #expect(laptop.page.isOpen && laptop.page.shown == [.unrelated])
                laptop.change(change)
                #expect(await error.value?.cause == cause)
                #expect(!laptop.page.isOpen)
            }
        }
    }

    @Test("new rules end it before the browser opens, and a device code that was requested meanwhile is not shown")
    func newRulesBefore() async throws {
        for isDevice in [true, false] {
            let server = SharedServer()
            try await Self.laptop(server, scopes: ["read", "write"]) { laptop in
                // While the server's description or the code is requested.
                server.atRequest { url in
                    if url.hasSuffix("/device_authorization") == isDevice {
                        laptop.change { $0.signInScopes = ["write"] }
                    }
                }
                var call = Self.call()
                call.scopes = ["read", "write"]
                if isDevice { (call.device, call.codeChallenge, call.state) = (true, nil, nil) }
                #expect(await laptop.error(of: call)?.cause == "changed")
                #expect(laptop.browser.opened.isEmpty && laptop.notices.shown.isEmpty && !laptop.page.isOpen)
            }
        }
    }

    @Test("one at a time at each listener; a client that leaves closes the page and makes room for the next one")
    func leaves() async throws {
        try await Self.laptop(SharedServer(), open: { _, _ in }) { laptop in
            let first = Task { await laptop.error(of: Self.call()) }
            while laptop.browser.opened.isEmpty { await Task.yield() }
            #expect(laptop.page.isOpen)
            #expect(await laptop.error(of: Self.call())?.cause == "sign_in_in_progress")
            first.cancel()
            #expect(await first.value != nil)
            #expect(!laptop.page.isOpen)
            let next = await laptop.error(of: Self.call()) { _ async throws(AgentError) in throw .stopping }
            #expect(next == .stopping)
        }
    }

    @Test("a refusal at the provider, a browser that cannot be opened, and one that does not come back end it")
    func failures() async throws {
        try await Self.laptop(
            SharedServer(), open: { _, page in page.visit("error=access_denied&state=s") }
        ) { laptop in
            let error = await laptop.error(of: Self.call())
            #expect(error?.kind == .denied && error?.cause == "access_denied")
            #expect(laptop.page.shown.map(\.isSuccess) == [false])
        }
        try await Self.laptop(
            SharedServer(),
            open: { (_, _) async throws(AgentError) in throw AgentError(.unsupported, "no", cause: "no_browser") }
        ) { laptop in
            #expect(await laptop.error(of: Self.call())?.cause == "no_browser")
            #expect(!laptop.page.isOpen)
        }
        try await Self.laptop(SharedServer(), open: { _, page in page.visit("code=c&state=guess") }) { laptop in
            async let error = laptop.error(of: Self.call())
            await laptop.clock.somebodySleeps(until: laptop.clock.now().boot + AuthorizationAttempt.timeout)
            while laptop.page.shown.isEmpty { await Task.yield() }
            laptop.clock.advance(AuthorizationAttempt.timeout)
            #expect(await error?.kind == .timeout)
            #expect(laptop.page.shown == [.unrelated] && !laptop.page.isOpen)
        }
    }

    @Test("the host learns that the page cannot be opened, and not which program or file of the laptop is the reason")
    func pageFails() async throws {
        try await Self.laptop(SharedServer()) { laptop in
            let failure = AgentError(.conflict, "port 4711, /home/ada/key.pem", cause: AgentError.redirectPort)
            laptop.page.fail(failure)
            let error = await laptop.error(of: Self.call())
            #expect(error?.kind == .conflict && error?.cause == AgentError.redirectPort)
            #expect(error?.message.contains("4711") == false && error?.message.contains("key.pem") == false)
            #expect(laptop.log.value.withLock { $0.joined() }.contains("port 4711, /home/ada/key.pem"))
            #expect(laptop.browser.opened.isEmpty)
        }
    }

    @Test("a response of another issuer is not passed on to the host")
    func mixUp() async throws {
        try await Self.laptop(
            SharedServer(), open: { _, page in page.visit("code=c&state=s&iss=https%3A%2F%2Felse.example") }
        ) { laptop in
            #expect(await laptop.error(of: Self.call())?.cause == "iss")
        }
    }

    @Test(
        "a device code is requested by the laptop with narrowed scopes, shown there for five minutes, and used by the host"
    )
    func device() async throws {
        let server = SharedServer()
        try await Self.laptop(server, scopes: ["read"], open: { _, _ in }) { laptop in
            try await Self.host(server) { sessions, signIns, clock in
                let (step, call) = try await Self.begin(signIns, "device")
                #expect(server.forms.isEmpty)
                let lent = try await laptop.lend(call)
                #expect(server.forms.map { $0["scope"] } == ["read"])
                while laptop.browser.opened.isEmpty { await Task.yield() }
                #expect(laptop.browser.opened == ["http://127.0.0.1:1/device"])
                #expect(laptop.notices.shown.map(\.title) == ["Enter the code ABCD-EFGH"])
                let away = try await signIns.answer(LoginAnswer(login: step.login, fields: [:], lent: lent))
                #expect(away.kind == .device && away.userCode == "ABCD-EFGH")
                await clock.somebodySleeps(until: clock.now().boot + .seconds(5))
                clock.advance(.seconds(5))
                let last = try await signIns.wait(LoginParams(login: step.login))
                #expect(last.kind == .done, "\(String(describing: last.error))")
                #expect(try sessions.status(nil).scopes == ["read"])
                #expect(server.forms.last?["device_code"] == "d")
            }
            let end = AuthorizationAttempt.timeout
            await laptop.clock.somebodySleeps(until: laptop.clock.now().boot + end)
            laptop.clock.advance(end)
            while !laptop.notices.shown.isEmpty { await Task.yield() }
        }
    }

    @Test("a client secret from a session is sent only to where that session was signed in")
    func secret() async throws {
        let cases: [(String, String?, String?)] = [
            (SharedServer.issuer, nil, nil), ("http://127.0.0.1:2/o", nil, "origin_changed"),
            (SharedServer.issuer, "http://127.0.0.1:3/device_authorization", "origin_changed"),
        ]
        for (issuer, endpoint, cause) in cases {
            let server = SharedServer()
            var profile = try SharedServer.profile()
            profile.oauth?.clientAuthentication = .post
            profile.oauth?.endpoints.deviceAuthorization = endpoint
            var origins = TokenOrigins(issuer: issuer)
            origins.allow(.all, at: issuer)
            origins.allow(.all, at: "http://localhost:1")
            let now = ManualClock().now().wall
            let record = SessionRecord(
                session: try SessionName("example"), provider: "example", environment: "local", method: "browser",
                tokens: TokenSet(accessToken: Secret("t"), issuedAt: now), user: nil, rawUser: nil, signedInAt: now,
                clientSecret: Secret("pw"), origins: origins)
            try await Self.laptop(server, profile: profile, sessions: [record], open: { _, _ in }) { laptop in
                var call = Self.call()
                (call.device, call.codeChallenge, call.state) = (true, nil, nil)
                #expect(await laptop.error(of: call)?.cause == cause)
                #expect(server.forms.map { $0["client_secret"] } == (cause == nil ? ["pw"] : []))
            }
        }
    }

    @Test("a code of another client, or a host that does not have the verifier, gets no token")
    func otherClient() async throws {
        let server = SharedServer()
        try await Self.laptop(server) { laptop in
            try await Self.host(server, profile: SharedServer.profile(client: "other")) { _, signIns, _ in
                let (step, call) = try await Self.begin(signIns)
                #expect(await laptop.error(of: call)?.cause == AgentError.otherClient)
                // A laptop that does not compare.
                var same = call
                same.clientID = "authd"
                let lent = try await laptop.lend(same)
                let last = try await signIns.answer(LoginAnswer(login: step.login, fields: [:], lent: lent))
                #expect(last.error?.cause == AgentError.otherClient && server.forms.isEmpty)
            }
        }
    }
}
