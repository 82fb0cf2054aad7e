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
        /// Other hosts can see in etcd that it went back, or etcd has refused the mark.
        var isMarked = false
    }

    /// - Parameters:
    ///   - revision: of etcd, when this host has read everything.
    ///   - mark: what etcd had at ``EtcdPlaces/history`` then.
    func noteWentBack(_ revision: Int64, _ mark: EtcdEntry? = nil) {
        note(.wentBack)
        // Revisions before that are those of another history.
        let sending = holds.filter { $0.value.intentRevision != nil }
            .merging(recovery?.sending ?? [:]) { later, _ in later }
        (holds, overtaken, unfinished) = ([:], [], [:])
        ownIntents = ownIntents.filter { sending[$0.key] != nil }
        formerLease = lastLease
        // If another host has noticed earlier, intents that were noted since then count.
        let noticed = mark.flatMap { history.isNew($0) ? min($0.modRevision, revision) : nil }
        (wentBackAt, wentBackTo) = (clock.now().boot, noticed ?? revision)
        recovery = Recovery(sending: sending, former: member)
    }

    /// Until all of it has succeeded.
    func recover() async throws(StoreError) {
        guard let recovery else {
            if removesEnded() { try await removeEndedAgain() }
            return
        }
        // Before other changes bring etcd to the revision that another host knows.
        if !recovery.isMarked { try await tryToMark() }
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

    /// If etcd has no space, or this host may not write the mark, the rest of the recovery continues: it may only
    /// remove records. Hosts that cannot notice the restore by themselves then do not notice it, or only once there is
    /// space again.
    private func tryToMark() async throws(StoreError) {
        do throws(StoreError) {
            try await markHistory()
        } catch .cluster(.noSpace) {
            // The state and the fault are reported.
            isMarkDue = true
        } catch .cluster(.denied) {
            // The state and the fault are reported here, too.
        }
        recovery?.isMarked = true
    }

    /// Writes the mark if no other host has done that yet.
    private func markHistory() async throws(StoreError) {
        let place = places.history
        var found = try await read(place)
        var isNew = history.isNew(found)
        // Intents that were noted since are not outdated.
        if let found, isNew { wentBackTo = wentBackTo.map { min($0, found.modRevision) } }
        // Even if etcd refuses a new value: otherwise every check would take this one for the mark of another host.
        history.accept(found)
        for _ in 1...EtcdLimits.writeAttempts where !isNew {
            let value = Array(String(random(), radix: 36).utf8)
            let outcome = try await transaction(
                .put(
                    value, to: place, if: [.changed(key: place, at: found?.modRevision ?? 0)],
                    otherwiseReading: [place]))
            found =
                outcome.succeeded
                ? EtcdEntry(key: place, value: value, modRevision: outcome.header.revision) : outcome.entries[place]
            isNew = history.isNew(found)
            history.accept(found)
        }
        isMarkDue = false
    }

    /// Whether another host has noticed that etcd went back, and this one has not.
    func isNoticedElsewhere(_ mark: EtcdEntry?) -> Bool {
        // Otherwise this host is about to read that value.
        recovery?.isMarked != false && history.isOther(mark)
    }

    /// The record of the cluster and the mark of its history, in one request.
    func readMarked() async throws(StoreError) -> (cluster: EtcdEntry?, mark: EtcdEntry?) {
        let answer = try await call(.range(places.cluster, end: places.historyEnd))
        let entries = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }.entries
        let mark = entries.first { $0.key == places.history }
        if !history.isOther(mark) { markReadAt = clock.now().boot }
        return (entries.first { $0.key == places.cluster }, mark)
    }

    /// The revision that etcd had when another host noticed the restore. That host writes the mark first.
    /// - Returns: `nil` if no host has noticed it, or if this host has not read the mark for too long: it may have
    ///   missed sign-outs that other hosts no longer repeat.
    func revision(before mark: EtcdEntry?) -> Int64? {
        guard let mark, history.isNew(mark), let markReadAt,
            clock.now().boot - markReadAt <= EtcdLimits.longestSilence
        else { return nil }
        return mark.modRevision - 1
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

    /// Whether sessions that this host has seen end are removed again if others write them.
    func removesEnded() -> Bool {
        wentBackAt.map { clock.now().boot - $0 < EtcdLimits.removing } ?? false
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
