import Synchronization

/// The five backends over real HTTP, and the hand that makes them misbehave.
package final class StandIns: Sendable {
    package struct Configuration: Sendable {
        /// A numeric address; the control endpoint is on 127.0.0.1 whatever this says.
        package var host = "127.0.0.1"
        package var seed = SeedUser()
        /// What a token lives, until told otherwise.
        package var tokenLifetime = Duration.seconds(3600)
        /// How long a refreshed token is still taken, for the answer that was lost on its way.
        package var grace = Duration.seconds(5)
        /// Whether renewing by a token whose grace is over ends every token of the account (RFC 9700 §4.14.2).
        package var endsFamilyOnReuse = false

        package init() {}
    }

    let secretLog = SecretLog()
    private let clock = ServerClock()
    private let callCounts = ObservedValue(CallCounts())
    private let keyLog = ObservedValue<[Backend: [String]]>([:])
    private let renewalLog = ObservedValue<[TokenRenewal]>([])
    private let servers: [Backend: BackendServer]
    private let listeners: [Backend: Listener]
    // Written once, at the end of `init`, before anybody else has the stand-ins.
    private let control = Mutex<Listener?>(nil)

    /// Takes the ports; nobody listens on them before ``run()``.
    package init(_ configuration: Configuration = Configuration()) async throws {
        var servers: [Backend: BackendServer] = [:]
        var listeners: [Backend: Listener] = [:]
        for backend in Backend.allCases {
            let accounts = await Accounts(
                backend: backend, seed: configuration.seed, lifetime: configuration.tokenLifetime.inSeconds,
                grace: configuration.grace.inSeconds, endsFamilyOnReuse: configuration.endsFamilyOnReuse,
                secrets: secretLog, clock: clock, renewals: renewalLog)
            let server = BackendServer(backend: backend, accounts: accounts, counts: callCounts, keys: keyLog)
            servers[backend] = server
            listeners[backend] = try Listener(host: configuration.host, respond: server.respond)
        }
        self.servers = servers
        self.listeners = listeners
        let control = ControlServer(self)
        let listener = try Listener(host: "127.0.0.1", respond: control.respond)
        self.control.withLock { $0 = listener }
    }

    /// Serves until the task is cancelled.
    package func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for listener in allListeners {
                group.addTask { try await listener.run() }
            }
            try await group.waitForAll()
        }
    }

    /// Runs the stand-ins for as long as the body does, listening from its first line on.
    package static func serving<Result: Sendable>(
        _ configuration: Configuration = Configuration(),
        _ body: @Sendable @escaping (StandIns) async throws -> Result
    ) async throws -> Result {
        let standIns = try await StandIns(configuration)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await standIns.run()
                return nil
            }
            group.addTask {
                try await standIns.waitUntilListening()
                return try await body(standIns)
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let result = ended { return result }
            }
            throw CancellationError()
        }
    }

    package func waitUntilListening() async throws {
        for listener in allListeners { try await listener.waitUntilListening() }
    }

    private var allListeners: [Listener] {
        Array(listeners.values) + control.withLock { $0.map { [$0] } ?? [] }
    }
}

// MARK: - Where

extension StandIns {
    /// The base URL of a backend, as a profile's environment has it.
    package func url(_ backend: Backend) -> String {
        "http://\(listeners[backend]?.authority ?? "")\(backend.basePath)"
    }

    /// The base URL of the control endpoint; its paths begin with `/control`.
    package var controlURL: String {
        "http://\(control.withLock { $0?.authority } ?? "")"
    }

    /// What the port file says: every backend's URL under its name, and `control`.
    package var addresses: [String: String] {
        var addresses = ["control": controlURL]
        for backend in Backend.allCases { addresses[backend.rawValue] = url(backend) }
        return addresses
    }
}

// MARK: - Orders

extension StandIns {
    /// Orders what stands in `order`; tokens are revoked at once, everything else waits for its calls.
    package func misbehave(_ backend: Backend, _ order: Misbehaviour) async {
        if order.behaviour.revokeTokens { await servers[backend]?.accounts.revokeAll() }
        if order.behaviour.concernsCalls { servers[backend]?.orders.add(order) }
    }

    /// Takes every order to a backend back. What was counted and revoked stays so.
    package func clear(_ backend: Backend) {
        servers[backend]?.orders.clear()
    }

    /// What tokens live that are given out from now on.
    package func setTokenLifetime(_ length: Duration, at backend: Backend) async {
        await servers[backend]?.accounts.setLifetime(seconds: length.inSeconds)
    }

    /// Puts the backends' clock ahead: tokens age, and `Date` says so.
    package func advanceClock(by length: Duration) {
        clock.advance(by: length.inSeconds)
    }

    /// Whether connections are taken. Where they are not, they are refused, on the same port, and those there were
    /// are ended. Returns when it is so.
    package func setListening(_ listening: Bool, _ backend: Backend) async throws {
        try await listeners[backend]?.setListening(listening)
    }
}

// MARK: - What was seen

extension StandIns {
    package var counts: CallCounts { callCounts.value }

    /// Returns once the counts are as asked for. Calls are counted when they arrive, before they are done.
    package func waitForCalls(_ matches: @escaping @Sendable (CallCounts) -> Bool) async throws {
        try await callCounts.wait(until: matches)
    }

    /// The `Idempotency-Key` of every call that had one, in the order in which they came.
    package func idempotencyKeys(_ backend: Backend) -> [String] { keyLog.value[backend] ?? [] }

    /// Returns once so many calls with such a key have come.
    package func waitForKeys(_ count: Int, at backend: Backend) async throws {
        try await keyLog.wait { ($0[backend] ?? []).count >= count }
    }

    /// Every token, password and code that was given out or received.
    package var secrets: [String] {
        SecretLog.Kind.allCases.flatMap { secretLog.all($0) }
    }

    /// Every renewal there was, oldest first.
    package var renewals: [TokenRenewal] { renewalLog.value }

    /// Returns once the renewals are as asked for. One is noted when it is done, before its answer goes out.
    package func waitForRenewals(_ matches: @escaping @Sendable ([TokenRenewal]) -> Bool) async throws {
        try await renewalLog.wait(until: matches)
    }

    /// The last code that was sent to an address.
    package func lastCode(to email: String) -> String? {
        secretLog.mail.last { $0.email == email.lowercased() }?.code
    }
}
