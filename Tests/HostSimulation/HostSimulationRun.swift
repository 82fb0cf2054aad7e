import AuthModel
import AuthWire
import Simulation

/// Plays one schedule of hosts, each with the real agent and the real store, on a simulated etcd and provider.
///
/// Not shared: the run, with all jobs of its processes, is on one thread.
final class HostSimulationRun: @unchecked Sendable {
    /// The expected result of the users' actions.
    enum Expected: Equatable {
        /// Unknown, because an action was interrupted, or no running host knows the data that a backup lacks.
        case unknown
        case signedIn(account: Int)
        case signedOut
    }

    let schedule: HostSchedule
    let fault: HostInjectedFault?
    let time = SimulatedTime()
    var random: SeededRandom
    var etcd = EtcdDatabase()
    var etcdGoneUntil = Duration.zero
    /// The last change of the session or of the list of hosts, and the process that has made it.
    var changedAt = Duration.zero
    var changer: Int?
    var watches: [SimulatedWatch] = []
    /// The time of the next check of the leases.
    var leaseCheckAt: Duration?
    var backup: EtcdDatabase?
    var restore: Restore?
    var restoreCount = 0
    var restoredAt = Duration.seconds(-1000)
    /// The mark that etcd had then.
    var restoredMark: [UInt8] = []
    /// Processes that have received a response that shows the restore, or the mark of another host that has noticed it.
    var noticed: Set<Int> = []
    /// Until then, a host that does not know the missing data does not start.
    var heldOffUntil = Duration.zero
    /// Processes that read what etcd has after a restore.
    var inspecting: Set<Int> = []
    /// Watches may be silent until then.
    var silentUntil = Duration.zero
    var provider: RotatingProvider
    var behaviour = ProviderBehaviour.well
    var requests: [Int: ProviderRequest] = [:]
    var commit: Commit?
    /// When each access token ends, and when it was issued.
    var tokenTimes: [String: (issued: Duration, end: Duration)] = [:]
    /// etcd has measured how long tokens live only since then: it has prolonged its leases.
    var leasesProlongedAt = Duration.seconds(-1000)
    let hosts: [SimulatedHost]
    var processes: [SimulatedProcess] = []
    var expected = Expected.unknown
    /// A refresh token was used again after an interruption.
    var isLossExcused = false
    /// For each account, those that its host knew to have ended when a user signed in, or that the last sign-out lists:
    /// the record lists them.
    var formerAccounts: [Int: Set<Int>] = [:]
    /// The process in which a user acts now.
    var acting: Int?
    /// When the last fault of any host or of etcd began.
    var lastFaultBegan = Duration.seconds(-1000)
    /// Each host has the session. Most injected faults begin at that time.
    var hasBegun = false
    /// etcd's record of the cluster before a host was removed.
    var formerHosts: EtcdDatabase.Entry?
    var coverage = HostCoverage()
    /// For each host, how often it has sent a request of this path to etcd.
    var etcdRequests: [[String: Int]]
    private(set) var violation: HostViolation?
    private(set) var trace: [String]?
    private var lastNumber = 0

    static let name = { () -> SessionName in
        do { return try SessionName("shared") } catch { preconditionFailure("a valid name is refused") }
    }()

    /// A host tries again to reach etcd after 2 s at most, and a call takes 5 s.
    static let convergence = Duration.seconds(15)
    /// A host looks for changes of the cluster every 30 s.
    static let noticing = Duration.seconds(45)
    /// After this time without a fault, all hosts must have recovered.
    static let recovery = Duration.seconds(400)
    /// Longer than ``SessionRequests`` lets a caller wait.
    static let longestWait = Duration.seconds(65)
    /// The longest renewal of the session by any host while there is no fault.
    private static let longestRenewal = Duration.seconds(100)
    /// More events than this in one schedule mean that something repeats without end.
    private static let mostEvents = 3_000_000

    init(_ schedule: HostSchedule, fault: HostInjectedFault?, traced: Bool) {
        self.schedule = schedule
        self.fault = fault
        provider = RotatingProvider(grace: schedule.grace, rotates: schedule.rotates)
        var random = SeededRandom(seed: schedule.seed)
        hosts = (0..<schedule.hosts).map { number in
            SimulatedHost(
                number, clockError: number < schedule.clockErrors.count ? schedule.clockErrors[number] : .zero,
                key: (0..<32).map { _ in UInt8(truncatingIfNeeded: random.next()) })
        }
        self.random = random
        etcdRequests = hosts.map { _ in [:] }
        if traced { trace = [] }
    }

    /// Hosts whose state counts.
    var members: [SimulatedHost] { hosts.filter { !$0.isOutside } }

