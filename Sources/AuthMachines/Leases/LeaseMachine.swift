import AuthModel
import AuthWire

/// Decides when this host holds a session of a cluster, so that one host at a time sends its tokens to the provider
/// (Docs/decisions/cluster.md).
///
/// Invariants:
/// 1. A renewal begins only while this host holds the session, under a lease that has not ended by this host's own clock.
/// 2. If another host ended during a renewal, this one waits until that request must have ended too.
/// 3. One renewal of a session has the hold; others of this host wait in their order.
/// 4. All holds of this host hang on one lease, which is kept only while it has one.
package struct LeaseMachine: Machine {
    package typealias LeaseTurn = Turn<LeaseAction, LeaseReply>

    /// The rest of a lease with which a hold may begin.
    static let least = Duration.seconds(5)
    /// A lease counts as ended here this long before etcd ends it.
    static let margin = Duration.seconds(1)
    /// Between two requests to keep it.
    static let keepPause = Duration.seconds(3)
    static let retryPause = Duration.seconds(1)
    /// How long a request of another host may still be on its way: the limit of a request to a provider.
    package static let requestLimit = RenewalPolicy.longestResponse
    /// If no report comes that a session is free, this host looks again.
    static let lookPause = Duration.seconds(3)
    /// How long a renewal waits for another host.
    package static let longestWait = Duration.seconds(45)
    /// How long this host holds a session at most: a response, and a store that fails for a while.
    package static let longestHold = Duration.seconds(120)

    private struct Lease {
        let id: LeaseID
        var endsAt: BootInstant
        var keepAt: BootInstant
        var isKeeping = false
    }

    private struct Want {
        let caller: CallerID
        let generation: UInt64
        let until: BootInstant
    }

    private enum Stage {
        /// For a lease that lasts long enough.
        case waiting
        /// The store is asked for the hold.
        case requested
        /// Another host holds it.
        case taken(lookAt: BootInstant)
        /// This host holds it, and the request of another host may still reach the provider.
        case settling(until: BootInstant, SessionRecord?)
        /// The caller renews.
        case held(until: BootInstant)
    }

    private struct Use {
        let want: Want
        var stage = Stage.waiting
        /// Its caller has its reply, or no longer waits.
        var isReplied = false

        var isHeld: Bool {
            switch stage {
            case .settling, .held: true
            case .waiting, .requested, .taken: false
            }
        }

        /// Another host has the session while it is taken: a lease of this host changes nothing then.
        var needsLease: Bool {
            if case .taken = stage { false } else { true }
        }
    }

    private var lease: Lease?
    private var isGranting = false
    private var uses: [SessionName: Use] = [:]
    private var queues: [SessionName: [Want]] = [:]

    package init() {}

    package static let wake = LeaseEvent.wake
    package static func callerGone(_ caller: CallerID) -> LeaseEvent { .callerGone(caller) }

    package mutating func handle(_ event: LeaseEvent, in turn: inout LeaseTurn) {
        let now = turn.now.boot
        endLease(at: now)
        switch event {
        case .wanted(let caller, let session, let generation):
            let want = Want(caller: caller, generation: generation, until: now + Self.longestWait)
            if uses[session] == nil {
                uses[session] = Use(want: want)
            } else {
                queues[session, default: []].append(want)
            }
        case .ended(let session, let isAnswered): end(session, isAnswered: isAnswered, &turn)
        case .written(let session): if uses[session]?.isHeld ?? false { next(session) }
        case .freed(let session):
            if case .taken = uses[session]?.stage { wait(session) }
        case .callerGone(let caller): callerGone(caller, &turn)
        case .granted(.success(let granted), let sentAt):
            isGranting = false
            lease = Lease(
                id: granted.id, endsAt: sentAt + granted.lasts - Self.margin, keepAt: sentAt + Self.keepPause)
            endLease(at: now)
        case .granted(.failure(let error), _):
            isGranting = false
            failWaiting(error, &turn)
        case .kept(let id, let result, let sentAt): kept(id, result, sentAt, &turn)
        case .holdEnded(let session, let id, let result): holdEnded(session, id, result, &turn)
        case .wake: break
        }
        settle(&turn)
    }

    // MARK: The lease

    private mutating func endLease(at now: BootInstant) {
        guard let lease, lease.endsAt <= now else { return }
        self.lease = nil
        // What is being sent cannot be stopped: the store decides whether its result is written.
        for (session, use) in uses {
            switch use.stage {
            case .requested, .settling: use.isReplied ? next(session) : wait(session)
            case .waiting, .taken, .held: break
            }
        }
    }

    private mutating func kept(
        _ id: LeaseID, _ result: Result<Duration?, StoreError>, _ sentAt: BootInstant, _ turn: inout LeaseTurn
    ) {
        guard lease?.id == id else { return }
        lease?.isKeeping = false
        switch result {
        case .success(let lasts?):
            lease?.endsAt = sentAt + lasts - Self.margin
            lease?.keepAt = sentAt + Self.keepPause
        case .success(nil):
            lease?.endsAt = turn.now.boot
        case .failure(let error):
            lease?.keepAt = turn.now.boot + Self.retryPause
            if let lease, lease.endsAt - turn.now.boot < Self.least { failWaiting(error, &turn) }
        }
        endLease(at: turn.now.boot)
    }

    /// Without a lease nothing can be held: callers are told so, and try again later.
    private mutating func failWaiting(_ error: StoreError, _ turn: inout LeaseTurn) {
        for (session, use) in uses.sorted(by: { $0.key < $1.key }) {
            guard case .waiting = use.stage else { continue }
            fail(session, error, &turn)
        }
    }

    private mutating func wait(_ session: SessionName) { uses[session]?.stage = .waiting }

    // MARK: Holds

    private mutating func holdEnded(
        _ session: SessionName, _ id: LeaseID, _ result: Result<HoldOutcome, StoreError>, _ turn: inout LeaseTurn
    ) {
        let isWanted = if case .requested = uses[session]?.stage { lease?.id == id } else { false }
        guard isWanted else {
            // Nobody waits for it any more, or the lease has ended meanwhile.
            if case .success(.held) = result, uses[session]?.isHeld != true {
                turn.act(.release(session, id, isAnswered: true))
            }
            return
        }
        switch result {
        case .success(.held(let record, let former)):
            if former == .abandoned {
                uses[session]?.stage = .settling(until: turn.now.boot + Self.requestLimit, record)
            } else {
                begin(session, record, isInterrupted: former != .answered, &turn)
            }
        case .success(.taken): uses[session]?.stage = .taken(lookAt: turn.now.boot + Self.lookPause)
        case .failure(.cluster(.leaseLost)):
            lease = nil
            wait(session)
        case .failure(let error): fail(session, error, &turn)
        }
    }

    private mutating func begin(
        _ session: SessionName, _ record: SessionRecord?, isInterrupted: Bool, _ turn: inout LeaseTurn
    ) {
        guard let use = uses[session] else { return }
        uses[session]?.stage = .held(until: turn.now.boot + Self.longestHold)
        uses[session]?.isReplied = true
        turn.reply(.held(record, isInterrupted: isInterrupted), to: use.want.caller)
    }

    private mutating func fail(_ session: SessionName, _ error: StoreError, _ turn: inout LeaseTurn) {
        guard let use = uses[session] else { return }
        if !use.isReplied { turn.reply(.failure(error), to: use.want.caller) }
        next(session)
    }

    /// The renewal of the caller has ended, or it no longer renews.
    private mutating func end(_ session: SessionName, isAnswered: Bool, _ turn: inout LeaseTurn) {
        guard let use = uses[session], use.isHeld else { return }
        if let lease { turn.act(.release(session, lease.id, isAnswered: isAnswered)) }
        next(session)
    }

    private mutating func next(_ session: SessionName) {
        guard var queue = queues[session], !queue.isEmpty else { return uses[session] = nil }
        uses[session] = Use(want: queue.removeFirst())
        queues[session] = queue.isEmpty ? nil : queue
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout LeaseTurn) {
        for session in queues.keys {
            queues[session]?.removeAll { $0.caller == caller }
            if queues[session]?.isEmpty ?? false { queues[session] = nil }
        }
        for (session, use) in uses where use.want.caller == caller && !use.isReplied {
            // Until the other host's request has ended: the next host would not know of it.
            if case .settling = use.stage { uses[session]?.isReplied = true } else { next(session) }
        }
    }

    // MARK: What is due

    private mutating func settle(_ turn: inout LeaseTurn) {
        let now = turn.now.boot
        for session in uses.keys.sorted() { advance(session, now, &turn) }
        if var lease, !lease.isKeeping, lease.keepAt <= now, uses.values.contains(where: { $0.needsLease }) {
            lease.isKeeping = true
            self.lease = lease
            turn.act(.keep(lease.id))
        }
        turn.wakeUp = nextWake()
    }

    private mutating func advance(_ session: SessionName, _ now: BootInstant, _ turn: inout LeaseTurn) {
        guard let use = uses[session] else { return }
        switch use.stage {
        case .waiting, .taken:
            if use.want.until <= now { return fail(session, .cluster(.heldElsewhere), &turn) }
            if case .taken(let lookAt) = use.stage, now < lookAt { return }
            wait(session)
            request(session, use.want, now, &turn)
        case .settling(let until, let record):
            guard until <= now else { return }
            if use.isReplied {
                end(session, isAnswered: false, &turn)
            } else {
                begin(session, record, isInterrupted: true, &turn)
            }
        case .held(let until):
            if until <= now { end(session, isAnswered: false, &turn) }
        case .requested: break
        }
    }

    private mutating func request(
        _ session: SessionName, _ want: Want, _ now: BootInstant, _ turn: inout LeaseTurn
    ) {
        if let lease {
            guard lease.endsAt - now >= Self.least else {
                // It is kept first.
                if !lease.isKeeping { self.lease?.keepAt = now }
                return
            }
            uses[session]?.stage = .requested
            turn.act(.hold(session, generation: want.generation, lease.id))
        } else if !isGranting {
            isGranting = true
            turn.act(.grant)
        }
    }

    private func nextWake() -> BootInstant? {
        var deadlines: [BootInstant] = []
        for use in uses.values {
            switch use.stage {
            case .waiting: deadlines.append(use.want.until)
            case .taken(let lookAt): deadlines.append(min(lookAt, use.want.until))
            case .settling(let until, _), .held(let until): deadlines.append(until)
            case .requested: break
            }
        }
        if let lease, uses.values.contains(where: { $0.needsLease }) {
            deadlines.append(lease.isKeeping ? lease.endsAt : min(lease.keepAt, lease.endsAt))
        }
        return deadlines.min()
    }
}
