import AuthMachines
import AuthModel
import AuthWire

/// A host with its agent: the machines, and what its store knows.
final class SimulatedHost {
    /// A renewal that waits for its hold, or has one.
    struct Renewal {
        let request: RenewalRequestID
        let record: SessionRecord
        let caller: CallerID
    }

    let number: Int
    var clockError: Duration
    /// It was set, and the process does not know that yet.
    var wasClockSet = false
    private var machine: SessionMachine?
    /// The machine's record and the end of its token; `nil`: the host has no session.
    private(set) var record: Shared<SessionRecord>?
    private(set) var end: BootInstant?
    /// The last end that was found to be right, and its token.
    var rightEnd: (end: BootInstant, token: Secret)?
    var leases = LeaseMachine()
    /// Grows with each start: what an earlier process has begun ends with it.
    var process = 0
    var isRunning = false
    /// When the process runs again.
    var pausedUntil = Duration.zero
    var cutUntil = Duration.zero
    var losesAnswersUntil = Duration.zero
    /// The store has reported that etcd does not answer, and not yet that it is back.
    var isDisconnected = false
    var wakeUp: Duration?
    var leaseWakeUp: Duration?
    var renewals: [CallerID: Renewal] = [:]
    var lastCaller: UInt64 = 0
    /// Callers of the session, and since when they wait.
    var waiting: [CallerID: Duration] = [:]
    /// As `EtcdStore` remembers it.
    var hold: SimulatedEtcd.Hold?
    /// A write has shown that another host has renewed the session since the last hold, even if the response to that
    /// write was lost: `EtcdStore` learns it from a read, before the write.
    var isOvertaken = false
    var intents: OwnIntents
    /// Whether the tokens of the renewal that has the hold were sent before, with an unknown result.
    var isInterrupted = false
    /// A write that pauses because another host holds the session.
    var pausedWrite: EtcdCall?
    /// The state of etcd that it has seen.
    var seen = 0
    var published: SessionSnapshot?
    var faults = HostFaults()

    init(_ number: Int, clockError: Duration) {
        self.number = number
        self.clockError = clockError
        intents = Self.intents(number, 0)
    }

    /// What a new process knows.
    func forgetIntents() { intents = Self.intents(number, process) }

    private static func intents(_ number: Int, _ process: Int) -> OwnIntents {
        OwnIntents(prefix: "\(number).\(process)")
    }

    // MARK: The session

    var isSignedIn: Bool { record != nil }
    var hasUnwrittenTokens: Bool { read { $0.hasUnwrittenTokens } ?? false }

    func begin(_ machine: SessionMachine) {
        self.machine = machine
        readSession()
    }

    func forgetSession() {
        (machine, record, end, rightEnd, published) = (nil, nil, nil, nil, nil)
    }

    func handle(_ event: SessionEvent, at now: Moment) -> Turn<SessionAction, SessionReply>? {
        guard let turn = machine?.handle(event, at: now) else { return nil }
        readSession()
        return turn
    }

    func read<Value>(_ value: (SessionMachine) -> Value) -> Value? { machine?.read(value) }

    private func readSession() {
        guard let session = read({ (record: $0.$record, end: $0.end) }) else { return }
        (record, end) = (session.record, session.end)
    }

    var isActive: Bool { published?.status.state == .active }

    /// If both alarms are due at the same time, the session's is first.
    var nextAlarm: (at: Duration, isLease: Bool)? {
        let (session, lease) = (wakeUp.map { max($0, pausedUntil) }, leaseWakeUp.map { max($0, pausedUntil) })
        if let lease, session.map({ lease < $0 }) ?? true { return (lease, true) }
        return session.map { ($0, false) }
    }

    func nextCaller() -> CallerID {
        lastCaller += 1
        return CallerID(lastCaller)
    }

    /// The record with dates of this host.
    func localized(_ record: Shared<SessionRecord>) -> SessionRecord { record.wrappedValue.moved(by: clockError) }

    /// The record with dates of a clock that is right.
    func universal(_ record: SessionRecord) -> Shared<SessionRecord> {
        Shared(wrappedValue: record.moved(by: .zero - clockError))
    }
}

extension SessionMachine {
    /// Mutating, so that the machine is read in place: otherwise, a property of an object is copied first.
    fileprivate mutating func read<Value>(_ value: (SessionMachine) -> Value) -> Value { value(self) }
}

extension SessionRecord {
    fileprivate func moved(by shift: Duration) -> SessionRecord {
        guard shift != .zero else { return self }
        var moved = self
        moved.tokens.issuedAt = tokens.issuedAt + shift
        moved.tokens.expiresAt = tokens.expiresAt.map { $0 + shift }
        return moved
    }
}
