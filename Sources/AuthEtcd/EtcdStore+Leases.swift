package import AuthModel
package import AuthWire

/// Which host renews a session: a key for each session, which hangs on the lease of its host.
extension EtcdStore: LeaseStore {
    struct Hold: Sendable, Equatable {
        let lease: LeaseID
        /// The stored tokens when the hold began; `nil`: there was no record.
        let version: RecordVersion?
    }

    package nonisolated var leases: (any LeaseStore)? { self }

    package func grantLease() async throws(StoreError) -> GrantedLease {
        let answer = try await call(.grantLease(seconds: EtcdLimits.leaseSeconds))
        guard let lease = answer.leaseID() else { throw .cluster(.invalid(reason: "a lease without a number")) }
        return GrantedLease(LeaseID(lease), lasts: .seconds(answer.leaseSeconds()))
    }

    package func keep(_ lease: LeaseID) async throws(StoreError) -> Duration? {
        let seconds = try await call(.keepAlive(lease.number)).leaseSeconds()
        return seconds > 0 ? .seconds(seconds) : nil
    }

    package func hold(
        _ session: SessionName, generation: UInt64, under lease: LeaseID
    ) async throws(StoreError) -> HoldOutcome {
        try await reporting(writes: true) { () throws(StoreError) in
            let host = try await hostState().key.id
            _ = try await opened()
            let (holder, intent, place) = (places.holder(session), places.intent(session), places.session(session))
            let intended = RenewalIntent(host: host, generation: generation)
            let answer = try await call(
                .transaction(
                    [.changed(key: holder, at: 0)],
                    then: [
                        .read(place), .read(intent), .put(Array(host.utf8), to: holder, lease: lease.number),
                        .put(intended.bytes, to: intent),
                    ], otherwiseReading: [holder, place]))
            let outcome = try cluster { () throws(ClusterFault) in try EtcdTransaction(answer) }
            let isRepeated = !outcome.succeeded && outcome.entries[holder]?.lease == lease.number
            guard outcome.succeeded || isRepeated else { return .taken }
            var record: SessionRecord?
            if let entry = outcome.entries[place] { record = try await self.record(in: entry, of: session) }
            holds[session] = Hold(lease: lease, version: record?.version)
            overtaken.remove(session)
            // The intent of the former holder is unknown if the response to the first attempt was lost.
            guard outcome.succeeded else { return .held(record, after: .abandoned) }
            return .held(record, after: Self.formerHold(outcome.entries[intent], record))
        }
    }

    /// An intent for earlier tokens has ended with those that are in the record now.
    private static func formerHold(_ entry: EtcdEntry?, _ record: SessionRecord?) -> HoldOutcome.FormerHold {
        guard let intent = entry.flatMap({ RenewalIntent($0.value) }), let record,
            intent.generation >= record.generation
        else { return .answered }
        return intent.isUnanswered ? .unanswered : .abandoned
    }

    package func release(
        _ session: SessionName, from lease: LeaseID, isAnswered: Bool
    ) async throws(StoreError) {
        let hold = holds[session]
        if hold?.lease == lease { holds[session] = nil }
        let (holder, intent) = (places.holder(session), places.intent(session))
        var operations: [EtcdRequest.Operation] = [.delete(holder)]
        if isAnswered {
            operations.append(.delete(intent))
        } else {
            let host = try await hostState().key.id
            let unanswered = RenewalIntent(
                host: host, generation: hold?.version?.generation ?? 0, isUnanswered: true)
            operations.append(.put(unanswered.bytes, to: intent))
        }
        // If the lease has ended, the session is another host's.
        _ = try await call(
            .transaction([.leased(key: holder, by: lease.number)], then: operations, otherwiseReading: []))
    }

    package func wasOvertaken(_ session: SessionName) -> Bool { overtaken.contains(session) }

    // MARK: Writing

    /// What a write of a session's record requires of holds, and what it ends.
    struct HoldTerms: Sendable {
        var conditions: [EtcdRequest.Condition] = []
        var removing: [String] = []
    }

    /// Tokens that are newer than those in etcd are written by the host that holds the session, or if nobody does.
    func holdTerms(_ record: SessionRecord, replacing stored: RecordVersion?) -> HoldTerms {
        guard let stored, stored.signIn == record.signIn, stored.generation != record.generation else {
            return HoldTerms()
        }
        let holder = places.holder(record.session)
        guard let hold = holds[record.session] else { return HoldTerms(conditions: [.changed(key: holder, at: 0)]) }
        return HoldTerms(
            conditions: [.leased(key: holder, by: hold.lease.number)],
            removing: [holder, places.intent(record.session)])
    }

    /// While this host holds a session, no other one writes tokens: if there are others, the hold was lost.
    func isOvertaken(_ hold: Hold?, _ stored: RecordVersion) -> Bool {
        guard let version = hold?.version else { return false }
        return !version.hasSameTokens(as: stored)
    }

    func lostHold(of session: SessionName) {
        guard holds.removeValue(forKey: session) != nil else { return }
        note(.leaseLost)
    }
}
