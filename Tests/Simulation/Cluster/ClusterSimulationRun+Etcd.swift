import AuthMachines
import AuthModel
import AuthWire

/// A call of a host at etcd.
final class EtcdCall {
    enum Kind {
        case grant
        case keepAlive(LeaseID)
        case hold(LeaseID, RecordVersion)
        case claim(SimulatedEtcd.Hold, RecordVersion, LeaseID)
        case release(SimulatedEtcd.Hold, leaving: HoldOutcome.FormerHold)
        /// With dates of a clock that is right.
        case save(Shared<SessionRecord>, replacesOther: Bool)
        case compare
        case reread(RenewalRequestID)
        case delete(SignInID)
        /// At a start.
        case load
    }

    enum Answer {
        case granted(LeaseID)
        case kept(isGood: Bool)
        case held(SimulatedEtcd.HoldAnswer, Shared<SessionRecord>?)
        case claimed(SimulatedEtcd.Hold?, Shared<SessionRecord>?)
        case updated(SimulatedEtcd.Outcome)
        case record(Shared<SessionRecord>?, revision: Int)
        case removed(Shared<SessionRecord>?)
        case done
        case unreachable
    }

    let host: Int
    let process: Int
    let kind: Kind
    let sentAt: BootInstant
    /// What the process knew and held then.
    let known: OwnIntents
    let hold: SimulatedEtcd.Hold?
    var answer = Answer.unreachable
    /// How often it was sent again.
    var attempt = 0
    /// When another host's hold last refused it.
    var refusedAt = Duration.zero

    init(_ kind: Kind, from host: SimulatedHost, sentAt: BootInstant) {
        (self.host, process) = (host.number, host.process)
        (self.kind, self.sentAt) = (kind, sentAt)
        (known, hold) = (host.intents, host.hold)
    }
}

/// What hosts request of etcd, and what its watch reports to them.
extension ClusterSimulationRun {
    /// A call with all its attempts, as of `EtcdClient`.
    static let callLimit = Duration.seconds(5)
    /// After that a message that was lost is sent again, by TCP or with the next attempt.
    private static let resendPause = Duration.milliseconds(800)
    /// How long a write waits for another host that renews the session.
    private static let holderWait = Duration.seconds(4)
    /// Between two attempts then, if the watch reports nothing.
    private static let holderPause = Duration.milliseconds(200)
    private static let shortestHolderPause = Duration.milliseconds(30)

    func send(_ kind: EtcdCall.Kind, from host: SimulatedHost) {
        let call = EtcdCall(kind, from: host, sentAt: moment(host).boot)
        queue.add(.reachesEtcd(call, attempt: 0), at: now + etcdLatency())
    }

    func carryOut(_ call: EtcdCall) {
        let host = hosts[call.host]
        if host.pausedWrite === call { host.pausedWrite = nil }
        guard now >= max(host.cutUntil, etcdGoneUntil) else {
            sendAgain(call, after: Self.resendPause)
            return
        }
        if fault == .losesWrites, case .save(let record, _) = call.kind,
            etcd.record?.wrappedValue.tokens.areSame(as: record.wrappedValue.tokens) == false
        {
            sendAgain(call, after: Self.resendPause)
            return
        }
        let answer = answer(to: call, of: host)
        guard now >= host.losesAnswersUntil else {
            sendAgain(call, after: Self.resendPause)
            return
        }
        if case .updated(.heldElsewhere) = answer, now - time(of: call.sentAt) < Self.holderWait {
            call.refusedAt = now
            let isAgain = sendAgain(call, after: max(Self.holderPause, host.pausedUntil - now))
            if isAgain { host.pausedWrite = call }
            return
        }
        call.answer = answer
        queue.add(.answered(call), at: now + etcdLatency())
    }

    /// - Returns: `false`: the process was killed, or the call has failed.
    @discardableResult
    private func sendAgain(_ call: EtcdCall, after pause: Duration) -> Bool {
        guard call.process == hosts[call.host].process else { return false }
        let end = time(of: call.sentAt) + Self.callLimit
        guard now + pause < end else {
            queue.add(.answered(call), at: max(now, end))
            return false
        }
        call.attempt += 1
        queue.add(.reachesEtcd(call, attempt: call.attempt), at: now + pause)
        return true
    }

    /// The watch has reported a change or a release: a write that waits for the holder is tried again at once.
    func endHolderPause(of host: SimulatedHost) {
        guard let call = host.pausedWrite else { return }
        host.pausedWrite = nil
        sendAgain(call, after: max(.zero, call.refusedAt + Self.shortestHolderPause - now) + etcdLatency())
    }

