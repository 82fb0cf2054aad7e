import Synchronization

/// The five backends over real HTTP, and functions that make them misbehave.
package final class StandIns: Sendable {
    package struct Configuration: Sendable {
        /// A numeric address. The control endpoint is always on 127.0.0.1.
        package var host = "127.0.0.1"
        package var seed = SeedUser()
        package var tokenLifetime = Duration.seconds(3600)
        /// How long a refreshed token is still accepted, because the response may be lost.
        package var grace = Duration.seconds(5)
        /// Whether a renewal with a token after its grace period ends every token of the account (RFC 9700 §4.14.2).
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
    // Set once, at the end of `init`.
    private let control = Mutex<Listener?>(nil)

    /// Reserves the ports. ``run()`` listens on them.
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

    /// Runs the stand-ins while the body runs. They listen before it starts.
    package static func serving<Result: Sendable>(
        _ configuration: Configuration = Configuration(),
        _ body: @Sendable @escaping (StandIns) async throws -> Result
    ) async throws -> Result {
        let standIns = try await StandIns(configuration)
        return try await withServer(standIns.run) {
            try await standIns.waitUntilListening()
            return try await body(standIns)
        }
    }

    package func waitUntilListening() async throws {
        for listener in allListeners { try await listener.waitUntilListening() }
    }

    private var allListeners: [Listener] {
        Array(listeners.values) + control.withLock { $0.map { [$0] } ?? [] }
    }
}

// MARK: - Addresses

extension StandIns {
    /// The base URL of a backend, as a profile's environment has it.
    package func url(_ backend: Backend) -> String {
        "http://\(listeners[backend]?.authority ?? "")\(backend.basePath)"
    }

    /// The base URL of the control endpoint; its paths begin with `/control`.
    package var controlURL: String {
        "http://\(control.withLock { $0?.authority } ?? "")"
    }

    /// The content of the port file: every backend's URL under its name, and `control`.
    package var addresses: [String: String] {
        var addresses = ["control": controlURL]
        for backend in Backend.allCases { addresses[backend.rawValue] = url(backend) }
        return addresses
    }
}

// MARK: - Misbehaviour

extension StandIns {
    /// Adds a misbehaviour. Tokens are revoked at once; everything else applies to the calls that it names.
    package func misbehave(_ backend: Backend, _ order: Misbehaviour) async {
        if order.behaviour.revokeTokens { await servers[backend]?.accounts.revokeAll() }
        if order.behaviour.concernsCalls { servers[backend]?.orders.add(order) }
    }

    /// Removes every misbehaviour of a backend. Counts and revocations stay.
    package func clear(_ backend: Backend) {
        servers[backend]?.orders.clear()
    }

    package func setTokenLifetime(_ length: Duration, at backend: Backend) async {
        await servers[backend]?.accounts.setLifetime(seconds: length.inSeconds)
    }

    /// Advances the backends' clock: tokens age, and `Date` changes.
    package func advanceClock(by length: Duration) {
        clock.advance(by: length.inSeconds)
    }

    /// Starts or stops listening, on the same port. Stopping closes all connections, and new ones are refused. Returns when it
    /// is done.
    package func setListening(_ listening: Bool, _ backend: Backend) async throws {
        try await listeners[backend]?.setListening(listening)
    }
}

// MARK: - Observations

extension StandIns {
    package var counts: CallCounts { callCounts.value }

    /// Waits for counts. A call is counted when it arrives, before it is performed.
    package func waitForCalls(_ matches: @escaping @Sendable (CallCounts) -> Bool) async throws {
        try await callCounts.wait(until: matches)
    }

    /// The `Idempotency-Key` of every call that had one, in order.
    package func idempotencyKeys(_ backend: Backend) -> [String] { keyLog.value[backend] ?? [] }

    /// Waits for this number of calls with such a key.
    package func waitForKeys(_ count: Int, at backend: Backend) async throws {
        try await keyLog.wait { ($0[backend] ?? []).count >= count }
    }

    /// Every token, password and code that was issued or received.
    package var secrets: [String] {
        SecretLog.Kind.allCases.flatMap { secretLog.all($0) }
    }

    /// Every renewal, oldest first.
    package var renewals: [TokenRenewal] { renewalLog.value }

    /// Waits for renewals. A renewal is recorded before its response is sent.
    package func waitForRenewals(_ matches: @escaping @Sendable ([TokenRenewal]) -> Bool) async throws {
        try await renewalLog.wait(until: matches)
    }

    /// The last code that was sent to an address.
    package func lastCode(to email: String) -> String? {
        secretLog.mail.last { $0.email == email.lowercased() }?.code
    }
}
