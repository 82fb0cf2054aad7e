import AgentTestSupport
import AuthAgent
import AuthMachines
import AuthModel
import AuthProviders
import AuthWire
import Testing

@Suite("Sign-in and validation without a network", .timeLimit(.minutes(1)))
struct OfflineSignInTests {
    private let network = SilentNetwork()

    private func example(
        waits: Bool = true, at url: String = "https://api.example", transport: ScriptedTransport? = nil,
        _ change: (inout ProviderProfile) throws -> Void = { _ in }
    ) throws -> ExampleProvider {
        try ExampleProvider(transport: transport ?? ExampleProvider.numbering(), network: network) { profile in
            profile.environments = [ProviderEnvironment(name: "local", baseURL: url)]
            profile.api.waitsForConnectivity = waits
            profile.validation = RequestTemplate(
                method: "GET", path: try Template(parsing: "/validate"), bearer: true)
            try change(&profile)
        }
    }

    private func running(
        _ example: ExampleProvider,
        _ test: @escaping @Sendable (SessionRequests, SignInService) async throws -> Void
    ) async throws {
        try await example.running { [network] sessions, signIns in
            await network.isWatched()
            try await test(sessions, signIns)
        }
    }

    /// Without the requests that only find out whether the provider can be reached.
    private static func logins(_ example: ExampleProvider) -> [String] {
        example.transport.asked.filter { $0.hasPrefix("POST") }
    }

    /// Ends with the test's time limit.
    private static func waits(until isTrue: () -> Bool) async throws {
        while !isTrue() {
            try Task.checkCancellation()
            await Task.yield()
        }
    }

