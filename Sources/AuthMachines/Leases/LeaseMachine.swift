package import AuthModel
package import AuthWire

/// Decides when this host holds a session of a cluster, so that one host at a time sends its tokens to the provider
/// (Docs/decisions/cluster.md).
///
/// Invariants:
/// 1. Each request of a renewal begins only while this host holds the session, under a lease that has not ended by this
///    host's own clock.
/// 2. If another host ended during a renewal, this one waits until its result is known, or that host has had time to write
///    whatever it has received.
/// 3. One renewal of a session has the hold; others of this host wait in their order, until the release of the former
///    has ended.
/// 4. All holds of this host are attached to one lease, which is kept alive only while a session is wanted or held.
/// 5. Each renewal that wants its session gets one reply.
package struct LeaseMachine: Machine {
    package typealias LeaseTurn = Turn<LeaseAction, LeaseReply>

    private var lease: Lease?
    private var isGranting = false
    private var claims: [SessionName: Claim] = [:]
    private var queues: [SessionName: [Waiter]] = [:]

    package init() {}

    package static let wake = LeaseEvent.wake
    package static func callerGone(_ caller: CallerID) -> LeaseEvent { .callerGone(caller) }

    package mutating func handle(_ event: LeaseEvent, in turn: inout LeaseTurn) {
        let now = turn.now.boot
        endLease(at: now)
        switch event {
        case .wanted(let caller, let session, let version):
            let waiter = Waiter(caller: caller, version: version, until: now + Self.longestWait)
            if claims[session] == nil {
                claims[session] = Claim(waiter: waiter)
            } else {
                queues[session, default: []].append(waiter)
            }
        case .ended(let caller, let session, let end):
            if case .held = claims[session]?.stage, claims[session]?.waiter.caller == caller {
                release(session, leaving: end, &turn)
            }
        case .renewed(let caller, let session):
            if case .held(let until) = claims[session]?.stage, claims[session]?.waiter.caller == caller {
                claims[session]?.stage = .writing(until: until)
            }
        case .nothingToWrite(let caller, let session):
            if writer(of: session) == caller { release(session, leaving: .answered, &turn) }
        case .written(let session):
            switch claims[session]?.stage {
            case .held, .writing: next(session)
            default: break
            }
        case .released(let session):
            if case .elsewhere = claims[session]?.stage { claims[session]?.stage = .waiting }
        case .callerGone(let caller): callerGone(caller, &turn)
        case .granted(let result, let sentAt): granted(result, sentAt, &turn)
        case .keptAlive(let id, let result, let sentAt): keptAlive(id, result, sentAt, &turn)
        case .holdEnded(let session, let id, let result): holdEnded(session, id, result, &turn)
        case .claimed(let session, let id, let result): claimed(session, id, result, &turn)
        case .releaseEnded(let session): releaseEnded(session)
        case .wake: break
        }
        settle(&turn)
    }

    /// Whether a request of that caller's renewal may begin: if this host ended now, the next one would wait for its end.
    package func mayBegin(_ session: SessionName, for caller: CallerID, at now: BootInstant) -> Bool {
        guard let claim = claims[session], case .held = claim.stage, claim.waiter.caller == caller, let lease else {
            return false
        }
        return lease.id == claim.lease && now < lease.endsAt
    }

    /// The caller whose renewed tokens are to be written under the hold; `nil`: there is none.
    package func writer(of session: SessionName) -> CallerID? {
        if let claim = claims[session], case .writing = claim.stage { claim.waiter.caller } else { nil }
    }

    // MARK: The lease

    private mutating func endLease(at now: BootInstant) {
        guard let lease, lease.endsAt <= now else { return }
        self.lease = nil
        // What is being sent cannot be stopped: the store decides whether its result is written.
        for (session, claim) in claims {
            switch claim.stage {
            case .requested, .settling, .claiming:
                claims[session]?.settlesUntil = nil
                if claim.isReplied { next(session) } else { claims[session]?.stage = .waiting }
            case .waiting, .elsewhere, .held, .writing, .releasing: break
            }
        }
    }

    private mutating func granted(
        _ result: Result<GrantedLease, StoreError>, _ sentAt: BootInstant, _ turn: inout LeaseTurn
    ) {
        isGranting = false
        switch result {
        case .success(let granted) where granted.lasts >= Self.shortestLease + Self.margin:
            lease = Lease(
                id: granted.id, endsAt: sentAt + granted.lasts - Self.margin,
                keepAliveAt: sentAt + Self.keepAliveInterval)
            endLease(at: turn.now.boot)
        case .success: failWaiting(.cluster(.invalid(reason: "a lease that is too short")), &turn)
        case .failure(let error): failWaiting(error, &turn)
        }
    }

    private mutating func keptAlive(
        _ id: LeaseID, _ result: Result<Duration?, StoreError>, _ sentAt: BootInstant, _ turn: inout LeaseTurn
    ) {
        guard lease?.id == id else { return }
        lease?.isKeeping = false
        switch result {
        case .success(let lasts?):
            lease?.endsAt = sentAt + lasts - Self.margin
            lease?.keepAliveAt = sentAt + Self.keepAliveInterval
        case .success(nil): lease?.endsAt = turn.now.boot
        case .failure(let error):
            lease?.keepAliveAt = turn.now.boot + Self.retryPause
            if let lease, lease.endsAt - turn.now.boot < Self.shortestLease { failWaiting(error, &turn) }
        }
        endLease(at: turn.now.boot)
    }

    /// Without a lease nothing can be held: waiting callers get the error, and try again later.
    private mutating func failWaiting(_ error: StoreError, _ turn: inout LeaseTurn) {
        for session in claims.keys.sorted() {
            guard case .waiting = claims[session]?.stage else { continue }
            fail(session, error, &turn)
        }
    }

    // MARK: Holds

    private mutating func holdEnded(
        _ session: SessionName, _ id: LeaseID, _ result: Result<HoldOutcome, StoreError>, _ turn: inout LeaseTurn
    ) {
        guard case .requested = claims[session]?.stage, lease?.id == id else {
            if case .success(.held(_, let former)) = result { giveBack(session, leaving: former, &turn) }
            return
        }
        switch result {
        // Nobody waits for it any more.
        case .success(.held(_, let former)) where claims[session]?.isReplied ?? false:
            release(session, leaving: former, &turn)
        case .success(.held(let record, after: .answered)): begin(session, record, isInterrupted: false, &turn)
        case .success(.held(_, after: .unanswered)): claim(session, &turn)
        case .success(.held(_, after: .abandoned)):
            awaitResult(
                session, until: claims[session]?.settlesUntil ?? turn.now.boot + Self.longestResult, turn.now.boot)
        case .success(.heldElsewhere):
            // It will be another request.
            claims[session]?.settlesUntil = nil
            claims[session]?.stage = .elsewhere(checkAt: turn.now.boot + Self.checkInterval)
        case .failure(let error):
            guard error != .cluster(.leaseLost), let until = claims[session]?.settlesUntil else {
                return failed(session, error, &turn)
            }
            // This host still holds it.
            if claims[session]?.isReplied ?? false {
                release(session, leaving: .abandoned, &turn)
            } else {
                awaitResult(session, until: until, turn.now.boot)
            }
        }
    }

    private mutating func awaitResult(_ session: SessionName, until: BootInstant, _ now: BootInstant) {
        claims[session]?.stage = .settling(until: until, checkAt: now + Self.checkInterval)
    }

    /// The host whose request may be on its way may have written its result since.
    private mutating func checkAgain(
        _ session: SessionName, until: BootInstant, _ now: BootInstant, _ turn: inout LeaseTurn
    ) {
        guard let claim = claims[session], let lease, lease.endsAt - now >= Self.shortestLease else {
            return awaitResult(session, until: until, now)
        }
        claims[session]?.settlesUntil = until
        claims[session]?.stage = .requested
        turn.act(.hold(session, for: claim.waiter.version, lease.id))
    }

    private mutating func claim(_ session: SessionName, _ turn: inout LeaseTurn) {
        guard let claim = claims[session], let lease else { return }
        claims[session]?.stage = .claiming
        turn.act(.claim(session, for: claim.waiter.version, lease.id))
    }

    private mutating func claimed(
        _ session: SessionName, _ id: LeaseID, _ result: Result<SessionRecord?, StoreError>, _ turn: inout LeaseTurn
    ) {
        guard case .claiming = claims[session]?.stage, lease?.id == id else {
            if case .success = result { giveBack(session, leaving: .unanswered, &turn) }
            return
        }
        switch result {
        case .success(let record) where claims[session]?.isReplied == false:
            begin(session, record, isInterrupted: true, &turn)
        case .success: release(session, leaving: .unanswered, &turn)
        // Others of this host may be good: etcd tells with the next hold whether the lease is.
        case .failure(.cluster(.leaseLost)) where claims[session]?.isReplied == false:
            claims[session]?.settlesUntil = nil
            claims[session]?.stage = .waiting
        case .failure(.cluster(.leaseLost)): next(session)
        case .failure(let error): failed(session, error, &turn)
        }
    }

    /// - Parameter error: of a call about the hold.
    private mutating func failed(_ session: SessionName, _ error: StoreError, _ turn: inout LeaseTurn) {
        guard error == .cluster(.leaseLost) else { return fail(session, error, &turn) }
        lease?.endsAt = turn.now.boot
        endLease(at: turn.now.boot)
    }

    private mutating func begin(
        _ session: SessionName, _ record: SessionRecord?, isInterrupted: Bool, _ turn: inout LeaseTurn
    ) {
        guard let claim = claims[session], let lease else { return }
        claims[session]?.stage = .held(until: turn.now.boot + Self.longestHold)
        claims[session]?.isReplied = true
        claims[session]?.lease = lease.id
        claims[session]?.unsent = isInterrupted ? .unanswered : .answered
        turn.reply(.held(record, isInterrupted: isInterrupted), to: claim.waiter.caller)
    }

    private mutating func fail(_ session: SessionName, _ error: StoreError, _ turn: inout LeaseTurn) {
        guard let claim = claims[session] else { return }
        if !claim.isReplied { turn.reply(.failure(error), to: claim.waiter.caller) }
        next(session)
    }

    private mutating func release(
        _ session: SessionName, leaving end: HoldOutcome.FormerHold, _ turn: inout LeaseTurn
    ) {
        claims[session]?.stage = .releasing
        turn.act(.release(session, leaving: end))
    }

    /// Releases a hold that was granted after its lease had ended, or when nobody waited for it any more: nothing was
    /// sent under it. If the next request has begun, the hold is that request's, and stays.
    private mutating func giveBack(
        _ session: SessionName, leaving end: HoldOutcome.FormerHold, _ turn: inout LeaseTurn
    ) {
        switch claims[session]?.stage {
        case nil: turn.act(.release(session, leaving: end))
        case .waiting:
            claims[session]?.asksAgain = true
            release(session, leaving: end, &turn)
        default: break
        }
    }

    private mutating func releaseEnded(_ session: SessionName) {
        guard let claim = claims[session], case .releasing = claim.stage else { return }
        guard claim.asksAgain else { return next(session) }
        claims[session]?.asksAgain = false
        claims[session]?.stage = .waiting
    }

    private mutating func next(_ session: SessionName) {
        guard var queue = queues[session], !queue.isEmpty else { return claims[session] = nil }
        claims[session] = Claim(waiter: queue.removeFirst())
        queues[session] = queue.isEmpty ? nil : queue
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout LeaseTurn) {
        for session in queues.keys {
            queues[session]?.removeAll { $0.caller == caller }
            if queues[session]?.isEmpty ?? false { queues[session] = nil }
        }
        for (session, claim) in claims where claim.waiter.caller == caller {
            switch claim.stage {
            // It has left before it got its reply.
            case .held: release(session, leaving: claim.unsent, &turn)
            case _ where claim.isReplied: break
            case .waiting, .elsewhere: next(session)
            case .settling: release(session, leaving: .abandoned, &turn)
            // The result shows what is to be released.
            case .requested, .claiming: claims[session]?.isReplied = true
            case .releasing: claims[session]?.asksAgain = false
            case .writing: break
            }
        }
    }

    // MARK: What is due

    private mutating func settle(_ turn: inout LeaseTurn) {
        let now = turn.now.boot
        for session in claims.keys.sorted() { advance(session, now, &turn) }
        for session in queues.keys.sorted() { endWaits(session, now, &turn) }
        if let lease, !lease.isKeeping, lease.keepAliveAt <= now, claims.values.contains(where: { $0.needsLease }) {
            self.lease?.isKeeping = true
            turn.act(.keepAlive(lease.id))
        }
        turn.wakeUp = nextWake()
    }

    private mutating func endWaits(_ session: SessionName, _ now: BootInstant, _ turn: inout LeaseTurn) {
        for waiter in queues[session] ?? [] where waiter.until <= now {
            turn.reply(.failure(.cluster(.heldElsewhere)), to: waiter.caller)
        }
        queues[session]?.removeAll { $0.until <= now }
        if queues[session]?.isEmpty ?? false { queues[session] = nil }
    }

    private mutating func advance(_ session: SessionName, _ now: BootInstant, _ turn: inout LeaseTurn) {
        guard let claim = claims[session] else { return }
        switch claim.stage {
        case .waiting, .elsewhere:
            if claim.waiter.until <= now { return fail(session, .cluster(.heldElsewhere), &turn) }
            if case .elsewhere(let checkAt) = claim.stage, now < checkAt { return }
            claims[session]?.stage = .waiting
            request(session, claim.waiter, now, &turn)
        case .settling(let until, let checkAt):
            if until <= now {
                self.claim(session, &turn)
            } else if checkAt <= now {
                checkAgain(session, until: until, now, &turn)
            }
        case .held(let until), .writing(let until):
            if until <= now { release(session, leaving: .abandoned, &turn) }
        case .requested, .claiming, .releasing: break
        }
    }

    private mutating func request(
        _ session: SessionName, _ waiter: Waiter, _ now: BootInstant, _ turn: inout LeaseTurn
    ) {
        if let lease {
            guard lease.endsAt - now >= Self.shortestLease else {
                // It is kept alive first.
                if !lease.isKeeping { self.lease?.keepAliveAt = now }
                return
            }
            claims[session]?.stage = .requested
            turn.act(.hold(session, for: waiter.version, lease.id))
        } else if !isGranting {
            isGranting = true
            turn.act(.grant)
        }
    }

    private func nextWake() -> BootInstant? {
        var deadlines = queues.values.flatMap { $0.map(\.until) }
        for claim in claims.values {
            switch claim.stage {
            case .waiting: deadlines.append(claim.waiter.until)
            case .elsewhere(let checkAt): deadlines.append(min(checkAt, claim.waiter.until))
            case .settling(let until, let checkAt): deadlines.append(min(checkAt, until))
            case .held(let until), .writing(let until): deadlines.append(until)
            case .requested, .claiming, .releasing: break
            }
        }
        if let lease, claims.values.contains(where: { $0.needsLease }) {
            deadlines.append(lease.isKeeping ? lease.endsAt : min(lease.keepAliveAt, lease.endsAt))
        }
        return deadlines.min()
    }
}
