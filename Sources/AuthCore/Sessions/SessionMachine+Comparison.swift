internal import AuthWire

/// What the store holds, held against what is in use: after a start with what the run before handed over, and when somebody
/// else may have changed it there. Nothing is written over what has not been looked at.
extension SessionMachine {
    /// A keyring that is being unlocked may show nothing for a moment: an absence counts when it is seen again after this.
    static let absencePause = Duration.seconds(2)

    /// How much is known of what the store holds.
    enum Comparison {
        /// It holds what was written or read here.
        case done
        case wanted
        case underWay
        /// The store could not be asked. It is when it is ready, and before anything is written.
        case postponed
    }

    /// Whether the store is to be looked at now.
    func wantsComparison(_ now: Moment) -> Bool {
        switch comparison {
        case .done, .underWay: false
        case .wanted: secondLook.map { now.boot >= $0 } ?? true
        case .postponed: writer.isBehind(latestRevision)
        }
    }

    /// When an absence is looked at again.
    var secondLook: BootInstant? { absentSince.map { $0 + Self.absencePause } }

    mutating func storeIsReady() {
        writer.tryAgain()
        if comparison != .done { comparison = .wanted }
    }

    mutating func compared(
        _ result: Result<SessionRecord?, StoreError>, _ now: Moment, _ actions: inout [SessionAction]
    ) {
        guard !signedOut else { return writer.readEnded() }
        // Something has changed there since it was asked.
        let isWantedAgain = comparison == .wanted
        comparison = .done
        switch result {
        case .success(nil):
            writer.readEnded()
            foundNothing(now, &actions)
        case .success(let stored?):
            writer.readEnded()
            absentSince = nil
            meet(stored, now, &actions)
            if !writer.isBehind(latestRevision) { written(latestRevision, now, &actions) }
        case .failure(.failed):
            // It may be one item that cannot be read: a write mends that, and shows whether it is more.
            writer.readEnded()
            absentSince = nil
            if !writer.isBehind(latestRevision) { comparison = .postponed }
        case .failure(let error):
            comparison = .postponed
            absentSince = nil
            writer.readFailed(error, at: now.boot, using: &random)
            // What was to be written is refused for now, and who waits for that goes on.
            written(latestRevision, now, &actions)
        }
        if isWantedAgain { comparison = .wanted }
    }

    private mutating func foundNothing(_ now: Moment, _ actions: inout [SessionAction]) {
        guard wasKept else { return writer.forgetWritten() }
        guard let secondLook, now.boot >= secondLook else {
            absentSince = absentSince ?? now.boot
            comparison = .wanted
            return
        }
        endedElsewhere(&actions)
    }

    /// Somebody has removed it from the store, which is how a person signs out there.
    private mutating func endedElsewhere(_ actions: inout [SessionAction]) {
        for want in Set(waiters.values) { answer(want, .failure(.notSignedIn(record.session)), &actions) }
        forgetAims()
        signedOut = true
        flight = nil
        isGone = true
        actions += [.handOver(nil), .forget]
    }

    private mutating func meet(_ stored: SessionRecord, _ now: Moment, _ actions: inout [SessionAction]) {
        kept = stored.tokens
        guard stored.isSameSignIn(as: record) else {
            // Neither dates nor revisions tell which is later: clocks are set, and a sign-in may not have seen the other.
            if wasKept { return takeOver(stored, now, &actions) }
            raise(above: stored.revision)
            return writer.forgetWritten()
        }
        wasKept = true
        let isSame = stored.tokens.areSame(as: latest.tokens)
        if case .saving = flight?.stage, !isSame || stored.revision > latestRevision {
            // The provider has just given what is on its way: nobody has anything newer.
            raise(above: stored.revision)
            return writer.holds(stored.revision)
        }
        if stored.isNewer(than: latest) { return takeOver(stored, now, &actions) }
        writer.holds(isSame || stored.revision < latestRevision ? stored.revision : 0)
    }

    /// What is to be written gets a higher revision than that.
    private mutating func raise(above revision: UInt64) {
        guard latestRevision <= revision else { return }
        record.revision = revision + 1
        guard case .saving(var pending, let sentAt, let since) = flight?.stage else { return }
        pending.revision = revision + 1
        flight?.stage = .saving(pending, sentAt: sentAt, since: since)
    }

    /// Goes on with what another writer has put there.
    private mutating func takeOver(_ stored: SessionRecord, _ now: Moment, _ actions: inout [SessionAction]) {
        let isOther = !stored.isSameSignIn(as: record)
        let isNewToken = isOther || !stored.tokens.areSame(as: record.tokens)
        record = stored
        wasKept = true
        writer.holds(stored.revision)
        guard isNewToken else { return }
        if isOther { forgetAims() }
        if !isOther, case .asking = flight?.stage {
            // There is one renewal at a time, also where its answer is of little use.
            flight?.isOutdated = true
        } else {
            flight = nil
        }
        readAt = now.boot
        takeAsFresh(sentAt: now, now: now)
        if isLive(now) { answerRenewed(now, &actions) }
    }
}

extension SessionRecord {
    /// Dates lose less than that on their way through a store.
    private static let datesDiffer = 0.001

    func isSameSignIn(as other: SessionRecord) -> Bool {
        provider == other.provider && environment == other.environment
            && abs(signedInAt.unixSeconds - other.signedInAt.unixSeconds) < Self.datesDiffer
    }

    /// Of two records of one sign-in.
    fileprivate func isNewer(than other: SessionRecord) -> Bool {
        guard revision == other.revision else { return revision > other.revision }
        return !tokens.areSame(as: other.tokens) && tokens.issuedAt > other.tokens.issuedAt
    }
}
