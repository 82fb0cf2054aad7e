import AuthMachines
import AuthModel
import AuthWire

/// Plays one schedule of hosts that share a session: etcd, the provider, connections and processes fail.
final class ClusterSimulationRun: SimulationBase {
    enum Event {
        case reachesEtcd(EtcdCall, attempt: Int)
        case answered(EtcdCall)
        case changed(host: Int)
        case released(host: Int)
        case reconnects(host: Int)
        case leasesEnd
        case reachesProvider(Int)
        case providerAnswers(Int)
        case timesOut(Int)
        indirect case revocationArrives(TokenSet)
        case restarts(host: Int)
        case clockSet(host: Int)
        // When the host must know it, unless another fault has begun since.
        case signOutDue(host: Int, faults: Int)
        case tokensDue(host: Int, faults: Int, written: Duration)
    }

    let fault: ClusterInjectedFault?
    let schedule: ClusterSchedule
    var random: SeededRandom
    var queue = SimulationEventQueue<Event>()
    let etcd = SimulatedEtcd()
    let provider: SimulatedProvider
    let hosts: [SimulatedHost]
    var etcdGoneUntil = Duration.zero
    var requests: [Int: ProviderRequest] = [:]
    /// The host that has sent the last one.
    var lastSender: Int?
    var lastCommit: Commit?
    /// Why a used refresh token was sent again, which has ended the session.
    var lossCause: Interruption?
    var isSignedOut = false
    /// Sign-outs that hosts have on disk.
    var signOuts: [Int: SignInID] = [:]
    var coverage = ClusterCoverage()

    static let name = { () -> SessionName in
        do { return try SessionName("shared") } catch { preconditionFailure("a valid name is refused") }
    }()

    /// How long after the last fault everything must be well.
    static let recovery = Duration.seconds(400)
    /// How long after the last fault hosts may have different tokens than etcd.
    static let convergence = Duration.seconds(2)
    /// What was written less than this before a check may still be on its way.
    private static let delivery = Duration.milliseconds(500)

    init(_ schedule: ClusterSchedule, fault: ClusterInjectedFault?, traced: Bool) {
        self.schedule = schedule
        self.fault = fault
        random = SeededRandom(seed: schedule.seed)
        provider = SimulatedProvider(
            rotation: schedule.rotates ? .rotating(grace: schedule.grace, reuse: .revokes) : .fixed)
        hosts = (0..<schedule.hosts).map { number in
            SimulatedHost(
                number, clockError: number < schedule.clockErrors.count ? schedule.clockErrors[number] : .zero)
        }
        super.init(endlessRule: .clusterLiveness, traced: traced)
    }

    func run(_ steps: [SimulationStep<ClusterOperation>]) {
        begin()
        go(until: .seconds(1))
        guard carryOut(steps, perform) else { return }
        heal()
        // What a stopped process has received waits for it.
        go(until: hosts.map(\.pausedUntil).max() ?? now)
        go(until: now + Self.convergence)
        awaitDelivery()
        checkConverged()
        recover()
        // A renewal that has just begun comes to its end, maybe after a wait for the result of another host.
        let end = now + LeaseMachine.longestWait
        while violation == nil, etcd.holder != nil, now < end { go(until: now + .milliseconds(500)) }
        if etcd.holder != nil { report(.clusterLiveness, "the hold of a host does not end") }
        checkRecovered()
    }

    /// Lets time pass until everything is well and the session has been renewed twice without a fault, or for as long as
    /// recovery may take.
    private func recover() {
        let end = now + Self.recovery
        guard !schedule.isWatchedLonger else { return go(until: end) }
        let enough = coverage.renewals + 2
        while violation == nil, now < end, coverage.renewals < enough || !isWell {
            go(until: min(now + .seconds(1), end))
        }
    }

    private var isWell: Bool {
        hosts.allSatisfy { $0.isActive && $0.waiting.isEmpty && !$0.hasUnwrittenTokens }
    }

    func awaitDelivery() {
        while violation == nil, now - etcd.changedAt < Self.delivery { go(until: etcd.changedAt + Self.delivery) }
    }

    /// One host has signed in, and the others find the session.
    private func begin() {
        let (_, tokens) = provider.signIn(0, life: schedule.life, at: now, wall: date)
        let record = SessionRecord(
            session: Self.name, provider: "simulated", environment: "production", method: "password", tokens: tokens,
            user: nil, rawUser: nil, signedInAt: date)
        var none: SimulatedEtcd.Hold?
        _ = etcd.update(Shared(wrappedValue: record), replacesOther: true, hold: &none, at: date)
        for host in hosts { start(host) }
    }