    private func answer(to call: EtcdCall, of host: SimulatedHost) -> EtcdCall.Answer {
        let former = etcd.revision
        defer {
            if etcd.revision != former {
                etcd.changedAt = now
                report(from: host)
            }
        }
        switch call.kind {
        case .grant:
            let lease = etcd.grant(at: now)
            expectLeaseEnd()
            return .granted(lease)
        case .keepAlive(let lease):
            let isGood = etcd.keep(lease, at: now)
            expectLeaseEnd()
            return .kept(isGood: isGood)
        case .hold(let lease, let version):
            return .held(etcd.hold(lease, version, former: host.hold, known: call.known), etcd.record)
        case .claim(let hold, let version, _):
            let claimed = etcd.claim(hold, version, known: call.known)
            if claimed != nil { self.claimed(by: host) }
            return .claimed(claimed, etcd.record)
        case .release(let hold, let end):
            if etcd.release(hold, leaving: end) { reportRelease() }
            return .done
        case .save(let record, let replacesOther):
            let (former, holder) = (etcd.record, etcd.holder)
            // What a process does before its end does not depend on what the next one holds.
            let isRunning = call.process == host.process
            var hold = isRunning ? host.hold : call.hold
            let outcome =
                fault == .writesWithoutHold || fault == .writesOldTokens
                ? etcd.overwrite(record) : etcd.update(record, replacesOther: replacesOther, hold: &hold, at: date)
            if isRunning { host.hold = hold }
            if case .written = outcome { written(record, instead: former, by: host) }
            if holder != nil, etcd.holder == nil { reportRelease() }
            guard isRunning, case .refused(let stored, let isOvertaken) = outcome else { return .updated(outcome) }
            host.isOvertaken = host.isOvertaken || isOvertaken
            return .updated(.refused(stored, isOvertaken: host.isOvertaken))
        case .delete(let signIn):
            let removed = etcd.delete(signIn)
            if removed != nil { for host in hosts { expectSignOut(at: host) } }
            return .removed(removed)
        case .compare, .reread, .load: return .record(etcd.record, revision: etcd.revision)
        }
    }

    // MARK: Answers

    func etcdAnswered(_ call: EtcdCall) {
        let host = hosts[call.host]
        guard host.isRunning, host.process == call.process else { return }
        let unreachable = StoreError.cluster(.unreachable(reason: "simulated"))
        if case .unreachable = call.answer { disconnected(host) }
        switch (call.kind, call.answer) {
        case (.grant, .granted(let lease)):
            handleLease(
                host, .granted(.success(GrantedLease(lease, lasts: SimulatedEtcd.leaseLife)), sentAt: call.sentAt))
        case (.grant, _): handleLease(host, .granted(.failure(unreachable), sentAt: call.sentAt))
        case (.keepAlive(let lease), .kept(let isGood)):
            let result: Result<Duration?, StoreError> = .success(isGood ? SimulatedEtcd.leaseLife : nil)
            handleLease(host, .keptAlive(lease, result, sentAt: call.sentAt))
        case (.keepAlive(let lease), _):
            handleLease(host, .keptAlive(lease, .failure(unreachable), sentAt: call.sentAt))
        case (.hold(let lease, _), .held(let answer, let record)): held(host, lease, answer, record)
        case (.hold(let lease, _), _): handleLease(host, .holdEnded(Self.name, lease, .failure(unreachable)))
        case (.claim(_, _, let lease), .claimed(let claimed?, let record)):
            host.hold = claimed
            if let id = claimed.id { host.intents.begin(id) }
            handleLease(host, .claimed(Self.name, lease, .success(record.map(host.localized))))
        case (.claim(_, _, let lease), .claimed(nil, _)):
            host.hold?.isLost = true
            handleLease(host, .claimed(Self.name, lease, .failure(.cluster(.leaseLost))))
        case (.claim(_, _, let lease), _): handleLease(host, .claimed(Self.name, lease, .failure(unreachable)))
        case (.save(let record, _), .updated(let outcome)): saved(host, record.wrappedValue.version, outcome)
        case (.save(let record, _), _): handle(host, .saveFailed(record.wrappedValue.version, unreachable))
        case (.compare, .record(let record, let revision)):
            host.seen = max(host.seen, revision)
            report(host, .compared(.success(record.map(host.localized)), absence: .removed))
        case (.compare, _): handle(host, .compared(.failure(unreachable)))
        case (.reread(let request), .record(let record, _)):
            handle(host, .storeReread(request, .success(record.map(host.localized))))
        case (.reread(let request), _): handle(host, .storeReread(request, .failure(unreachable)))
        case (.delete, .removed(let removed)): report(host, .deleted(removed?.wrappedValue))
        case (.delete, _): handle(host, .deleteFailed(unreachable))
        case (.load, .record(let record, let revision)):
            if !host.isSignedIn { host.seen = revision }
            load(record.map(host.localized), at: host)
        // The loader tries again when etcd is back.
        case (.load, _): reconnect(host)
        case (.release, _): handleLease(host, .releaseEnded(Self.name))
        }
    }

