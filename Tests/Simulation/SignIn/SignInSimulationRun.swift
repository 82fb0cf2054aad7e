import AuthMachines
import AuthModel
import AuthWire

/// Plays one schedule of sign-ins to one session: a provider with an authorization server, users, and the checker.
///
/// The agent here does what ``SignInService`` and its performer do: it carries out what the real ``SignInMachine`` decides,
/// and may be killed or stopped between any two events.
final class SignInSimulationRun: SimulationBase {
    enum Event {
        /// The provider carries out what a sign-in requested.
        case reachesProvider(Int)
        case answered(Int)
        case restart
    }

    /// A request, or a call of the store, in progress.
    struct SignInCall {
        let signIn: Int
        let process: Int
        let action: SignInAction
        let sentAt: Moment
        var result: SignInEvent?
    }

    static let session: SessionName = SimulationRun.names[0]
    /// A request ends after this time at the latest.
    static let requestTimeout = Duration.seconds(60)

    let fault: SignInInjectedFault?
    var random: SeededRandom
    var queue = SimulationEventQueue<Event>()

    // The world
    var behaviour = SignInBehaviour.well
    var isStoreWorking = true
    var grants: [String: WatchedGrant] = [:]

    // The agent
    var process = 0
    var isRunning = true
    /// The session's account.
    var account: Int?
    var signIns: [Int: SimulatedSignIn] = [:]
    var calls: [Int: SignInCall] = [:]
    /// The sign-in that others are compared with; 0: none yet.
    var newest = 0

    var coverage = SignInCoverage()

    init(_ schedule: SignInSchedule, fault: SignInInjectedFault?, traced: Bool) {
        self.fault = fault
        random = SeededRandom(seed: schedule.seed)
        super.init(endlessRule: .signInTimeout, traced: traced)
    }

    /// Plays all of it; stops at the first rule broken.
    func run(_ steps: [SimulationStep<SignInOperation>]) {
        guard carryOut(steps, perform) else { return }
        note("· no operation follows")
        behaviour = .well
        // A question stands for a quarter of an hour, and may follow a request.
        go(until: now + InvariantChecker.abandonedAfter + Self.requestTimeout * 4)
        checkEnd()
    }

    // MARK: Time

    var moment: Moment {
        Moment(boot: BootInstant(sinceBoot: speed == 1 ? now : now * speed), wall: date)
    }

    private func time(of deadline: BootInstant) -> Duration {
        // Whole nanoseconds, so that the deadline has passed by then.
        speed == 1 ? deadline.sinceBoot : (deadline.sinceBoot / speed).inWholeNanoseconds
    }

    /// How fast the machine's clock runs.
    private var speed: Int { fault == .pollsTooSoon ? 2 : 1 }

    private var nextAlarm: (at: Duration, signIn: Int)? {
        signIns.compactMap { number, signIn in signIn.wakeUp.map { (at: max(time(of: $0), .zero), signIn: number) } }
            .min { ($0.at, $0.signIn) < ($1.at, $1.signIn) }
    }

    override func happen(before end: Duration) -> Bool {
        let alarm = isRunning ? nextAlarm : nil
        guard comes(min(queue.next ?? Self.never, alarm?.at ?? Self.never), before: end) else { return false }
        if let alarm, alarm.at <= queue.next ?? Self.never {
            // It does not ring twice.
            signIns[alarm.signIn]?.wakeUp = nil
            send(.wake, to: alarm.signIn)
        } else if let event = queue.pop() {
            switch event {
            case .reachesProvider(let number): reachProvider(number)
            case .answered(let number): answered(number)
            case .restart: restart()
            }
        }
        checkCallers()
        return true
    }

    // MARK: The agent

    func ask(_ number: Int, _ event: (CallerID) -> SignInEvent) {
        guard isRunning, signIns[number] != nil else { return }
        let caller = CallerID(UInt64(nextNumber()))
        signIns[number]?.waiting[caller] = now
        send(event(caller), to: number)
    }

    func send(_ event: SignInEvent, to number: Int) {
        guard isRunning, violation == nil, let signIn = signIns[number] else { return }
        note("  \(number): \(event.words)")
        let turn = signIn.machine.handle(fault?.changed(event) ?? event, at: moment)
        for action in fault.map({ turn.actions.flatMap($0.changed) }) ?? turn.actions {
            note("    → \(action.words)")
            carryOut(action, of: number)
        }
        for (caller, reply) in fault?.changed(turn.replies) ?? turn.replies {
            deliver(reply, to: caller, of: number)
        }
        if fault != .ignoresDeadlines { signIns[number]?.wakeUp = turn.wakeUp }
    }

    private func carryOut(_ action: SignInAction, of number: Int) {
        checkAction(action, of: number)
        switch action {
        case .showPlaceholder: signIns[number]?.hasPlaceholder = true
        case .removePlaceholder: signIns[number]?.hasPlaceholder = false
        case .listen: break
        case .stopListening: signIns[number]?.isListening = false
        case .forgetRegistration: break
        case .end: signIns[number]?.isInProgress = false
        default: begin(action, of: number)
        }
    }

    private func begin(_ action: SignInAction, of number: Int) {
        let call = nextNumber()
        calls[call] = SignInCall(signIn: number, process: process, action: action, sentAt: moment)
        var time = random.duration(in: .milliseconds(10)...Duration.milliseconds(400))
        if case .slow(let more) = behaviour { time += more }
        queue.add(.reachesProvider(call), at: now + time / 2)
        queue.add(.answered(call), at: now + time)
    }

    private func answered(_ number: Int) {
        // A result for a process that has ended is dropped.
        guard let call = calls.removeValue(forKey: number), call.process == process, isRunning else { return }
        guard let result = call.result else { return }
        received(result, by: call.signIn)
        if case .responded(let part, let response, let sentAt, _) = result {
            return send(.responded(part, response, sentAt: sentAt, former: status), to: call.signIn)
        }
        if case .examined(let user, let origins, _) = result {
            return send(.examined(user: user, origins: origins, former: status), to: call.signIn)
        }
        send(result, to: call.signIn)
    }

    /// The session's status, as the state board has it.
    var status: SessionStatus? {
        guard let account else { return nil }
        var status = SessionStatus(
            session: Self.session, provider: "example", environment: "production", state: .active)
        status.user = UserSummary(id: "\(account)")
        return status
    }

    // MARK: Death and return

    /// - Parameter isStopped: its callers got `stopping` before.
    func end(down: Duration, isStopped: Bool) {
        guard isRunning else { return }
        note(isStopped ? "† the process stops" : "† the process dies")
        coverage.deaths += 1
        isRunning = false
        process += 1
        // What was given to it goes with it.
        for token in grants.keys { grants[token]?.lost() }
        signIns = [:]
        queue.add(.restart, at: now + down)
    }

    private func restart() {
        note("† it starts again")
        isRunning = true
    }
}
