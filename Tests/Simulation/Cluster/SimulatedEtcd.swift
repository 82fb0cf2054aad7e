import AuthMachines
import AuthModel
import AuthWire

/// What etcd has of one session, and what `EtcdStore` does with it in transactions. A call here is one transaction.
final class SimulatedEtcd {
    struct Holder: Equatable {
        let lease: LeaseID
        /// The hold that it is.
        let number: Int
    }

    struct Intent: Equatable {
        let signIn: SignInID
        let generation: UInt64
        let id: String
        /// The change that it is.
        let number: Int
        var isUnanswered = false

        init(_ version: RecordVersion, id: String, number: Int) {
            (signIn, generation) = (version.signIn, version.generation)
            (self.id, self.number) = (id, number)
        }

        func formerHold(of record: Shared<SessionRecord>?, known: OwnIntents) -> HoldOutcome.FormerHold {
            guard let record = record?.wrappedValue, signIn == record.signIn else { return .answered }
            let end = known.formerHold(leaving: id) ?? (isUnanswered ? .unanswered : .abandoned)
            return end == .unanswered && generation < record.generation ? .answered : end
        }
    }

    /// What a host remembers of its hold.
    struct Hold: Equatable {
        let lease: LeaseID
        let number: Int
        /// The record whose tokens the host sends, as its intent names it.
        var noted: RecordVersion
        var intent: Int?
        /// The ID of the intent.
        var id: String?
        var version: RecordVersion?
        var isLost = false
    }

    /// Dates are those of a clock that is right.
    private(set) var record: Shared<SessionRecord>?
    private(set) var holder: Holder?
    private(set) var intent: Intent?
    private(set) var leases: [LeaseID: Duration] = [:]
    private var lastLease: Int64 = 0
    /// Grows with each change of the record.
    private(set) var revision = 0
    private var lastChange = 0

    static let leaseLife = Duration.seconds(10)
    /// When the record was last changed.
    var changedAt = Duration.zero
    /// When its tokens were.
    var renewedAt = Duration.zero

    // MARK: Leases

    func grant(at now: Duration) -> LeaseID {
        lastLease += 1
        leases[LeaseID(lastLease)] = now + Self.leaseLife
        return LeaseID(lastLease)
    }

    func keep(_ lease: LeaseID, at now: Duration) -> Bool {
        guard leases[lease] != nil else { return false }
        leases[lease] = now + Self.leaseLife
        return true
    }

    /// A change of the leader, or no majority: leases last longer.
    func prolongLeases(to end: Duration) {
        for lease in leases.keys { leases[lease] = max(leases[lease] ?? end, end) }
    }

    var nextLeaseEnd: Duration? { leases.values.min() }

    /// - Returns: whether the session is free now, and was not before.
    func endLeases(at now: Duration) -> Bool {
        guard let first = nextLeaseEnd, first <= now else { return false }
        for (lease, end) in leases where end <= now { leases[lease] = nil }
        guard let holder, leases[holder.lease] == nil else { return false }
        self.holder = nil
        return true
    }

    // MARK: Holds

    enum HoldAnswer {
        case held(Hold, after: HoldOutcome.FormerHold)
        case heldElsewhere
        case leaseLost
    }

    /// - Parameters:
    ///   - version: of the tokens that will be sent.
    ///   - former: what the host remembers of its hold.
    ///   - known: what the host knows about its own intents.
    func hold(_ lease: LeaseID, _ version: RecordVersion, former: Hold?, known: OwnIntents) -> HoldAnswer {
        guard leases[lease] != nil else { return .leaseLost }
        let left = intent?.formerHold(of: record, known: known) ?? .answered
        if let holder {
            guard holder.lease == lease else { return .heldElsewhere }
            // It waits for the result of another host.
            if left == .abandoned, let former, !former.isLost, former.number == holder.number {
                return .held(former, after: left)
            }
        }
        // If this host has it already, the response to an earlier attempt was lost: this is another hold.
        lastChange += 1
        holder = Holder(lease: lease, number: lastChange)
        var hold = Hold(lease: lease, number: lastChange, noted: version, version: record?.wrappedValue.version)
        if left == .answered {
            intent = Intent(version, id: known.holdID, number: lastChange)
            (hold.intent, hold.id) = (lastChange, known.holdID)
        }
        return .held(hold, after: left)
    }