    func play() {
        begin()
        for step in schedule.steps {
            wait(step.pause)
            guard violation == nil else { break }
            note("· \(step.operation)")
            perform(step.operation)
            settle()
        }
        if violation == nil { conclude() }
        end()
    }

    /// Ends all processes, and lets their tasks finish.
    func end() {
        for process in processes { process.kill() }
        // Lets the tasks finish what they still wait for.
        let end = time.now + Self.longestWait
        settle()
        while time.happen(before: end) { settle() }
        // This releases the objects that refer to this run.
        (processes, watches, requests) = ([], [], [:])
        for host in hosts { host.process = nil }
        time.clear()
    }

    /// The first host creates the cluster and admits the others, and a user signs in.
    func begin() {
        start(hosts[0])
        go(until: time.now + .seconds(3))
        for host in hosts.dropFirst() {
            start(host)
            go(until: time.now + .seconds(2))
            admit(host, by: hosts[0])
            go(until: time.now + .seconds(5))
        }
        signIn(hosts[0])
        go(until: time.now + .seconds(5))
        for host in hosts where host.process?.state != .active {
            report(.liveness, "host \(host.number) has no session at the beginning")
        }
        hasBegun = true
    }

    /// Ends all faults, and checks that the hosts recover.
    private func conclude() {
        heal()
        while violation == nil, restore != nil { go(until: time.now + .seconds(1)) }
        go(until: max(silentUntil, heldOffUntil, hosts.map(\.pausedUntil).max() ?? .zero))
        go(until: time.now + Self.convergence)
        checkConverged()
        checkEnds()
        go(until: time.now + Self.recovery)
        checkMembership()
        awaitRenewals()
        checkRecovered()
        checkEnds()
        checkStored()
    }

    /// Waits until a renewal that has just begun ends.
    func awaitRenewals() {
        let end = time.now + Self.longestRenewal
        while violation == nil, isRenewing, time.now < end { go(until: time.now + .milliseconds(500)) }
        if isRenewing { report(.liveness, "a renewal, or the hold for one, does not end") }
    }

    private func heal() {
        note("· everything is well again")
        behaviour = .well
        etcdGoneUntil = min(etcdGoneUntil, time.now)
        for host in hosts {
            host.cutUntil = min(host.cutUntil, time.now)
            host.losesAnswersUntil = min(host.losesAnswersUntil, time.now)
            host.endInterruptions(at: max(time.now, host.pausedUntil))
            if host.process == nil { start(host) }
        }
    }

    // MARK: Time

    private func wait(_ pause: Pause) {
        switch pause {
        case .time(let duration): go(until: time.now + duration)
        case .events(let count):
            for _ in 0..<count {
                guard violation == nil, time.happen(before: time.now + .seconds(3600)) else { return }
                settle()
            }
        }
    }

    /// Runs everything that is due until this time.
    func go(until end: Duration) {
        // Work that has just begun may be able to run at once.
        settle()
        while violation == nil, time.happen(before: end) { settle() }
        time.pass(to: end)
    }

    /// Lets each running process do what it can do now.
    func settle() {
        if time.eventCount > Self.mostEvents { report(.liveness, "something repeats without end") }
        var isBusy = true
        while isBusy {
            isBusy = false
            for process in processes where !process.thread.isIdle {
                guard !process.life.isAlive || time.now >= hosts[process.host].pausedUntil else { continue }
                isBusy = true
                guard process.run() else {
                    return report(.liveness, "process \(process.number) does not come to an end")
                }
            }
        }
    }

    func latency() -> Duration { random.duration(in: .milliseconds(1)...Duration.milliseconds(60)) }

    // MARK: Processes

    func start(_ host: SimulatedHost) {
        guard host.process == nil else { return }
        let process = SimulatedProcess(processes.count, host, disk: host.disk, in: self)
        processes.append(process)
        host.process = process
        // The new process does not know the data that a backup lacks.
        if restore != nil || time.now < heldOffUntil { host.isHeldOff = true }
        process.start()
        settle()
    }

    func kill(_ host: SimulatedHost) {
        guard let process = host.process else { return }
        note("† host \(host.number) is killed")
        process.kill()
        host.process = nil
        if acting == process.number { acting = nil }
        for watch in watches where watch.process == process.number { end(watch) }
    }

    /// The process of a host that can do something now.
    func running(_ number: Int) -> SimulatedProcess? {
        let host = hosts[number % hosts.count]
        return time.now >= host.pausedUntil ? host.process : nil
    }

    // MARK: Words

    func report(_ rule: HostRule, _ what: @autoclosure () -> String) {
        guard violation == nil else { return }
        let violation = HostViolation(rule: rule, at: time.now, what: what())
        self.violation = violation
        note("✗ \(violation)")
    }

    func note(_ line: @autoclosure () -> String) {
        guard trace != nil else { return }
        trace?.append("\(time.now)  \(line())")
    }

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
