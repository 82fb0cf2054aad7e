import AuthMachines
import AuthModel
import AuthWire

/// Plays one schedule: the world, the agent in it, and the checker.
///
/// The agent here is what ``Session`` and ``SessionRegistry`` are outside: it carries out what the real
/// ``SessionMachine`` decides, one action after the other, and may die between any two.
final class SimulationRun: SimulationBase {
    let setting: Setting
    let fault: SessionInjectedFault?
    /// The result of a request may be of no use to callers that have waited for it: another agent or program was first, or the
    /// request was for a scope or an audience.
    let mayNeedTwoRequests: Bool
    /// No other agent or program writes to the store.
    let isOnlyWriter: Bool
    var random: SeededRandom
    var queue = SimulationEventQueue<SimulationEvent>()

    // The world
    let provider: SimulatedProvider
    let store = SimulatedStore()
    var network = NetworkState.online
    /// How wrong the wall clock is.
    var clockError = Duration.zero
    /// When the machine was started, as the boot clock counts.
    var bootedAt = Duration.seconds(-5000)
    var lastFault = Duration.zero

    // The agent
    var seats: [SimulatedSession?]
    /// By agent; grows with every start: results of an earlier process are dropped.
    var processes: [Int]
    var running: [Bool]
    var reportedNetwork = NetworkState.online
    var networkReportedAt = Duration.zero - InvariantChecker.staleLimit
    var notices = NoticeMachine()
    /// On the user's desktop.
    var shownNotices: [Notice.Subject: Notice] = [:]
    var noticeAlarm: Duration?
    var renewable = true
    /// Actions left before an agent dies.
    var fuse: (agent: Int, actions: Int, down: Duration, reboot: Bool)?
    var crashes = 0
    var requests: [Int: Request] = [:]
    /// Whose turn it is at the provider, of all sessions.
    var line = RenewalQueue()
    var lineWakesAt: BootInstant?
    /// Until then the provider asked this process to wait.
    var heldUntil = Duration.zero
    /// What outlives the process beside the store.
    var pauses: [Int: RenewalPause] = [:]
    /// What the next process is handed.
    var handovers: [Int: HandedOverSession] = [:]
    var storeCalls: [Int: StoreCall] = [:]
    var signIns: [Int: SignInRequest] = [:]
    var revocations: [Int: Revocation] = [:]
    var lateReplies: [Int: LateReply] = [:]
    /// Sign-outs that the store has not carried out, as they are on disk.
    var signOuts: [Int: SignInID] = [:]
    /// By account.
    var signedOut: [Int: SignedOut] = [:]
    /// When the last trouble ended that keeps a renewal from its end.
    var troubledUntil = Duration.zero
    var clockSetAt: Duration?
    var wasClockSet: Bool { clockSetAt != nil }

    // What is watched
    var coverage = Coverage()
    var calls: [CallLog]
    /// When the provider was called, by any session, within the last second.
    var lately: [Duration] = []
    /// By session, if it is traced.
    var history: [History]?

    init(_ schedule: Schedule, fault: SessionInjectedFault? = nil, traced: Bool = false) {
        setting = schedule.setting
        self.fault = fault
        mayNeedTwoRequests = schedule.setting.agents > 1 || schedule.steps.contains { $0.operation.doublesWaits }
        isOnlyWriter =
            schedule.setting.agents == 1
            && !schedule.steps.contains { if case .otherWriter = $0.operation { true } else { false } }
        random = SeededRandom(seed: schedule.seed)
        provider = SimulatedProvider(rotation: setting.rotation)
        provider.renewsBeforeEnd = setting.renewsBeforeEnd
        provider.revokesFamily = setting.revokesFamily
        processes = Array(repeating: 0, count: setting.agents)
        running = Array(repeating: true, count: setting.agents)
        seats = Array(repeating: nil, count: setting.seats)
        calls = Array(repeating: CallLog(), count: setting.seats)
        if traced { history = Array(repeating: History(), count: setting.seats) }
        super.init(endlessRule: .thrift, traced: traced)
    }

    /// Plays all of it; stops at the first rule broken.
    func run(_ steps: [SimulationStep<SimulatedOperation>]) {
        for session in 0..<setting.sessions { signIn(session) }
        go(until: .seconds(1))
        // The other agents find them in the store.
        load()
        guard carryOut(steps, perform) else { return }
        heal()
        // An answer that is still on its way may need more time.
        while violation == nil, now < max(lastFault, provider.holdsOffUntil) + InvariantChecker.recovery {
            go(until: max(lastFault, provider.holdsOffUntil) + InvariantChecker.recovery)
        }
        checkRecovered()
        let end = now + setting.quiet
        while violation == nil, now < end {
            go(until: min(end, now + setting.quiet / 8))
            checkRecovered()
        }
    }

    // MARK: Agents

    /// What it has in the store: the agents' sessions of one name are one record.
    func key(_ session: Int) -> Int { session % setting.sessions }
    func agent(of session: Int) -> Int { session / setting.sessions }
    func isRunning(_ session: Int) -> Bool { running[agent(of: session)] }
    func process(of session: Int) -> Int { processes[agent(of: session)] }
    /// The seats of all agents that share a record of the store.
    func seats(of key: Int) -> StrideTo<Int> { stride(from: key, to: setting.seats, by: setting.sessions) }
    /// Those whose notices the user of the first agent sees.
    var firstAgents: ArraySlice<SimulatedSession?> { seats[..<setting.sessions] }

    // MARK: Time

    var moment: Moment {
        Moment(boot: BootInstant(sinceBoot: now - bootedAt), wall: date + clockError)
    }

    func time(of deadline: BootInstant) -> Duration { deadline.sinceBoot + bootedAt }

    override func happen(before end: Duration) -> Bool {
        let alarm = nextAlarm()
        let next = min(queue.next ?? Self.never, alarm?.at ?? Self.never, noticeAlarm ?? Self.never)
        guard comes(next, before: end) else { return false }
        if let alarm, alarm.at == next {
            seats[alarm.session]?.alarm = nil
            history?[alarm.session].wakes.append(now)
            handle(alarm.session, .wake)
        } else if noticeAlarm == next {
            noticeAlarm = nil
            updateNotices(.wake)
        } else if let event = queue.pop() {
            dispatch(event)
        }
        return true
    }

    private func nextAlarm() -> (session: Int, at: Duration)? {
        var first: (session: Int, at: Duration)?
        for session in seats.indices {
            guard let at = seats[session]?.alarm, fault != .ignoresDeadlines else { continue }
            if first.map({ at < $0.at }) ?? true { first = (session, at) }
        }
        return first
    }

    private func dispatch(_ event: SimulationEvent) {
        switch event {
        case .turn: beginRenewals()
        case .reachesProvider(let number): reachProvider(number)
        case .answered(let number): providerReplied(number)
        case .timesOut(let number): timeOut(number)
        case .storeCompares(let number):
            if let call = storeCalls[number] { call.compare(in: store, at: key(call.session)) }
        case .storeCarriesOut(let number):
            guard let call = storeCalls[number] else { return }
            call.carryOut(in: store, at: key(call.session))
            if setting.agents > 1, call.call.isChange { reportStoreChange(key(call.session)) }
        case .storeAnswers(let number): storeReplied(number)
        case .networkReported: reportNetwork()
        case .restart(let agent): restart(agent)
        case .signInReaches(let number): signInReaches(number)
        case .signInAnswered(let number): signInAnswered(number)
        case .revocationArrives(let number): revocationArrives(number)
        case .repliesLate(let number): replyLate(number)
        }
    }
}