    @Test("a sign-in says that it waits, sends nothing, and is done when the network is back")
    func returns() async throws {
        let example = try self.example()
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            board.put(network: .offline, providers: [:])
            let step = try await signIns.start(SessionRegistryTests.start)
            #expect(step.kind == .wait && step.message?.contains("no network") == true)
            let end = example.clock.now().date(of: example.clock.now().boot + NetworkWait.longest(within: nil))
            #expect(step.expiresAt == end.unixSeconds)
            #expect(example.transport.asked.isEmpty)
            board.put(network: .online, providers: [:])
            let done = try await signIns.wait(LoginParams(login: step.login))
            #expect(done.kind == .done)
            #expect(Self.logins(example) == ["POST https://api.example/login"])
        }
    }

    @Test("without a network until the limit, the sign-in ends with nothing sent, and another may begin")
    func neverReturns() async throws {
        let example = try self.example()
        try await running(example) { sessions, signIns in
            sessions.context.board.put(network: .offline, providers: [:])
            _ = try await signIns.start(SessionRegistryTests.start)
            await example.clock.somebodySleeps(until: example.clock.now().boot + NetworkWait.longest(within: nil))
            example.clock.advance(NetworkWait.longest(within: nil))
            for await _ in sessions.context.board.changes() where sessions.context.board.statuses().isEmpty { break }
            #expect(example.transport.asked.isEmpty)
            // The placeholder goes first, then the sign-in itself.
            var again: Step?
            while again == nil {
                do throws(AgentError) {
                    again = try await signIns.start(SessionRegistryTests.start)
                } catch {
                    guard error.kind == .busy else { throw error }
                    await Task.yield()
                }
            }
            #expect(again?.kind == .wait)
        }
    }

    @Test("a sign-in whose client died ends after a quarter of an hour, and so does its wait")
    func abandoned() async throws {
        let example = try self.example()
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            board.put(network: .offline, providers: [:])
            let limit = example.clock.now().boot + .seconds(3599)
            var params = SessionRegistryTests.start
            params.timeout = .seconds(3600)
            let login = try await signIns.start(params).login
            try await Self.waits { example.clock.hasSleeper(until: limit) }
            example.clock.advance(SignInMachine.abandonedAfter)
            for await _ in board.changes() where board.statuses().isEmpty { break }
            try await Self.waits { !example.clock.hasSleeper(until: limit) }
            #expect(try await signIns.wait(LoginParams(login: login)).error?.kind == .timeout)
            board.put(network: .online, providers: [:])
            #expect(try await signIns.start(SessionRegistryTests.start).kind == .done)
            #expect(Self.logins(example).count == 1)
        }
    }

    @Test("cancelling ends the wait at once, and a network that returns then sends nothing")
    func cancelled() async throws {
        let example = try self.example()
        try await running(example) { sessions, signIns in
            sessions.context.board.put(network: .offline, providers: [:])
            let step = try await signIns.start(SessionRegistryTests.start)
            let ended = try await signIns.cancel(LoginParams(login: step.login))
            #expect(ended.kind == .failed && ended.error?.kind == .denied)
            sessions.context.board.put(network: .online, providers: [:])
            #expect(try await signIns.start(SessionRegistryTests.start).kind == .done)
            #expect(Self.logins(example) == ["POST https://api.example/login"])
        }
    }

    @Test("a request to this machine, or of a profile that does not wait, is sent at once", arguments: [true, false])
    func noWait(isLocal: Bool) async throws {
        let example = try self.example(waits: isLocal, at: isLocal ? "http://localhost:1" : "https://api.example")
        try await running(example) { sessions, signIns in
            sessions.context.board.put(network: .offline, providers: [:])
            let step = try await signIns.start(SessionRegistryTests.start)
            #expect(step.kind == .done)
        }
    }

    @Test("requests about a password wait too", arguments: [PasswordAction.requestReset, .change])
    func password(action: PasswordAction) async throws {
        let example = try self.example { profile in
            var method = profile.signIn[0]
            method.request = RequestTemplate(
                method: "POST", path: try Template(parsing: "/password"), bearer: action == .change)
            profile.password[action] = method
        }
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            _ = try await signIns.start(SessionRegistryTests.start)
            board.put(network: .offline, providers: [:])
            let asked = Self.logins(example).count
            let params = PasswordParams(provider: "example", fields: SessionRegistryTests.fields)
            let step = try await signIns.start(action, params)
            #expect(step.kind == .wait && Self.logins(example).count == asked)
            board.put(network: .online, providers: [:])
            #expect(try await signIns.wait(LoginParams(login: step.login)).kind == .done)
            #expect(Self.logins(example).last == "POST https://api.example/password")
        }
    }

    @Test("an authorization server is asked when the network is back, and the user gets the code for the other device")
    func device() async throws {
        let transport = ScriptedTransport { request throws(TransportError) in
            ExampleProvider.json(
                200,
                request.method == "GET"
                    ? #"{"issuer":"https://id.example","token_endpoint":"https://id.example/t","#
                        + #""device_authorization_endpoint":"https://id.example/d"}"#
                    : #"{"device_code":"d","user_code":"U","verification_uri":"https://id.example","expires_in":600}"#)
        }
        let example = try self.example(transport: transport) { profile in
            let oauth = OAuthProfile(issuer: "https://id.example", clientID: "authd")
            (profile.oauth, profile.signIn) = (oauth, oauth.methods)
        }
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            board.put(network: .offline, providers: [:])
            let step = try await signIns.start(LoginStart(provider: "example", method: "device"))
            #expect(step.kind == .wait && Self.logins(example).isEmpty)
            board.put(network: .online, providers: [:])
            let next = try await signIns.wait(LoginParams(login: step.login))
            #expect(next.kind == .device && next.userCode == "U")
            #expect(Self.logins(example) == ["POST https://id.example/d"])
            _ = try await signIns.cancel(LoginParams(login: step.login))
        }
    }

    @Test("a validation waits for the network, at most as long as the request may take", arguments: [true, false])
    func validation(isBack: Bool) async throws {
        let example = try self.example()
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            _ = try await signIns.start(SessionRegistryTests.start)
            board.put(network: .offline, providers: [:])
            let asked = example.transport.asked.count
            let end = example.clock.now().boot + NetworkWait.longest(within: nil)
            let validated = Task { try await sessions.validate(SessionParams()) }
            await example.clock.somebodySleeps(until: end)
            #expect(example.transport.asked.count == asked)
            if isBack {
                board.put(network: .online, providers: [:])
                #expect(try await validated.value.state == .active)
                #expect(example.transport.asked.last == "GET https://api.example/validate")
            } else {
                example.clock.advance(NetworkWait.longest(within: nil))
                await #expect(throws: AgentError.noNetworkInTime) { try await validated.value }
                #expect(example.transport.asked.count == asked)
            }
        }
    }

    @Test(
        "the bundled profiles that wait for a network do so at sign-in, registration and validation",
        arguments: ["aws-lambda", "fork-in-the-road"], ["password", "register"])
    func bundled(provider: String, method: String) async throws {
        // The client's own time limit, longer and shorter than that of a request without one.
        let limit = Duration.seconds(method == "register" ? 800 : 20)
        let text = try #require(BundledProfiles.texts[provider])
        let profile = try ProfileReader.read(text, source: BundledProfiles.source)
        let base = try #require(profile.environments.first?.baseURL)
        let transport = ScriptedTransport { _ throws(TransportError) in
            ExampleProvider.json(
                200, #"{"token":"t","user":{"id":"7","userId":"7"},"session":{"expiresAt":4000000000}}"#)
        }
        let example = try ExampleProvider(transport: transport, network: network) { $0 = profile }
        try await running(example) { sessions, signIns in
            let board = sessions.context.board
            board.put(network: .offline, providers: [:])
            let values = [
                "email": "ada@example.org", "password": "Correct-h0rse!@", "displayName": "Ada", "name": "Ada",
            ]
            let fields = profile.signIn.first { $0.name == method }?.fields.map(\.name) ?? []
            let start = LoginStart(
                provider: provider, method: method, fields: values.filter { fields.contains($0.key) }, timeout: limit)
            let step = try await signIns.start(start)
            #expect(step.kind == .wait && transport.asked.isEmpty)
            let limitEnd = example.clock.now().date(of: example.clock.now().boot + limit - .seconds(1))
            #expect(step.expiresAt == limitEnd.unixSeconds)
            // Until just before the limit.
            await example.clock.somebodySleeps(until: example.clock.now().boot + limit - .seconds(1))
            example.clock.advance(limit - .milliseconds(1500))
            board.put(network: .online, providers: [:])
            let done = try await signIns.wait(LoginParams(login: step.login))
            #expect(done.kind == .done, "\(String(describing: done.error))")
            #expect(board.statuses().map(\.state) == [.active])
            let path = try #require(profile.signIn.first { $0.name == method }?.request?.path.literals.joined())
            #expect(Self.logins(example) == ["POST \(base)\(path)"])

            board.put(network: .offline, providers: [:])
            let asked = transport.asked.count
            let deadline = example.clock.now().boot + limit
            let validated = Task { try await sessions.validate(SessionParams(), until: deadline) }
            await example.clock.somebodySleeps(until: deadline - .seconds(1))
            #expect(transport.asked.count == asked)
            example.clock.advance(limit - .milliseconds(1500))
            board.put(network: .online, providers: [:])
            #expect(try await validated.value.state == .active)
            let check = try #require(profile.validation?.path.literals.joined())
            #expect(transport.asked.last == "GET \(base)\(check)")
        }
    }
}