    func claim(_ hold: Hold, _ version: RecordVersion, known: OwnIntents) -> Hold? {
        guard holder?.number == hold.number else { return nil }
        lastChange += 1
        var claimed = hold
        claimed.noted = version
        if let stored = hold.version, stored.signIn != version.signIn || stored.generation > version.generation {
            claimed.noted = stored
        }
        intent = Intent(claimed.noted, id: known.claimID, number: lastChange)
        (claimed.intent, claimed.id, claimed.version) = (lastChange, known.claimID, record?.wrappedValue.version)
        return claimed
    }

    /// - Returns: whether it had the session.
    func release(_ hold: Hold, leaving end: HoldOutcome.FormerHold) -> Bool {
        let isHeld = holder?.number == hold.number
        if isHeld { holder = nil }
        // Its lease may have ended first: the intent is still its own until another host claims the session.
        guard let number = hold.intent, isHeld || intent?.number == number else { return isHeld }
        switch end {
        case .answered: intent = nil
        case .unanswered:
            lastChange += 1
            intent = Intent(hold.noted, id: hold.id ?? "", number: lastChange)
            intent?.isUnanswered = true
        case .abandoned: break
        }
        return isHeld
    }

    // MARK: The record

    enum Outcome {
        case written(hasReleased: Bool)
        case refused(Shared<SessionRecord>, isOvertaken: Bool)
        case removed
        case heldElsewhere
    }

    /// - Parameter hold: of the host that writes. It is changed as the host learns what became of it.
    func update(
        _ new: Shared<SessionRecord>, replacesOther: Bool, hold: inout Hold?, at now: WallTime
    ) -> Outcome {
        let record = new.wrappedValue
        guard let current = self.record else {
            guard replacesOther else { return .removed }
            write(new)
            guard let own = hold, holder?.number == own.number, !isBeingSent(record, under: own) else {
                return .written(hasReleased: false)
            }
            (holder, intent, hold) = (nil, nil, nil)
            return .written(hasReleased: true)
        }
        let stored = current.wrappedValue
        if stored == record { return .written(hasReleased: false) }
        let isSame = stored.tokens.areSame(as: record.tokens)
        let hasSent = hold.map { $0.isLost || $0.intent != nil } ?? false
        if hasSent, let version = hold?.version, stored.signIn == record.signIn, !isSame,
            !version.hasSameTokens(as: stored.version)
        {
            if let own = hold, let number = own.intent, intent?.number == number, !isBeingSent(record, under: own) {
                intent = nil
            }
            hold = nil
            return .refused(current, isOvertaken: true)
        }
        guard record.mayReplace(stored, replacesOther: replacesOther), !record.isOtherResult(than: stored),
            !record.isOutlived(by: stored, at: now)
        else {
            return .refused(current, isOvertaken: false)
        }
        guard stored.signIn == record.signIn, !isSame || record.generation != stored.generation else {
            write(new)
            return .written(hasReleased: false)
        }
        if let own = hold {
            let isBeingSent = isBeingSent(record, under: own)
            if holder?.number == own.number {
                write(new)
                guard !isBeingSent else { return .written(hasReleased: false) }
                (holder, intent, hold) = (nil, nil, nil)
                return .written(hasReleased: true)
            }
            hold?.isLost = true
            if let number = own.intent, intent?.number == number {
                write(new)
                guard !isBeingSent else { return .written(hasReleased: false) }
                (intent, hold) = (nil, nil)
                return .written(hasReleased: true)
            }
            hold?.intent = nil
        }
        guard holder == nil else { return .heldElsewhere }
        write(new)
        if hold != nil { hold = nil }
        return .written(hasReleased: true)
    }

    /// Whether these are the tokens that the hold is for, or older ones: not its result.
    private func isBeingSent(_ record: SessionRecord, under hold: Hold) -> Bool {
        hold.noted.signIn == record.signIn && record.generation <= hold.noted.generation
    }

    /// For a fault that is put in on purpose.
    func overwrite(_ record: Shared<SessionRecord>) -> Outcome {
        write(record)
        return .written(hasReleased: false)
    }

    /// - Returns: what was removed.
    func delete(_ signIn: SignInID) -> Shared<SessionRecord>? {
        guard let removed = record, removed.wrappedValue.signIn == signIn else { return nil }
        (record, intent) = (nil, nil)
        revision += 1
        return removed
    }

    private func write(_ record: Shared<SessionRecord>) {
        self.record = record
        revision += 1
    }
}
