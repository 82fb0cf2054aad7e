import AuthWire
import Testing

struct ResultTests {
    private func check<Value: Equatable>(
        _ value: Value, _ json: (Value) -> JSON, _ read: (JSON) throws(AgentError) -> Value
    ) throws {
        #expect(try read(try JSON(parsing: json(value).serialized())) == value)
    }

    @Test("every result is read back as it was written, with every key and with the fewest")
    func roundTrips() throws {
        let status = try Samples.status()
        let plain = SessionStatus(session: status.session, provider: "shop", state: .signedOut)
        let store = StoreInfo(kind: .secretService, state: .notAnswering, message: "No answer in 5 s.")
        let network = NetworkStatus(
            state: .portal, since: 1.5, providers: ["shop": "reachable"], clockSkews: ["shop": .seconds(-90)],
            isMetered: true, transfersWait: true)
        let field = StepField(
            name: "password", label: "Password", secret: true, optional: true, kind: "password", rules: ["8 or more"],
            value: "x")
        for status in [status, plain] { try check(status, \.json, SessionStatus.init) }
        try check(SessionList(sessions: [status, plain]), \.json, SessionList.init)
        for store in [store, StoreInfo(kind: .memory, state: .ready)] { try check(store, \.json, StoreInfo.init) }
        for network in [network, NetworkStatus(state: .online, since: 0)] {
            try check(network, \.json, NetworkStatus.init)
        }
        for field in [field, StepField(name: "a", label: "A")] { try check(field, \.json, StepField.init) }
        try check(
            AgentInfo(
                version: "1.0", protocolVersion: 1, pid: 42, startedAt: 3.25, store: store, features: ["a"],
                restartPending: true,
                restart: RestartInfo(unit: "authd.service", command: "authd", obstacle: .memory), landlock: .on,
                landlockNotes: ["a"], listeners: ["a"]),
            \.json, AgentInfo.init)
        try check(Pong(pid: 7), \.json, Pong.init)
        try check(
            AgentStats(
                requests: 1, connections: 2, sessions: 3, renewals: 4, uptime: .milliseconds(5), counters: ["x": 1]),
            \.json, AgentStats.init)
        for user in [UserSummary(), UserSummary(id: "1", email: "e", name: "n", verified: false)] {
            try check(user, \.json, UserSummary.init)
        }
        try check(UserResult(user: UserSummary(id: "1"), raw: ["a": nil], fetchedAt: 9), \.json, UserResult.init)
        try check(
            TokenResult(
                accessToken: "t", tokenType: "Bearer", expiresAt: 9.5, valid: .seconds(1), session: status.session),
            \.json,
            TokenResult.init)
        try check(TokenResult(accessToken: "t", tokenType: "mac", session: status.session), \.json, TokenResult.init)
        try check(ProofResult(proof: "p", session: status.session), \.json, ProofResult.init)
        for body in [nil, JSON.null, ["a": 1]] {
            try check(
                APIResponse(status: 200, headers: ["Date": "x"], body: body, fromCache: true, ageMs: 3), \.json,
                APIResponse.init)
        }
        for page in [PageInfo(items: ""), PageInfo(items: "/users", next: ["page": 2])] {
            try check(
                APIResponse(
                    status: 204, bodyBase64: "AA==", page: page, next: "https://a.example/?p=2",
                    url: "https://a.example/"), \.json,
                APIResponse.init)
        }
        for result in [ReloadResult(), ReloadResult(message: "m", changes: ["c"], restartNeeded: ["store"])] {
            try check(result, \.json, ReloadResult.init)
        }
        for message in [nil, "Sent."] { try check(MessageResult(message: message), \.json, MessageResult.init) }
    }

    @Test("providers, their details and the problems of a profile are read back as written")
    func roundTripsProviders() throws {
        try check(
            ProviderList(providers: [
                ProviderSummary(name: "a", title: "A", environments: ["x"], methods: ["password"], source: "bundled")
            ]), \.json, ProviderList.init)
        try check(
            ProviderDetail(
                name: "a", title: "A", environments: [EnvironmentInfo(name: "x", url: "https://x", isDefault: true)],
                hosts: [
                    HostInfo(name: "h", url: "https://h"), HostInfo(name: "h", url: "https://i", environment: "x"),
                ],
                methods: [
                    SignInMethodInfo(name: "password", label: "P", fields: [StepField(name: "f", label: "F")]),
                    SignInMethodInfo(
                        name: "key", label: "K", kind: SignInMethodInfo.key, later: [StepField(name: "c", label: "C")]),
                ],
                renewal: "refresh",
                endpoints: [
                    EndpointInfo(name: "ping", method: "GET", path: "/ping"),
                    EndpointInfo(
                        name: "items", about: "All.", method: "GET", path: "/items/{id}",
                        args: [
                            ArgumentInfo(name: "id"),
                            ArgumentInfo(name: "pin", type: .integer, optional: true, secret: true, about: "The PIN"),
                        ], paged: true),
                ], source: "/p.toml", tokenPlace: TokenPlaceInfo(kind: "header", name: "X-Key", value: "{access_token}")
            ),
            \.json, ProviderDetail.init)
        let problem = ProfileProblem(file: "p.toml", line: 3, key: "renewal.kind", expected: "a kind", found: "\"x\"")
        try check(
            ProviderCheck(problems: [problem, ProfileProblem(file: "p", line: 0, key: "", expected: "TOML")]), \.json,
            ProviderCheck.init)
        try check(
            ProviderCheck(problems: [], notes: [ProfileNote(file: "p", line: 2, key: "k", text: "weak")]), \.json,
            ProviderCheck.init)
        #expect(problem.description == "p.toml:3: renewal.kind: expected a kind, found \"x\"")
        #expect(ProfileProblem(file: "p", line: 0, key: "", expected: "TOML").description == "p: expected TOML")
    }

