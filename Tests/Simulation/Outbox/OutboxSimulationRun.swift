import AuthMachines
import AuthModel
import AuthWire

/// Plays one schedule of the outbox: a disk, a provider, a network, accounts, and the checker.
///
/// The agent here is what ``Outbox`` is outside: it carries out what the real ``OutboxMachine`` decides, one action
/// after the other, and may die between any two.
final class OutboxSimulationRun: SimulationBase {
    enum Event {
        case reachesProvider(Int)
        case answered(Int)
        case timesOut(Int)
        case diskCarriesOut(Int)
        case diskAnswers(Int)
        /// The agent looks at the state of its sessions.
        case looks
        /// A write that was not read from the disk is sent.
        indirect case launches(OutboxEntry, process: Int)
        /// A reply that an injected fault has delayed.
        case replies(OutboxReply, CallerID, process: Int)
        case restart
    }

    /// A write on the wire.
    struct Sending {
        let entry: OutboxEntry
        let process: Int
        var result: Result<APIResponse, AgentError>?
    }

    struct DiskCall {
        let call: SimulatedDisk.Call
        let process: Int
        let fails: Bool
        var isCarriedOut = false
    }

    enum Account: Equatable {
        case signedOut, owner, other
    }

    let fault: OutboxInjectedFault?
    var random: SeededRandom
    var queue = SimulationEventQueue<Event>()

    // The world
    var behaviour = WriteBehaviour.well
    var network = NetworkState.online
    var networkSince = Duration.zero
    var accounts: [Account]
    var disk = SimulatedDisk()
    var clockError = Duration.zero
    var lastFault = Duration.zero
    /// Until then the provider asked clients to wait.
    var holdsOffUntil = Duration.zero

    // The agent
    var machine: OutboxMachine
    var process = 0
    var isRunning = true
    var alarm: Duration?
    var wakeUp: BootInstant?
    var fuse: (actions: Int, down: Duration)?
    var sendings: [Int: Sending] = [:]
    var diskCalls: [Int: DiskCall] = [:]
    /// The disk carries out one call after the other.
    var diskIsFreeAt = Duration.zero
    /// Callers that wait for the outcome of a write, since when, in the order in which they came.
    var callers: [(caller: CallerID, id: String, since: Duration)] = []
    /// The user's requests that have no reply yet, and which write they drop, if any.
    var userRequests: [CallerID: String?] = [:]
    /// The user's requests to send all entries, and which of these have not been tried since.
    var flushes: [CallerID: Set<String>] = [:]
    /// The refused writes that users want to try again.
    var revivals: [CallerID: String] = [:]

    // What is watched
    var writes: [String: WatchedWrite] = [:]
    var sessions: [WatchedSession]
    var coverage = OutboxCoverage()

    init(_ schedule: OutboxSchedule, fault: OutboxInjectedFault? = nil, traced: Bool = false) {
        self.fault = fault
        random = SeededRandom(seed: schedule.seed)
        machine = OutboxMachine(seed: schedule.seed)
        accounts = Array(repeating: .owner, count: schedule.sessions)
        sessions = Array(repeating: WatchedSession(), count: schedule.sessions)
        super.init(endlessRule: .writeThrift, traced: traced)
    }

    /// Plays all of it; stops at the first rule broken.
    func run(_ steps: [SimulationStep<OutboxOperation>]) {
        look()
        guard carryOut(steps, perform) else { return }
        heal()
        while violation == nil, now < allWellAt { go(until: allWellAt) }
        checkRecovered()
    }

    private var allWellAt: Duration { max(lastFault, holdsOffUntil) + InvariantChecker.recovery }

    // MARK: Time

    var moment: Moment {
        Moment(boot: BootInstant(sinceBoot: speed == 1 ? now : now * speed), wall: date + clockError)
    }

    func time(of deadline: BootInstant) -> Duration {
        // Whole nanoseconds, so that the deadline has passed by then.
        speed == 1 ? deadline.sinceBoot : (deadline.sinceBoot / speed).inWholeNanoseconds
    }

    /// How fast the machine's clock runs.
    private var speed: Int { fault == .shortensPauses ? 1000 : 1 }

    override func happen(before end: Duration) -> Bool {
        let next = min(queue.next ?? Self.never, alarm ?? Self.never)
        guard comes(next, before: end) else { return false }
        if alarm == next {
            alarm = nil
            handle(.wake)
        } else if let event = queue.pop() {
            dispatch(event)
        }
        checkCallers()
        return true
    }

    private func dispatch(_ event: Event) {
        switch event {
        case .reachesProvider(let number): reachProvider(number)
        case .answered(let number): providerReplied(number)
        case .timesOut(let number): finish(number, .failure(.noAnswer))
        case .diskCarriesOut(let number): carryOut(number)
        case .diskAnswers(let number): diskReplied(number)
        case .looks: look()
        case .launches(let entry, let process): if process == self.process { launch(entry, nil) }
        case .replies(let reply, let caller, let process):
            if process == self.process { deliver(reply, to: caller) }
        case .restart: restart()
        }
    }
}

extension AgentError {
    static let noAnswer = AgentError(.timeout, "no answer")
}
