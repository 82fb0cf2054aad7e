import AuthAgent
import AuthConcurrency
import AuthEtcd
import AuthModel
import AuthWire

/// One start of an agent: the real one, from its sessions to its store. The rest of the world is simulated.
///
/// Not shared, as ``SimulatedTime``.
final class SimulatedProcess: @unchecked Sendable {
    let number: Int
    let host: Int
    let thread = SimulatedThread()
    let life: ProcessLife
    let clock: SimulatedClock
    let sleep = SimulatedSleepWatch()
    let store: EtcdStore
    let context: AgentContext
    let registry: SessionRegistry
    let requests: SessionRequests
    private let loader: SessionLoader
    private var tasks: [Task<Void, Never>] = []
    /// The state of etcd that it has seen last.
    var known: Int64 = 0
    var knownCluster = 0
    /// The mark in etcd when the process last began a watch, after it had read everything. If it finds another mark, it
    /// notices that etcd was restored.
    var mark: [UInt8]?
    /// When a check of it last found that mark.
    var markReadAt = Duration.zero
    /// The revision of its last hold, if the response to that shows that etcd was restored.
    var tellingHold: Int64?
    /// Its last write of tokens.
    var lastWrite: Int64 = 0
    /// Accounts whose tokens it had when a user began to sign in or out, and those that the records of these list: it
    /// knows that these sign-ins have ended.
    var endedAccounts: Set<Int> = []
    /// Callers, and since when they wait.
    var waiting: [Int: Duration] = [:]

    /// The most jobs that a process has at one time. More mean that a job repeats without end.
    private static let mostJobs = 200_000

    init(_ number: Int, _ host: SimulatedHost, disk: SimulatedDisk, in run: HostSimulationRun) {
        self.number = number
        self.host = host.number
        let (time, life) = (run.time, ProcessLife(run.time))
        self.life = life
        clock = SimulatedClock(time: time, life: life, host: host)
        let mounted = MountedDisk(disk: disk, life: life)
        store = EtcdStore(
            EtcdStore.Configuration(
                endpoints: ["https://etcd:2379"], prefix: "/authd/ada", user: nil, hostName: host.name),
            local: mounted, transport: EtcdLink(run: run, process: number), clock: clock,
            pause: { try await life.wait(for: $0) }, now: { time.uptime }, random: { run.random.next() })
        context = AgentContext(
            storeKind: .etcd, transport: ProviderLink(run: run, process: number), clock: clock, network: StillNetwork(),
            sleep: sleep, catalog: SimulatedProfile.catalog, publish: { _ in })
        let storage = SessionStorage(store: store, signOuts: mounted)
        registry = SessionRegistry(context: context, storage: storage, seed: run.random.next())
        loader = SessionLoader(context: context, registry: registry, storage: storage, seed: run.random.next())
        requests = SessionRequests(context: context, registry: registry, storage: storage)
    }

    func start() {
        perform { [store, loader] in
            await withDiscardingTaskGroup { group in
                group.addTask { await store.run() }
                group.addTask { await loader.run() }
            }
        }
    }

    func kill() {
        life.end()
        for task in tasks { task.cancel() }
        (tasks, waiting) = ([], [:])
    }

    /// Begins work of this process.
    func perform(_ work: @escaping @Sendable () async -> Void) {
        let thread = thread
        tasks.append(
            Task(executorPreference: thread) {
                await TaskExecution.$executor.withValue(thread) { await work() }
            })
    }

    /// Runs the jobs that can run now.
    /// - Returns: `false` if they do not end.
    func run() -> Bool { thread.run(atMost: Self.mostJobs) }

    /// Reads a value from the agent while the simulated time stands still.
    /// - Returns: `nil` if the work has to wait.
    func observe<Value: Sendable>(_ work: @escaping @Sendable () async -> Value?) -> Value? {
        let observed = Observed<Value>()
        perform { observed.value = await work() }
        return run() ? observed.value : nil
    }

    /// Not shared, as ``SimulatedTime``.
    private final class Observed<Value: Sendable>: @unchecked Sendable {
        var value: Value?
    }