    @Test("a step of each kind and an event of each topic are read back as written")
    func roundTripsStepsAndEvents() throws {
        let status = try Samples.status()
        let steps = [
            Step(
                login: "l", kind: .fields, fields: [StepField(name: "code", label: "Code")], message: "m",
                sentTo: "a@b",
                expiresAt: 1, resendAt: 2.5),
            Step(
                login: "l", kind: .device, expiresAt: 1, verificationURI: "u", verificationURIComplete: "uc",
                userCode: "AB-CD"),
            Step(
                login: "l", kind: .fields,
                fields: [
                    StepField(name: "t", label: "Tenant", choices: [FieldChoice(value: "1", label: "North")])
                ]),
            Step(login: "l", kind: .wait, message: "Open the link.", expiresAt: 1),
            Step(login: "l", kind: .lend, lend: Samples.lend()),
            Step(login: "l", kind: .browser, url: "https://x"),
            Step(
                login: "l", kind: .browser, url: "https://x", redirectScheme: "com.example.app",
                certificateSHA256: "AA:BB"),
            Step(login: "l", kind: .done, status: status),
            Step(login: "l", kind: .failed, error: AgentError(.refused, "No.", providerMessage: "Wrong password")),
        ]
        for step in steps { try check(step, \.json, Step.init) }
        #expect(Set(steps.map(\.kind)) == Set(StepKind.allCases))
        let network = NetworkStatus(state: .online, since: 0)
        let store = StoreInfo(kind: .sealedFile, state: .locked)
        for topic in Topic.allCases {
            try check(
                AgentEvent(
                    topic: topic, name: "changed", at: 1.5, session: status.session, status: status, network: network,
                    store: store,
                    notice: NoticeInfo(reason: "stale", title: "t", message: "m", command: "c")), \.json,
                AgentEvent.init)
        }
        let snapshot = AgentEvent(snapshot: [status], network: network, store: store, at: 2)
        try check(snapshot, \.json, AgentEvent.init)
        #expect(try SessionList(snapshot.snapshot ?? nil).sessions == [status])
        #expect(RPCReply.notification(snapshot)["method"] == "event")
    }

    @Test("wire names are those of the contract")
    func spellsTheContract() throws {
        let keys = try Samples.status().json.objectValue?.keys
        #expect(
            keys == [
                "session", "provider", "environment", "state", "cause", "message", "user", "needs_password",
                "renews", "remembered", "expires_at",
                "refresh_at", "issued_at", "ends_at", "end_is_fixed", "signed_in_at", "last_error", "unsaved", "scopes",
                "shared_session", "store", "default",
            ])
        #expect(
            SessionState.allCases.map(\.rawValue)
                == ["signed_out", "signing_in", "active", "stale", "keyring_locked", "sign_in_required"])
        #expect(NetworkState.allCases.map(\.rawValue) == ["online", "limited", "portal", "offline"])
        let kinds = """
            not_signed_in sign_in_required keyring_locked keyring_unavailable offline captive_portal \
            provider_unreachable provider_error bad_reply rate_limited refused validation forbidden not_found \
            conflict denied agent_locked timeout busy too_large unknown_session unknown_provider unknown_endpoint \
            unsupported internal
            """
        #expect(ErrorKind.allCases.map(\.rawValue).joined(separator: " ") == kinds)
    }

    @Test("an answer that lacks something is an internal error that names it")
    func namesWhatIsMissing() throws {
        let error = #expect(throws: AgentError.self) { try TokenResult(["token_type": "Bearer"]) }
        #expect(error?.kind == .internal_)
        #expect(error?.message.contains("access_token: expected a string, found nothing") == true)
        #expect(throws: AgentError.self) { try SessionStatus([]) }
        #expect(throws: AgentError.self) { try SessionStatus(["session": "a", "provider": "p", "state": "odd"]) }
    }
}