    private func held(
        _ host: SimulatedHost, _ lease: LeaseID, _ answer: SimulatedEtcd.HoldAnswer, _ record: Shared<SessionRecord>?
    ) {
        switch answer {
        case .heldElsewhere: handleLease(host, .holdEnded(Self.name, lease, .success(.heldElsewhere)))
        case .leaseLost: handleLease(host, .holdEnded(Self.name, lease, .failure(.cluster(.leaseLost))))
        case .held(let hold, let former):
            // The response to an earlier request may be later.
            if host.hold.map({ $0.number < hold.number }) ?? true {
                (host.hold, host.isOvertaken) = (hold, false)
                if let id = hold.id { host.intents.begin(id) }
            }
            let after = fault == .forgetsIntents ? .answered : former
            handleLease(host, .holdEnded(Self.name, lease, .success(.held(record.map(host.localized), after: after))))
        }
    }

    private func saved(_ host: SimulatedHost, _ version: RecordVersion, _ outcome: SimulatedEtcd.Outcome) {
        switch outcome {
        case .written:
            if host.hold.map({ $0.isLost }) ?? true { handleLease(host, .written(Self.name)) }
            report(host, .saved(version))
        case .refused(let stored, isOvertaken: true):
            handleLease(host, .written(Self.name))
            handle(host, .saveOvertaken(version, host.localized(stored)))
        case .refused(let stored, isOvertaken: false):
            report(host, .saveRefused(version, host.localized(stored)))
        case .removed:
            report(host, .saveFailed(version, .cluster(.removed)))
            handle(host, .storeChanged)
        case .heldElsewhere: handle(host, .saveFailed(version, .cluster(.heldElsewhere)))
        }
    }

    /// As `SessionPerformer` does it: a hold that waits for a write ends if there is nothing to write any more.
    private func report(_ host: SimulatedHost, _ event: SessionEvent) {
        handle(host, event)
        guard let writer = host.leases.writer(of: Self.name), !host.hasUnwrittenTokens else { return }
        handleLease(host, .nothingToWrite(writer, Self.name))
    }

    // MARK: The watch

    private func report(from writer: SimulatedHost) {
        let delay = fault == .delaysReports ? Duration.milliseconds(200) : .zero
        for host in hosts where isConnected(host) {
            queue.add(.changed(host: host.number), at: now + delay + etcdLatency())
        }
    }

    func reportRelease() {
        for host in hosts where isConnected(host) { queue.add(.released(host: host.number), at: now + etcdLatency()) }
    }

    func isConnected(_ host: SimulatedHost) -> Bool {
        host.isRunning && now >= max(host.cutUntil, host.losesAnswersUntil, etcdGoneUntil)
    }

    func etcdChanged(_ host: SimulatedHost) {
        guard host.isRunning, isConnected(host), etcd.revision != host.seen else { return }
        if fault == .hidesSignOuts, etcd.record == nil { return }
        host.seen = etcd.revision
        if host.isSignedIn { handle(host, .storeChanged) } else { send(.load, from: host) }
    }

    private func disconnected(_ host: SimulatedHost) {
        guard !host.isDisconnected else { return }
        host.isDisconnected = true
        host.faults.begin(until: now)
        reconnect(host)
    }

    /// The watch begins again, and everything is read, when etcd can be reached.
    func reconnect(_ host: SimulatedHost) {
        let open = max(now, host.cutUntil, host.losesAnswersUntil, etcdGoneUntil)
        queue.add(.reconnects(host: host.number), at: open + random.duration(in: .zero...Duration.seconds(1)))
    }

    func reconnected(_ host: SimulatedHost) {
        guard host.isRunning else { return }
        guard isConnected(host) else { return reconnect(host) }
        host.isDisconnected = false
        expectSignOut(at: host)
        guard fault != .missesChanges else { return }
        etcdChanged(host)
        if host.isSignedIn { handle(host, .storeReady) } else { send(.load, from: host) }
    }

    private func load(_ record: SessionRecord?, at host: SimulatedHost) {
        guard !host.isSignedIn, let record else { return }
        // As the loader carries out a sign-out that an earlier run could not.
        guard signOuts[host.number] != record.signIn else { return send(.delete(record.signIn), from: host) }
        host.begin(SessionMachine(stored: record, means: .lasting, now: moment(host), seed: random.next()))
        handle(host, .shared(true))
        handle(host, .begun)
        // What has changed while it was read.
        etcdChanged(host)
    }

    // MARK: Leases

    private func expectLeaseEnd() {
        if let end = etcd.nextLeaseEnd { expectLeaseEnd(at: end) }
    }

    /// Each call to etcd expects it again, so it happens many times at once.
    private func expectLeaseEnd(at end: Duration) {
        queue.add(.leasesEnd, at: end) { if case .leasesEnd = $0 { true } else { false } }
    }

    func endLeases() {
        guard now >= etcdGoneUntil else { return expectLeaseEnd(at: etcdGoneUntil + SimulatedEtcd.leaseLife) }
        guard fault != .endsNoLease else { return }
        if etcd.endLeases(at: now) { reportRelease() }
        expectLeaseEnd()
    }
}
