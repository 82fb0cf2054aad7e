import AuthModel
import AuthWire

/// After etcd went back to an earlier state, as with a restored backup: what this host knows to be newer counts. Leases, holds
/// and intents that etcd has then are those of the time of the backup.
extension EtcdStore {
    /// What is still to be done.
    struct Recovery: Sendable {
        /// Holds under which a request may be on its way to the provider.
        var sending: [SessionName: Hold]
        let former: Member?
    }

    func noteWentBack(_ revision: Int64) {
        note(.wentBack)
        // Revisions before that are those of another history.
        let sending = holds.filter { $0.value.intentRevision != nil }
            .merging(recovery?.sending ?? [:]) { later, _ in later }
        (holds, overtaken, unfinished) = ([:], [], [:])
        ownIntents = ownIntents.filter { sending[$0.key] != nil }
        formerLease = lastLease
        (wentBackAt, wentBackTo) = (clock.now().boot, revision)
        recovery = Recovery(sending: sending, former: member)
    }

    /// Until all of it has succeeded.
    func recover() async throws(StoreError) {
        guard let recovery else { return isRecovering() ? try await removeEndedAgain() : () }
        // The record of the cluster may be an older one, too, and others are sealed with its keys.
        if let former = recovery.former { _ = try await reopened(instead: former) }
        hasFormerSeals = true
        // A hold that is released meanwhile is not among them any more.
        while let (session, hold) = self.recovery?.sending.first {
            try await noteAgain(session, hold)
            self.recovery?.sending[session] = nil
        }
        try await removeEndedAgain()
        self.recovery = nil
    }

    func removeEndedAgain() async throws(StoreError) {
        for session in view.endedAgain { try await removeAgain(session) }
    }

    /// A hold ends that etcd does not have any more.
    func releaseAfterRestore(_ session: SessionName, leaving end: HoldOutcome.FormerHold) {
        guard recovery?.sending[session] != nil else { return }
        ownIntents[session]?.end(end)
        if end == .answered { recovery?.sending[session] = nil }
    }

    /// For a while, another host may have a request on its way for which etcd has no intent any more.
    func isRecovering() -> Bool {
        wentBackAt.map { clock.now().boot - $0 < EtcdLimits.recovery } ?? false
    }

    /// Whether etcd went back, and this intent is older than that, or missing. Then no host has begun to send these
    /// tokens since, because each notes an intent first.
    func isOutdated(_ intent: EtcdEntry?) -> Bool { wentBackTo.map { intent?.modRevision ?? 0 <= $0 } ?? false }

    /// The request of this host may be on its way to the provider: others learn it again, and its result may be written.
    private func noteAgain(_ session: SessionName, _ hold: Hold) async throws(StoreError) {
        let intent = try await read(places.intent(session))
        guard let id = ownIntents[session]?.lastID else { return }
        // Another host may be about to send these tokens again. A host that has the session but no intent still waits.
        let isOfBackup = isOutdated(intent)
        // The response to an earlier attempt was lost.
        let isNoted = intent.flatMap { RenewalIntent($0.value) }?.id == id
        guard isOfBackup || isNoted else { return }
        let outcome = try await transaction(
            .transaction(
                [.changed(key: places.intent(session), at: intent?.modRevision ?? 0)],
                then: [.put(RenewalIntent(hold.noted, id: id).bytes, to: places.intent(session))],
                otherwiseReading: []))
        guard outcome.succeeded, holds[session] == nil else { return }
        guard recovery?.sending[session] != nil else {
            // It was released meanwhile: nothing was sent, or it is known what the provider did.
            _ = try await transaction(
                .transaction(
                    [.changed(key: places.intent(session), at: outcome.header.revision)],
                    then: [.delete(places.intent(session))], otherwiseReading: []))
            return
        }
        // The record when the hold began is not in etcd any more: it says nothing about who has renewed.
        holds[session] = Hold(
            lease: hold.lease, noted: hold.noted, revision: 0, intentRevision: outcome.header.revision, version: nil,
            isLost: true)
    }

    /// It was signed out of after the backup was made.
    private func removeAgain(_ session: SessionName) async throws(StoreError) {
        guard let entry = try await read(places.session(session)),
            let content = try await unlessDamaged({ () throws(StoreError) in try await content(of: entry) }),
            let record = try? SessionRecord(decoding: content), view.isOutdated(record.signIn, of: session)
        else { return }
        _ = try await transaction(
            .transaction(
                [.changed(key: entry.key, at: entry.modRevision)],
                then: [.delete(entry.key), .delete(places.lifetime(session)), .delete(places.intent(session))],
                otherwiseReading: []))
    }
}
