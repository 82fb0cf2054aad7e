package import AuthModel
package import AuthWire

/// Which host renews a session: a key for each session, attached to the lease of its host.
extension EtcdStore: LeaseStore {
    /// A hold of this host, until its tokens are written or the next one.
    struct Hold: Sendable, Equatable {
        let lease: LeaseID
        /// Of the tokens that this host sends.
        let generation: UInt64
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
        return GrantedLease(LeaseID(lease), lasts: .seconds(answer.leaseSeconds()))
    }

    package func keepAlive(_ lease: LeaseID) async throws(StoreError) -> Duration? {
        let seconds = try await call(.keepAlive(lease.number)).leaseSeconds()
        return seconds > 0 ? .seconds(seconds) : nil
    }

    package func hold(
        _ session: SessionName, generation: UInt64, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome {
        try await reporting(writes: true) { () throws(StoreError) in
            _ = try await opened()
            let (holder, intent, place) = (places.holder(session), places.intent(session), places.session(session))
            var found: EtcdTransaction?
            for _ in 1...EtcdLimits.writeAttempts {
                let stored = try await decoded(found?.entries[place], of: session)
                let left = found?.entries[intent]
                let former = left.flatMap { RenewalIntent($0.value) }?.formerHold(of: stored) ?? .answered
                let own = intended(session, stored, generation)
                var operations: [EtcdRequest.Operation] = [
                    .read(place), .put(holderMark, to: holder, lease: lease.number),
                ]
                if former == .answered { operations.append(.put(own.bytes, to: intent)) }
                let outcome = try await transaction(
                    .transaction(
                        [.changed(key: holder, at: 0), .changed(key: intent, at: left?.modRevision ?? 0)],
                        then: operations, otherwiseReading: [holder, intent, place]))
                let revision = outcome.header.revision
                if outcome.succeeded {
                    let record = try await begun(
                        session, Hold(lease: lease, generation: generation, revision: revision), outcome,
                        intentRevision: former == .answered ? revision : nil)
                    return .held(record, after: former)
                }
                if let entry = outcome.entries[holder] {
                    guard entry.lease == lease.number else { return .heldElsewhere }
                    if let again = try await repeated(session, generation, entry, outcome, own: own) { return again }
                }
                found = outcome
            }
            throw .cluster(.contended)
        }
    }

    /// This host holds it: the first attempt was carried out, and its response was lost, or the hold waits for the result of
    /// another host.
    /// - Returns: `nil` if something has changed meanwhile.
    private func repeated(
        _ session: SessionName, _ generation: UInt64, _ holder: EtcdEntry, _ outcome: EtcdTransaction,
        own: RenewalIntent
    ) async throws(StoreError) -> HoldOutcome? {
        let (intent, place) = (places.intent(session), places.session(session))
        let left = outcome.entries[intent]
        // Put in the same transaction.
        let isOwn = left?.modRevision == holder.modRevision
        let stored = try await decoded(outcome.entries[place], of: session)
        let former = isOwn ? .answered : left.flatMap { RenewalIntent($0.value) }?.formerHold(of: stored) ?? .answered
        if former == .abandoned, let hold = holds[session], !hold.isLost, hold.revision == holder.modRevision {
            return .held(stored, after: former)
        }
        // A release of that hold may still be on its way: this is another one. Its intent has the same revision again.
        let putsIntent = former == .answered
        let again = try await transaction(
            .transaction(
                [
                    .changed(key: holder.key, at: holder.modRevision),
                    .changed(key: intent, at: left?.modRevision ?? 0),
                ],
                then: [.read(place), .put(holderMark, to: holder.key, lease: holder.lease)]
                    + (putsIntent ? [.put(own.bytes, to: intent)] : []),
                otherwiseReading: []))
        guard again.succeeded else { return nil }
        let revision = again.header.revision
        let hold = Hold(lease: LeaseID(holder.lease), generation: generation, revision: revision)
        let record = try await begun(
            session, hold, again, intentRevision: putsIntent ? revision : nil)
        return .held(record, after: former)
    }

    /// Without a record that can be read there is nothing to hold.
    private func begun(
        _ session: SessionName, _ hold: Hold, _ outcome: EtcdTransaction, intentRevision: Int64?
    ) async throws(StoreError) -> SessionRecord? {
        // The response to an earlier request may be later.
        if let later = holds[session], later.revision > hold.revision { throw .cluster(.leaseLost) }
        holds[session] = hold
        holds[session]?.intentRevision = intentRevision
        overtaken.remove(session)
        do throws(StoreError) {
            let record = try await decoded(outcome.entries[places.session(session)], of: session)
            holds[session]?.version = record?.version
            return record
        } catch {
            try? await release(session, leaving: .answered)
            throw error
        }
    }

    private func intended(_ session: SessionName, _ stored: SessionRecord?, _ generation: UInt64) -> RenewalIntent {
        let signIn = stored?.signIn ?? view.signIn(of: session) ?? SignInID(signedInAt: WallTime(unixSeconds: 0))
        return RenewalIntent(signIn: signIn, generation: generation)
    }

    package func claim(_ session: SessionName, generation: UInt64) async throws(StoreError) -> SessionRecord? {
        guard let hold = holds[session], !hold.isLost else { throw .cluster(.leaseLost) }
        let (holder, intent, place) = (places.holder(session), places.intent(session), places.session(session))
        // The sign-in is that of the record which the same transaction returns, or the record is not used.
        let own = RenewalIntent(
            signIn: hold.version?.signIn ?? intended(session, nil, generation).signIn, generation: generation)
        let outcome = try await transaction(
            .transaction(
                [.changed(key: holder, at: hold.revision)], then: [.read(place), .put(own.bytes, to: intent)],
                otherwiseReading: [holder]))
        guard outcome.succeeded else {
            lostHold(of: session)
            throw .cluster(.leaseLost)
        }
        return try await begun(session, hold, outcome, intentRevision: outcome.header.revision)
    }

    package func release(
        _ session: SessionName, leaving end: HoldOutcome.FormerHold
    ) async throws(StoreError) {
        guard let hold = holds[session], !hold.isLost else {
            holds[session] = nil
            return
        }
        // The author of an intent that stays may still write what it has received.
        if end == .abandoned, hold.intentRevision != nil { holds[session]?.isLost = true } else { holds[session] = nil }
        let (holder, intent) = (places.holder(session), places.intent(session))
        var operations: [EtcdRequest.Operation] = [.delete(holder)]
        if hold.intentRevision != nil {
            switch end {
            case .answered: operations.append(.delete(intent))
            case .unanswered:
                if let version = hold.version {
                    let left = RenewalIntent(
                        signIn: version.signIn, generation: version.generation, isUnanswered: true)
                    operations.append(.put(left.bytes, to: intent))
                }
            case .abandoned: break
            }
        }
        // If the hold has ended, the session is another host's.
        _ = try await transaction(
            .transaction([.changed(key: holder, at: hold.revision)], then: operations, otherwiseReading: []))
    }

    // MARK: Writing

    /// Other tokens of the same sign-in are written by the host that holds the session, by the one that held it last, as long as
    /// nobody was about to send them again, or if nobody holds it.
    func holdTerms(_ record: SessionRecord, replacing stored: SessionRecord?) -> WriteTerms {
        let (holder, intent) = (places.holder(record.session), places.intent(record.session))
        let hold = holds[record.session]
        guard let stored else {
            // A sign-in that was renewed before it could be written. Its first tokens may still be on their way to the provider.
            guard let hold, !hold.isLost, record.generation > hold.generation else { return WriteTerms() }
            return WriteTerms(
                conditions: [.changed(key: holder, at: hold.revision)], operations: [.delete(holder), .delete(intent)],
                releases: true)
        }
        guard stored.signIn == record.signIn, isOther(record, than: stored) else { return WriteTerms() }
        guard let hold else { return WriteTerms(conditions: [.changed(key: holder, at: 0)]) }
        if !hold.isLost {
            return WriteTerms(
                conditions: [.changed(key: holder, at: hold.revision)], operations: [.delete(holder), .delete(intent)],
                releases: true)
        }
        guard let revision = hold.intentRevision else { return WriteTerms(conditions: [.changed(key: holder, at: 0)]) }
        return WriteTerms(
            conditions: [.changed(key: intent, at: revision)], operations: [.delete(intent)], releases: true)
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
        guard let version = holds[record.session]?.version, !stored.tokens.areSame(as: record.tokens) else {
            return false
        }
        return !version.hasSameTokens(as: stored.version)
    }

    /// A write was refused.
    /// - Returns: whether another host's hold was the reason.
    func refused(_ session: SessionName, _ outcome: EtcdTransaction) -> Bool {
        let (holder, intent) = (outcome.entries[places.holder(session)], outcome.entries[places.intent(session)])
        guard let hold = holds[session] else { return holder != nil }
        // The hold is newer than this refusal.
        guard outcome.header.revision >= hold.revision else { return false }
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