    func heal() {
        note("· everything is well again")
        provider.behaviour = .well
        etcdGoneUntil = min(etcdGoneUntil, now)
        for host in hosts {
            host.cutUntil = min(host.cutUntil, now)
            host.losesAnswersUntil = min(host.losesAnswersUntil, now)
            host.faults.heal(at: max(now, host.pausedUntil))
            if !host.isRunning { start(host) }
            reconnect(host)
        }
    }

    // MARK: Time

    func moment(_ host: SimulatedHost) -> Moment {
        Moment(boot: BootInstant(sinceBoot: now + .seconds(5000)), wall: date + host.clockError)
    }

    func time(of deadline: BootInstant) -> Duration { deadline.sinceBoot - .seconds(5000) }

    override func happen(before end: Duration) -> Bool {
        let alarm = nextAlarm()
        let next = min(queue.next ?? Self.never, alarm?.at ?? Self.never)
        guard comes(next, before: end) else { return false }
        if let alarm, alarm.at == next {
            let host = hosts[alarm.host]
            noteClock(host)
            if alarm.isLease {
                host.leaseWakeUp = nil
                handleLease(host, .wake)
            } else {
                host.wakeUp = nil
                handle(host, .wake)
            }
        } else if let event = queue.pop() {
            dispatch(event)
        }
        return true
    }

    private func nextAlarm() -> (host: Int, at: Duration, isLease: Bool)? {
        var first: (host: Int, at: Duration, isLease: Bool)?
        for host in hosts where host.isRunning {
            guard let (at, isLease) = host.nextAlarm, first.map({ at < $0.at }) ?? true else { continue }
            first = (host.number, at, isLease)
        }
        return first
    }

    private func dispatch(_ event: Event) {
        if let host = receiver(of: event) {
            guard now >= host.pausedUntil else { return queue.add(event, at: host.pausedUntil) }
            noteClock(host)
        }
        switch event {
        case .reachesEtcd(let call, let attempt): if attempt == call.attempt { carryOut(call) }
        case .answered(let call): etcdAnswered(call)
        case .changed(let host):
            etcdChanged(hosts[host])
            endHolderPause(of: hosts[host])
        case .released(let host):
            handleLease(hosts[host], .released(Self.name))
            endHolderPause(of: hosts[host])
        case .reconnects(let host): reconnected(hosts[host])
        case .leasesEnd: endLeases()
        case .reachesProvider(let number): reachProvider(number)
        case .providerAnswers(let number): providerAnswered(number)
        case .timesOut(let number): timeOut(number)
        case .revocationArrives(let tokens): provider.revoke(tokens, at: now)
        case .clockSet: break
        case .restarts(let host): if !hosts[host].isRunning { start(hosts[host]) }
        case .signOutDue(let host, let faults): checkSignOut(at: hosts[host], faults)
        case .tokensDue(let host, let faults, let written): checkDelivery(to: hosts[host], faults, written)
        }
    }

    /// The host whose process handles it.
    private func receiver(of event: Event) -> SimulatedHost? {
        switch event {
        case .answered(let call): hosts[call.host]
        case .changed(let host), .released(let host), .reconnects(let host), .clockSet(let host): hosts[host]
        case .providerAnswers(let number), .timesOut(let number): requests[number].map { hosts[$0.host] }
        case .reachesEtcd, .leasesEnd, .reachesProvider, .revocationArrives, .restarts, .signOutDue, .tokensDue: nil
        }
    }

    // MARK: Operations

    private func perform(_ operation: ClusterOperation) {
        switch operation {
        case .ask(let number, let ask): self.ask(hosts[number % hosts.count], ask)
        case .cut(let number, let time):
            let host = fail(number, for: time)
            host.cutUntil = max(host.cutUntil, now + time)
            host.faults.loseEtcd(from: now, until: now + time, isOfHost: true)
            reconnect(host)
        case .loseAnswers(let number, let time):
            let host = fail(number, for: time)
            host.losesAnswersUntil = max(host.losesAnswersUntil, now + time)
            host.faults.loseEtcd(from: now, until: now + time, isOfHost: true)
            reconnect(host)
        case .pause(let number, let time):
            let host = fail(number, for: time)
            host.pausedUntil = max(host.pausedUntil, now + time)
            host.faults.loseEtcd(from: now, until: now + time, isOfHost: true)
            expectSignOut(at: host)
        case .kill(let number, let down):
            let host = fail(number, for: down)
            stop(host)
            queue.add(.restarts(host: host.number), at: now + down)
        case .etcdGone(let time):
            etcdGoneUntil = max(etcdGoneUntil, now + time)
            // The next leader begins with whole leases.
            etcd.prolongLeases(to: etcdGoneUntil + SimulatedEtcd.leaseLife)
            for host in hosts {
                _ = fail(host.number, for: time)
                host.faults.loseEtcd(from: now, until: now + time, isOfHost: false)
                reconnect(host)
            }
        case .provider(let behaviour): provider.behaviour = behaviour
        case .setClock(let number, let jump):
            let host = hosts[number % hosts.count]
            host.clockError += jump
            host.wasClockSet = true
            // A paused process learns this only when it runs again.
            queue.add(.clockSet(host: host.number), at: now)
        }
    }