    /// The tokens that it serves now.
    var tokens: TokenSet? {
        observe { [registry] in await registry.session(named: HostSimulationRun.name)?.record.tokens }
    }

    /// The account and the number of the refresh token among them.
    var refresh: (account: Int, number: Int)? {
        tokens?.refreshToken.flatMap { RotatingProvider.parts(of: $0.reveal()) }
    }

    var state: SessionState? { context.board.status(HostSimulationRun.name)?.state }
}

/// A host: its disk and its faults.
///
/// Not shared, as ``SimulatedTime``.
final class SimulatedHost: @unchecked Sendable {
    let number: Int
    var clockError: Duration
    let disk: SimulatedDisk
    var process: SimulatedProcess?
    var cutUntil = Duration.zero
    var losesAnswersUntil = Duration.zero
    var pausedUntil = Duration.zero
    /// It does not know the data that a restored backup lacks, and is started when others have written that data.
    var isHeldOff = false
    /// When a user has removed it, or was about to.
    var outsideSince: Duration?
    /// When a host learned that its removal had succeeded.
    var removedAt: Duration?
    /// The end of its last fault.
    var lastFault = Duration.seconds(-1000)
    /// When it did not run, or did not reach etcd, as far as that is known beforehand.
    private var interruptions: [(begin: Duration, end: Duration)] = []

    /// - Parameter key: the key on its disk.
    init(_ number: Int, clockError: Duration, key: [UInt8]) {
        self.number = number
        self.clockError = clockError
        disk = SimulatedDisk(host: Self.name(number), key: key)
    }

    var name: String { Self.name(number) }
    var isOutside: Bool { outsideSince != nil }
    var isRemoved: Bool { removedAt != nil }

    private static func name(_ number: Int) -> String { "host-\(number)" }

    func interrupt(from begin: Duration, to end: Duration) { interruptions.append((begin, end)) }

    /// Ends the interruptions sooner than planned.
    func endInterruptions(at end: Duration) {
        for index in interruptions.indices { interruptions[index].end = min(interruptions[index].end, end) }
    }

    /// Whether it ran and reached etcd for so long at a time.
    func wasWell(for time: Duration, from begin: Duration, to end: Duration) -> Bool {
        var since = begin
        for interruption in interruptions.sorted(by: { $0.begin < $1.begin }) where interruption.end >= since {
            if min(interruption.begin, end) - since >= time { return true }
            since = interruption.end
        }
        return end - since >= time
    }

    func wasInterrupted(from begin: Duration, to end: Duration) -> Bool {
        interruptions.contains { $0.begin <= end && begin <= $0.end }
    }
}

/// The network is always there.
struct StillNetwork: NetworkWatch {
    func readings() -> AsyncStream<NetworkReading> { AsyncStream { $0.yield(NetworkReading(reach: .internet)) } }
}

/// The provider as a profile describes it.
enum SimulatedProfile {
    static let name = "simulated"

    static let catalog: ProfileCatalog = {
        do { return ProfileCatalog([try profile()]) } catch { preconditionFailure("the profile is refused: \(error)") }
    }()

    private static func profile() throws -> ProviderProfile {
        let renewal = RequestTemplate(
            method: "POST", path: try Template(parsing: "/renew"),
            body: .json(.object([("refresh", .text(try Template(parsing: "{refresh_token}")))])))
        var profile = ProviderProfile(
            name: name, title: "Simulated", source: "simulation",
            // On this machine: the agent does not look for a network first.
            environments: [ProviderEnvironment(name: "local", baseURL: "http://localhost:1")],
            defaultEnvironment: "local", signIn: [], renewal: Renewal(kind: .refresh, request: renewal))
        profile.reply = ResponseMap(
            accessToken: try .pointer(JSONPointer("/access")), refreshToken: try .pointer(JSONPointer("/refresh")),
            expiresIn: try .pointer(JSONPointer("/expires_in")))
        profile.errors = ErrorMap(message: [try JSONPointer("/message")])
        return profile
    }
}
