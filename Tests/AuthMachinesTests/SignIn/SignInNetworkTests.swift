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
        let end = bench.now.boot + NetworkWait.longest(within: nil)
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

    @Test("the next request has a separate limit")
    func nextRequest() throws {
        var bench = try Self.bench("findServer").0
        bench.send(.networkMissing(try #require(bench.actions.last)))
        bench.advance(.seconds(50))
        bench.send(.networkReturned)
        bench.serverFound()
        bench.send(.networkMissing(try #require(bench.actions.last)))
        #expect(bench.wakeAt == bench.now.boot + NetworkWait.longest(within: nil))
    }

    @Test("a request waits until just before its own time limit, and a later one until its own")
    func ownLimit() throws {
        for (limit, wait) in [
            (nil, .seconds(59)), (Duration.seconds(600), Duration.seconds(599)), (.seconds(5), .milliseconds(4500)),
            (.zero, .zero), (.seconds(366 * 86_400), .seconds(86_399)),
        ] {
            #expect(NetworkWait.longest(within: limit) == wait)
            var bench = try SignInBench(Sample.profile(), LoginStart(provider: "sample", timeout: limit))
            bench.begin()
            bench.answer(["email": "a@b.example", "password": "p"])
            bench.send(.networkMissing(.request(.own)))
            #expect(bench.wakeAt == bench.now.boot + min(wait, SignInMachine.abandonedAfter))
        }
        var bench = try SignInBench(Sample.profile(), LoginStart(provider: "sample", timeout: .seconds(600)))
        bench.begin()
        bench.ask { .answered($0, ["email": "a@b.example", "password": "p"], former: nil, limit: .seconds(20)) }
        bench.send(.networkMissing(.request(.own)))
        #expect(bench.wakeAt == bench.now.boot + .seconds(19))
    }

    @Test("a sign-in that no client asks about waits a quarter of an hour at most, whatever its limit")
    func abandoned() throws {
        var bench = try SignInBench(Sample.profile(), LoginStart(provider: "sample", timeout: .seconds(3600)))
        bench.begin()
        bench.advance(.seconds(60))
        bench.answer(["email": "a@b.example", "password": "p"])
        let missing = SignInEvent.networkMissing(.request(.own))
        bench.send(missing)
        #expect(bench.wakeAt == bench.now.boot + SignInMachine.abandonedAfter)
        // The network's coming and going is not a client, and a client that asks is one, even if it leaves.
        let first = bench.wakeAt
        bench.advance(.seconds(800))
        bench.send(.networkReturned)
        bench.send(missing)
        #expect(bench.wakeAt == first)
        let caller = bench.ask { .stepRequested($0) }
        let gone = bench.ask { .stepRequested($0) }
        bench.send(.callerGone(gone))
        #expect(bench.wakeAt == bench.now.boot + SignInMachine.abandonedAfter)
        try bench.sleepUntilWake()
        #expect(try bench.step(for: caller).error?.kind == .timeout)
        bench.send(.networkReturned)
        #expect(bench.actions.isEmpty && bench.wakeAt == nil)
    }

    @Test("a caller that knows of the missing network gets the browser's step next", arguments: [true, false])
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

    @Test("without a network, a device's code is polled again later, and nothing is reported")
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
        let browser = bench.ask { .redirected($0, uri: nil, query: query) }
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