    /// Before anything else that the process does.
    private func noteClock(_ host: SimulatedHost) {
        guard host.wasClockSet else { return }
        host.wasClockSet = false
        handle(host, .clockSet)
    }

    private func fail(_ number: Int, for time: Duration) -> SimulatedHost {
        let host = hosts[number % hosts.count]
        host.faults.begin(until: now + time)
        return host
    }

    private func ask(_ host: SimulatedHost, _ ask: ClusterAsk) {
        guard host.isRunning, now >= host.pausedUntil, let record = host.record?.wrappedValue else { return }
        noteClock(host)
        let caller = host.nextCaller()
        switch ask {
        case .userChange:
            return handle(host, .userReceived(UserSummary(id: "\(nextNumber())"), raw: .null))
        case .token: handle(host, .tokenRequested(caller, minValid: nil), from: caller)
        case .renewal: handle(host, .renewalRequested(caller), from: caller)
        case .reject: handle(host, .rejected(caller, record.tokens.accessToken), from: caller)
        case .signOut:
            isSignedOut = true
            signOuts[host.number] = record.signIn
            handle(host, .signOutRequested(caller), from: caller)
        }
    }

    // MARK: Processes

    private func start(_ host: SimulatedHost) {
        host.process += 1
        host.isRunning = true
        host.wasClockSet = false
        send(.load, from: host)
    }

    private func stop(_ host: SimulatedHost) {
        guard host.isRunning else { return }
        note("† host \(host.number) is killed")
        interrupt(host)
        host.isRunning = false
        host.process += 1
        host.forgetSession()
        host.forgetIntents()
        host.leases = LeaseMachine()
        (host.wakeUp, host.leaseWakeUp, host.hold, host.isOvertaken) = (nil, nil, nil, false)
        (host.renewals, host.waiting, host.pausedWrite) = ([:], [:], nil)
    }

    // MARK: The session's machine

    func handle(_ host: SimulatedHost, _ event: SessionEvent, from caller: CallerID? = nil) {
        guard violation == nil, host.isRunning, host.isSignedIn else { return }
        if let caller { host.waiting[caller] = now }
        guard let turn = host.handle(event, at: moment(host)) else { return }
        note("  \(host.number): \(event.words)")
        for action in turn.actions {
            note("    \(host.number): → \(action.words)")
            carryOut(action, host)
        }
        let isForgotten = fault == .forgetsCallers && !host.isSignedIn
        for (caller, reply) in turn.replies where !isForgotten {
            note("    \(host.number): → answer caller \(caller.number): \(reply.words)")
            host.waiting[caller] = nil
        }
        host.wakeUp = host.isSignedIn ? turn.wakeUp.map { max(time(of: $0), now) } : nil
        checkEnd(host)
    }

    private func carryOut(_ action: SessionAction, _ host: SimulatedHost) {
        switch action {
        case .renew(let request, let record):
            let caller = host.nextCaller()
            host.renewals[caller] = SimulatedHost.Renewal(request: request, record: record, caller: caller)
            guard fault != .renewsWithoutHold else { return sendToProvider(host, caller) }
            handleLease(host, .wanted(caller, Self.name, for: record.version))
        // The remaining lifetime of a token is computed when the write begins.
        case .save(let record, let replacesOther):
            let dated = fault == .writesOwnDates ? Shared(wrappedValue: record) : host.universal(record)
            send(.save(dated, replacesOther: replacesOther), from: host)
        case .rewrite(let record): send(.save(host.universal(record), replacesOther: false), from: host)
        case .compare: send(.compare, from: host)
        case .reread(let request): send(.reread(request), from: host)
        case .delete:
            if let signIn = host.record?.wrappedValue.signIn { send(.delete(signIn), from: host) }
        case .revoke(let record): queue.add(.revocationArrives(record.tokens), at: now + latency())
        case .publish(let snapshot): host.published = snapshot
        case .forget:
            // As `SessionRequests` does it after a sign-out.
            for record in host.read({ $0.signedOutTokens }) ?? [] {
                queue.add(.revocationArrives(record.tokens), at: now + latency())
            }
            host.forgetSession()
            signOuts[host.number] = nil
        case .handOver, .requestTargeted: break
        }
    }

    /// The time that a message to or from the provider takes.
    func latency() -> Duration { random.duration(in: .milliseconds(1)...Duration.milliseconds(60)) }

    /// The same for etcd, which is in the network of the hosts.
    func etcdLatency() -> Duration { random.duration(in: .milliseconds(1)...Duration.milliseconds(15)) }
}
