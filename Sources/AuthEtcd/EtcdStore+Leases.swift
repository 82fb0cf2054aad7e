package import AuthModel
package import AuthWire

/// Which host renews a session: a key for each session, attached to the lease of its host.
extension EtcdStore: LeaseStore {
    /// A hold of this host, until its tokens are written or the next one.
    struct Hold: Sendable, Equatable {
        let lease: LeaseID
        /// The record whose tokens this host sends, as its intent names it.
        var noted: RecordVersion
        /// The change of ``EtcdPlaces/holder(_:)`` that it is: a later hold under the same lease is another one.
        let revision: Int64
        /// The change of ``EtcdPlaces/intent(_:)`` that this host has made; `nil`: another one has.
        var intentRevision: Int64?
        /// The stored record when it began; `nil`: there was none.
        var version: RecordVersion?
        /// The lease ended first.
        var isLost = false
    }

    package nonisolated var leases: (any LeaseStore)? { self }

    package func grantLease() async throws(StoreError) -> GrantedLease {
        let answer = try await call(.grantLease(seconds: EtcdLimits.leaseSeconds))
        guard let lease = answer.leaseID() else { throw .cluster(.invalid(reason: "a lease without a number")) }
        lastLease = LeaseID(lease)
        return GrantedLease(LeaseID(lease), lasts: .seconds(answer.leaseSeconds()))
    }

    package func keepAlive(_ lease: LeaseID) async throws(StoreError) -> Duration? {
        guard !restores.isFormer(lease) else { return nil }
        let seconds = try await call(.keepAlive(lease.number)).leaseSeconds()
        return seconds > 0 ? .seconds(seconds) : nil
    }

