import AgentTestSupport
import AuthMachines
import AuthModel
import AuthWire
import Testing

@Suite("A sign-in without a network, decided by events")
struct SignInNetworkTests {
    /// A sign-in or a request about a password whose last action is the one of this name, and its caller.
    private static func bench(_ action: String) throws -> (SignInBench, CallerID) {
        var bench: SignInBench
        switch action {
        case "request": bench = try .password()
        case "register": bench = try .oauth("browser") { $0.registers = true }
        case "findServer", "prepareBrowser": bench = try .oauth("browser")
        case "beginDevice": bench = try .oauth("device")
        case "requestToken":
            bench = try .oauth("service", fields: ["client_secret": "s"]) { $0.clientAuthentication = .basic }
        default:
            let kind: PasswordAction = action == "requestReset" ? .requestReset : .change
            let profile = try Sample.profile { $0.password[kind] = $0.signIn[0] }
            bench = try SignInBench(kind, at: profile, ["email": "a@b.example", "password": "p"])
        }
        let caller = bench.begin()
        if ["prepareBrowser", "beginDevice", "requestToken"].contains(action) { bench.serverFound() }
        return (bench, caller)
    }

    @Test(
        "each request to a provider waits for a network, is then sent, and fails at the limit, however often it waits",
        arguments: [
            "request", "register", "findServer", "prepareBrowser", "beginDevice", "requestToken", "requestReset",
            "changePassword",
        ])
    func waits(name: String) throws {
        let (begun, first) = try Self.bench(name)
        var (bench, caller) = (begun, first)
        let action = try #require(bench.actions.last)
        #expect(bench.actionNames.last == name && action.needsNetwork)
        bench.send(.networkMissing(action))
        #expect(bench.actionNames == ["awaitNetwork"])
        let step = try bench.step(for: caller)
        #expect(step.kind == .wait && step.message?.contains("no network") == true)
        let end = bench.now.boot + SignInMachine.longestOffline
        #expect(bench.wakeAt == end)
        bench.advance(.seconds(20))
        bench.send(.networkReturned)
        #expect(bench.actionNames == [name])
        bench.send(.networkMissing(action))
        #expect(bench.wakeAt == end)
        caller = bench.ask { .stepRequested($0) }
        try bench.sleepUntilWake()
        #expect(try bench.step(for: caller).error == .noNetworkInTime)
        bench.send(.networkReturned)
        #expect(bench.actionNames.isEmpty)
    }

    @Test("the next request has a limit of its own")
    func nextRequest() throws {
        var bench = try Self.bench("findServer").0
        bench.send(.networkMissing(try #require(bench.actions.last)))
        bench.advance(.seconds(50))
        bench.send(.networkReturned)
        bench.serverFound()
        bench.send(.networkMissing(try #require(bench.actions.last)))
        #expect(bench.wakeAt == bench.now.boot + SignInMachine.longestOffline)
    }

    @Test("who was told of the missing network learns where the user is to go", arguments: [true, false])
    func away(isEarly: Bool) throws {
        let (begun, first) = try Self.bench("beginDevice")
        var bench = begun
        bench.send(.networkMissing(try #require(bench.actions.last)))
        #expect(try bench.step(for: first).kind == .wait)
        bench.send(.networkReturned)
        // The client may ask before the code is there, or after.
        var second = isEarly ? bench.ask { .stepRequested($0) } : first
        bench.send(.deviceReady(.success(try SignInBench.device()), sentAt: bench.now))
        if !isEarly { second = bench.ask { .stepRequested($0) } }
        #expect(try bench.step(for: second).userCode == "U")
        // It knows it now, and waits for the end.
        let third = bench.ask { .stepRequested($0) }
        #expect(!bench.hasReply(third))
    }

    @Test("without a network, a device's code is asked about again later, and nothing is said")
    func devicePoll() throws {
        var bench = try Self.bench("beginDevice").0
        bench.send(.deviceReady(.success(try SignInBench.device()), sentAt: bench.now))
        try bench.sleepUntilWake()
        let action = try #require(bench.actions.last)
        #expect(bench.actionNames == ["requestToken"])
        bench.send(.networkMissing(action))
        #expect(bench.actionNames.isEmpty)
        #expect(bench.wakeAt == bench.now.boot + .seconds(10))
        try bench.sleepUntilWake()
        #expect(bench.actionNames == ["requestToken"])
    }

    @Test("a code from the browser is exchanged when the network is back")
    func exchange() throws {
        var bench = try Self.bench("prepareBrowser").0
        let attempt = try bench.attempt()
        bench.send(.authorizationReady(.success(BrowserAuthorization(attempt: attempt, listens: true))))
        let query = try attempt.query()
        let browser = bench.ask { .cameBack($0, uri: nil, query: query) }
        let action = try #require(bench.actions.last)
        #expect(bench.actionNames.last == "requestToken")
        bench.send(.networkMissing(action))
        // Its page shows the end, not the wait.
        #expect(!bench.hasReply(browser))
        bench.send(.networkReturned)
        #expect(bench.actionNames == ["requestToken"])
        bench.send(.tokenReceived(.success(bench.grant("t")), sentAt: bench.now))
        #expect(bench.actionNames == ["examine"])
    }
}

extension SignInBench {
    fileprivate mutating func serverFound() {
        var server = Self.server
        server.endpoints.deviceAuthorization = "https://id.example/device"
        send(.serverFound(.success(server), proofKey: nil))
    }
}