    package func hold(
        _ session: SessionName, for version: RecordVersion, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome {
        let former = view.state
        return try await reporting(writes: true) { () throws(StoreError) in
            guard !restores.isFormer(lease) else { throw .cluster(.leaseLost) }
            _ = try await opened()
            let (holder, intent, place) = (places.holder(session), places.intent(session), places.session(session))
            let own = RenewalIntent(version, id: known(session).holdID)
            var found: EtcdTransaction?
            for _ in 1...EtcdLimits.writeAttempts {
                guard !hasGoneBack(since: former), restores.allowsHolds else { throw .cluster(.wentBack) }
                let left = try await formerHold(found, of: session, under: lease)
                var operations: [EtcdRequest.Operation] = [
                    .read(place), .read(places.history), .put(holderMark, to: holder, lease: lease.number),
                ]
                if left == .answered { operations.append(.put(own.bytes, to: intent)) }
                let outcome = try await transaction(
                    .transaction(
                        [
                            .changed(key: holder, at: 0),
                            .changed(key: intent, at: found?.entries[intent]?.modRevision ?? 0),
                        ],
                        then: operations, otherwiseReading: [holder, intent, place, places.history]))
                if outcome.succeeded {
                    return try await begun(session, lease, version, outcome, intent: own, after: left, since: former)
                }
                if let entry = outcome.entries[holder] {
                    guard entry.lease == lease.number else { return .heldElsewhere }
                    let again = try await repeated(session, version, entry, outcome, own, since: former)
                    if let again { return again }
                }
                found = outcome
            }
            throw .cluster(.contended)
        }
    }

    /// Handles a holder key of this host's lease: the response to an earlier attempt was lost, or the hold waits for
    /// the result of another host.
    /// - Returns: `nil` if something has changed meanwhile.
    private func repeated(
        _ session: SessionName, _ version: RecordVersion, _ holder: EtcdEntry, _ outcome: EtcdTransaction,
        _ own: RenewalIntent, since state: ClusterView.State
    ) async throws(StoreError) -> HoldOutcome? {
        let (intent, place) = (places.intent(session), places.session(session))
        let former = try await formerHold(outcome, of: session, under: LeaseID(holder.lease))
        if former == .abandoned, let hold = holds[session], !hold.isLost, hold.revision == holder.modRevision {
            return .held(try await decoded(outcome.entries[place], of: session), after: former)
        }
        // A release of the earlier hold may still arrive, so the holder key is written again: this is a new hold. Its
        // intent gets the same revision as the key.
        let again = try await transaction(
            .transaction(
                [
                    .changed(key: holder.key, at: holder.modRevision),
                    .changed(key: intent, at: outcome.entries[intent]?.modRevision ?? 0),
                ],
                then: [
                    .read(place), .read(places.history), .put(holderMark, to: holder.key, lease: holder.lease),
                ]
                    + (former == .answered ? [.put(own.bytes, to: intent)] : []),
                otherwiseReading: []))
        guard again.succeeded else { return nil }
        return try await begun(session, LeaseID(holder.lease), version, again, intent: own, after: former, since: state)
    }

    private func begun(
        _ session: SessionName, _ lease: LeaseID, _ version: RecordVersion, _ outcome: EtcdTransaction,
        intent: RenewalIntent, after former: HoldOutcome.FormerHold, since state: ClusterView.State
    ) async throws(StoreError) -> HoldOutcome {
        let revision = outcome.header.revision
        let isNoted = former == .answered
        let record = try await begun(
            session,
            Hold(lease: lease, noted: version, revision: revision, intentRevision: isNoted ? revision : nil),
            outcome, under: isNoted ? intent : nil, since: state, ifUnreadable: .answered)
        return .held(record, after: former)
    }

    /// Without a record that can be read there is nothing to hold.
    /// - Parameters:
    ///   - intent: this host's intent, if this transaction or `claim` has written it.
    ///   - state: when the hold or the claim was requested.
    private func begun(
        _ session: SessionName, _ hold: Hold, _ outcome: EtcdTransaction, under intent: RenewalIntent?,
        since state: ClusterView.State, ifUnreadable end: HoldOutcome.FormerHold
    ) async throws(StoreError) -> SessionRecord? {
        // Other changes since etcd went back, and this one, may have brought it to the revision that this host knows, or
        // further.
        let isLater = state.isLater(thanChange: outcome.header)
        // The response may be from before everything was read again.
        let isPresent = state.history == view.state.history
        if isPresent, isLater || restores.isNoticedElsewhere(outcome.entries[places.history]) {
            // The hold itself is a change, too: etcd had the revision before it. The response has already shown a higher one
            // if that was lower than this host knew.
            readAgain(shownBy: isLater ? outcome.header.revision - 1 : nil)
        }
        guard !hasGoneBack(since: state) else {
            try? await giveBack(
                session, at: hold.revision, isNoted: hold.intentRevision == hold.revision, after: outcome)
            throw .cluster(.wentBack)
        }
        // The response to an earlier request may be later.
        if let later = holds[session], later.revision > hold.revision { throw .cluster(.leaseLost) }
        holds[session] = hold
        if let intent { ownIntents[session]?.begin(intent.id) }
        overtaken.remove(session)
        do throws(StoreError) {
            let record = try await decoded(outcome.entries[places.session(session)], of: session)
            holds[session]?.version = record?.version
            return record
        } catch {
            try? await release(session, leaving: end)
            throw error
        }
    }

    /// How the hold before this one ended. If the record cannot be read, deletes a holder key of this host whose
    /// response was lost.
    private func formerHold(
        _ found: EtcdTransaction?, of session: SessionName, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome.FormerHold {
        let former = try await statedFormerHold(found, of: session, under: lease)
        // An intent from the backup is about an earlier request. A later one may still be in progress.
        let isUnknown = former == .answered || restores.isOutdated(found?.entries[places.intent(session)])
        return isUnknown && restores.isRecovering(at: clock.bootInstant) ? .abandoned : former
    }

    /// The same as etcd has it.
    private func statedFormerHold(
        _ found: EtcdTransaction?, of session: SessionName, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome.FormerHold {
        guard let found else { return .answered }
        do throws(StoreError) {
            let stored = try await decoded(found.entries[places.session(session)], of: session)
            let left = found.entries[places.intent(session)].flatMap { RenewalIntent($0.value) }
            return left?.formerHold(of: stored, known: known(session)) ?? .answered
        } catch {
            if let holder = found.entries[places.holder(session)], holder.lease == lease.number {
                try? await giveBack(session, at: holder.modRevision, isNoted: false, after: found)
            }
            throw error
        }
    }

    private func known(_ session: SessionName) -> OwnIntents {
        let known = ownIntents[session] ?? OwnIntents(prefix: String(random(), radix: 36))
        ownIntents[session] = known
        return known
    }

    package func claim(
        _ session: SessionName, for version: RecordVersion
    ) async throws(StoreError) -> SessionRecord? {
        guard var hold = holds[session], !hold.isLost else { throw .cluster(.leaseLost) }
        let state = view.state
        let (holder, intent, place) = (places.holder(session), places.intent(session), places.session(session))
        // The intent names the stored tokens. If they are not those of `version`, nothing is sent.
        hold.noted = version
        if let stored = hold.version, stored.signIn != version.signIn || stored.generation > version.generation {
            hold.noted = stored
        }
        let own = RenewalIntent(hold.noted, id: known(session).claimID)
        let outcome = try await transaction(
            .transaction(
                [.changed(key: holder, at: hold.revision)] + restores.history.conditions(at: places.history),
                then: [.read(place), .read(places.history), .put(own.bytes, to: intent)],
                otherwiseReading: [holder, places.history]))
        guard outcome.succeeded else {
            try await claimRefused(session, hold, outcome)
            lostHold(of: session)
            throw .cluster(.leaseLost)
        }
        hold.intentRevision = outcome.header.revision
        return try await begun(session, hold, outcome, under: own, since: state, ifUnreadable: .unanswered)
    }

    /// Ends a hold of this history, if another host has noticed that etcd went back. A hold of the former history is no
    /// longer in etcd, even if something has its revision.
    private func claimRefused(
        _ session: SessionName, _ hold: Hold, _ outcome: EtcdTransaction
    ) async throws(StoreError) {
        let mark = outcome.entries[places.history]
        guard restores.isNoticedElsewhere(mark) else { return }
        readAgain()
        if let holder = outcome.entries[places.holder(session)], holder.lease == hold.lease.number {
            try? await giveBack(session, at: holder.modRevision, isNoted: false, after: outcome)
        }
        throw .cluster(.wentBack)
    }

    package func release(
        _ session: SessionName, leaving end: HoldOutcome.FormerHold
    ) async throws(StoreError) {
        guard let hold = holds[session] else { return releaseAfterRestore(session, leaving: end) }
        if hold.intentRevision != nil { ownIntents[session]?.end(end) }
        // The author of an intent that stays may still write what it has received.
        if end == .abandoned, hold.intentRevision != nil {
            holds[session]?.isLost = true
        } else {
            holds[session] = nil
        }
        let release = HoldEnd(hold, end, id: known(session).lastID)
        unfinished[session] = release
        try await carryOut(release, of: session)
    }

    // MARK: Writing

    /// Other tokens of the same sign-in are written by the host that holds the session, by the one that held it last,
    /// as long as nobody was about to send them again, or if nobody holds it. If etcd went back, a hold of another host
    /// does not count until a host has noted an intent.
    /// - Parameter refusal: the response that refused the attempt before, if there was one.
    func holdTerms(
        _ record: SessionRecord, replacing stored: SessionRecord?, after refusal: EtcdTransaction?
    ) -> WriteTerms {
        let (holder, intent) = (places.holder(record.session), places.intent(record.session))
        let hold = holds[record.session]
        guard let stored else {
            // A sign-in that was renewed before it could be written. Its first tokens may still be on their way to the
            // provider.
            guard let hold, !hold.isLost, !isBeingSent(record, under: hold) else { return WriteTerms() }
            return WriteTerms(
                conditions: [.changed(key: holder, at: hold.revision)], operations: [.delete(holder), .delete(intent)],
                releases: true)
        }
        guard stored.signIn == record.signIn, isOther(record, than: stored) else { return WriteTerms() }
        guard let hold else {
            let left = refusal?.entries[intent]
            // The holder has sent nothing since etcd went back.
            let ignoresHold = refusal != nil && restores.isOutdated(left)
            let (key, revision) = ignoresHold ? (intent, left?.modRevision ?? 0) : (holder, 0)
            return WriteTerms(conditions: [.changed(key: key, at: revision)])
        }
        let releases = !isBeingSent(record, under: hold)
        if !hold.isLost {
            return WriteTerms(
                conditions: [.changed(key: holder, at: hold.revision)],
                operations: releases ? [.delete(holder), .delete(intent)] : [], releases: releases)
        }
        guard let revision = hold.intentRevision else { return WriteTerms(conditions: [.changed(key: holder, at: 0)]) }
        return WriteTerms(
            conditions: [.changed(key: intent, at: revision)], operations: releases ? [.delete(intent)] : [],
            releases: releases)
    }

    /// Whether these are the tokens that the hold is for, or older ones: not its result.
    func isBeingSent(_ record: SessionRecord, under hold: Hold) -> Bool {
        hold.noted.signIn == record.signIn && record.generation <= hold.noted.generation
    }

    /// Whether the tokens are others than the stored ones, or were prolonged.
    func isOther(_ record: SessionRecord, than stored: SessionRecord) -> Bool {
        record.generation != stored.generation || !stored.tokens.areSame(as: record.tokens)
    }

    /// The write of a record has ended: it is in etcd, or that of another host is.
    func writeEnded(_ session: SessionName, with version: RecordVersion) {
        guard let former = holds[session]?.version, !former.hasSameTokens(as: version) else { return }
        holds[session] = nil
    }

    /// While this host holds a session, no other one writes tokens: if there are others, the hold was lost.
    func isOvertaken(_ record: SessionRecord, by stored: SessionRecord) -> Bool {
        guard let hold = holds[record.session], let version = hold.version, stored.signIn == record.signIn,
            !stored.tokens.areSame(as: record.tokens)
        else { return false }
        // It waits for the result of another host, and has sent nothing.
        guard hold.isLost || hold.intentRevision != nil else { return false }
        return !version.hasSameTokens(as: stored.version)
    }

    /// A write was refused.
    /// - Returns: whether another host's hold was the reason, and still is.
    func refused(_ session: SessionName, _ outcome: EtcdTransaction) -> Bool {
        let (holder, intent) = (outcome.entries[places.holder(session)], outcome.entries[places.intent(session)])
        guard let hold = holds[session] else { return holder != nil && !restores.isOutdated(intent) }
        // The hold, or its intent, is newer than this refusal.
        guard outcome.header.revision >= max(hold.revision, hold.intentRevision ?? 0) else { return false }
        if !hold.isLost {
            if holder?.modRevision != hold.revision { lostHold(of: session) }
            return false
        }
        guard intent?.modRevision != hold.intentRevision || hold.intentRevision == nil else { return false }
        // Another host is about to send these tokens again.
        holds[session]?.intentRevision = nil
        return holder != nil
    }

    func lostHold(of session: SessionName) {
        guard holds[session]?.isLost == false else { return }
        holds[session]?.isLost = true
        note(.leaseLost)
    }

    func transaction(_ request: EtcdRequest) async throws(StoreError) -> EtcdTransaction {
        let answer = try await call(request)
        return try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
    }

    private func decoded(_ entry: EtcdEntry?, of session: SessionName) async throws(StoreError) -> SessionRecord? {
        guard let entry else { return nil }
        return try await record(in: entry, of: session)
    }
}
