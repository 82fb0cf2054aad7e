import AuthConcurrency
import AuthModel
import AuthWire

/// After etcd went back to an earlier state, as with a restored backup: what this host knows to be newer counts. Leases, holds
/// and intents that etcd has then are those of the time of the backup.
extension EtcdStore {
    /// - Parameters:
    ///   - revision: of etcd, when this host has read everything.
    ///   - mark: what etcd had at ``EtcdPlaces/history`` then.
    func noteWentBack(_ revision: Int64, _ mark: EtcdEntry? = nil) {
        note(.wentBack)
        restores.begin(
            at: clock.bootInstant, awake: now(), revision: revision, mark: mark, in: view.state.clusterID, holds: holds,
            lease: lastLease, former: member)
        reported.wentBack()
        // Revisions before that are those of another history.
        (holds, overtaken, unfinished) = ([:], [], [:])
        ownIntents = ownIntents.filter { isSending($0.key) }
    }

    /// Until all of it has succeeded.
    func recover() async throws(StoreError) {
        guard let recovery = restores.recovery else {
            if removesEnded { try await removeEndedAgain() }
            return
        }
        // Before other changes bring etcd to the revision that another host knows.
        if !recovery.isMarked { try await tryToMark() }
        // The record of the cluster may be an older one, too, and others are sealed with its keys.
        if let former = recovery.former { _ = try await reopened(instead: former) }
        hasFormerSeals = true
        // A hold that is released meanwhile is not among them any more.
        while let (session, hold) = restores.recovery?.sending.first {
            try await noteAgain(session, hold)
            restores.settled(session)
        }
        try await removeEndedAgain()
        restores.end()
    }

    /// For a call that a user waits for: if it fails because everything has to be read again, it is repeated after that.
    /// - Throws: the error of the call if that takes longer than ``EtcdLimits/call``.
    func onceReadAgain<Value>(_ work: () async throws(StoreError) -> Value) async throws(StoreError) -> Value {
        let deadline = now() + EtcdLimits.call
        while true {
            do throws(StoreError) {
                return try await work()
            } catch {
                let time = now().duration(to: deadline)
                guard error == .cluster(.wentBack), time > .zero, await isReadAgain(within: time) else { throw error }
            }
        }
    }

    private func isReadAgain(within time: Duration) async -> Bool {
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                try? await self.pause(time)
                return false
            }
            group.addTask { await self.isToReadAgain.wait { !$0 } }
            let isRead = await group.next() ?? false
            group.cancelAll()
            return isRead
        }
    }

    /// If etcd refuses the mark, the recovery continues, because what is left may be removals only. Hosts that cannot
    /// notice the restore by themselves then do not notice it, or only once there is space again.
    private func tryToMark() async throws(StoreError) {
        var isDue = false
        do throws(StoreError) {
            _ = try await markHistory()
        } catch .cluster(let fault) where fault.isRefusal {
            isDue = fault == .noSpace
            // The alarm of etcd is a fault of the whole store.
            if isDue { failure(.cluster(fault)) } else { reportRefusal(fault) }
        }
        restores.marked(isDue: isDue)
    }

    /// Writes the mark that is due. If etcd accepts it, other hosts notice the restore now, so everything is read
    /// again, and sign-outs are repeated once more.
    func writeDueMark() async {
        guard restores.isMarkDue, present == nil else { return }
        do throws(StoreError) {
            if let mark = try await markHistory() { restores.wrote(mark) }
            readAgain()
        } catch .cluster(let fault) where fault.isRefusal {
            reportRefusal(fault)
        } catch {
            // The next check tries again.
        }
    }

    private func reportRefusal(_ fault: ClusterFault) {
        if restores.reportsRefusal() { note(.markRefused(reason: fault.message)) }
    }

    /// A refusal of the mark is not a fault of the store.
    private func sendMark(_ request: EtcdRequest) async throws(StoreError) -> EtcdTransaction {
        do throws(ClusterFault) {
            return try EtcdTransaction(try await client.call(request))
        } catch {
            throw .cluster(error)
        }
    }

    private func newMark(in cluster: String) -> [UInt8] { EtcdHistory.mark(random(), in: cluster) }

    /// Writes the mark if no other host has done that yet.
    /// - Returns: what etcd has then.
    private func markHistory() async throws(StoreError) -> EtcdEntry? {
        let place = places.history
        let answer = try await call(.range(place))
        let range = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }
        let clusterID = range.header.clusterID
        var found = range.entries.first { $0.key == place }
        var isMissing = restores.accept(found, in: clusterID)
        for _ in 1...EtcdLimits.writeAttempts where isMissing {
            let value = newMark(in: clusterID)
            let outcome = try await sendMark(
                .put(
                    value, to: place, if: [.changed(key: place, at: found?.modRevision ?? 0)],
                    otherwiseReading: [place]))
            found =
                outcome.succeeded
                ? EtcdEntry(key: place, value: value, modRevision: outcome.header.revision) : outcome.entries[place]
            isMissing = restores.accept(found, in: outcome.header.clusterID)
        }
        return found
    }

    /// Gives back a hold under which nothing was sent. If it has shown that etcd went back, the mark is written in the same
    /// transaction, so that the next host that holds the session sees it: others may have sent these tokens. An intent
    /// that replaces one of another host stays, so that the next one still waits.
    /// - Parameters:
    ///   - revision: the change of the holder key that the hold is.
    ///   - isNoted: whether the same transaction has created the intent.
    ///   - outcome: what etcd had when the hold began.
    func giveBack(
        _ session: SessionName, at revision: Int64, isNoted: Bool, after outcome: EtcdTransaction
    ) async throws(StoreError) {
        let (mark, clusterID) = (outcome.entries[places.history], outcome.header.clusterID)
        let (holder, intent, history) = (places.holder(session), places.intent(session), places.history)
        let conditions: [EtcdRequest.Condition] =
            [.changed(key: holder, at: revision)] + (isNoted ? [.changed(key: intent, at: revision)] : [])
        let deletions: [EtcdRequest.Operation] = [.delete(holder)] + (isNoted ? [.delete(intent)] : [])
        if restores.needsMark(insteadOf: mark, in: clusterID, isToReadAgain: mustReadAgain) {
            let value = newMark(in: clusterID)
            do throws(StoreError) {
                let outcome = try await sendMark(
                    .transaction(
                        conditions + [.changed(key: history, at: mark?.modRevision ?? 0)],
                        then: deletions + [.put(value, to: history)], otherwiseReading: []))
                guard !outcome.succeeded else {
                    return restores.wrote(EtcdEntry(key: history, value: value, modRevision: outcome.header.revision))
                }
                // Another host has written the mark, or the hold has ended.
            } catch .cluster(let fault) where fault.isRefusal {
                // The hold is given back without the mark. The recovery reports the refusal.
            }
        }
        _ = try await transaction(.transaction(conditions, then: deletions, otherwiseReading: []))
    }

    /// The record of the cluster and the mark of its history, in one request.
    func readMarked() async throws(StoreError) -> (cluster: EtcdEntry?, mark: EtcdEntry?) {
        // This process may be stopped before it gets the response.
        let sentAt = clock.bootInstant
        let answer = try await call(.range(places.cluster, end: places.historyEnd))
        let entries = try cluster { () throws(ClusterFault) in try EtcdRange(answer) }.entries
        let mark = entries.first { $0.key == places.history }
        restores.checked(mark, at: sentAt)
        return (entries.first { $0.key == places.cluster }, mark)
    }

    /// Whether sessions that this host has seen end are removed again if others write them.
    var removesEnded: Bool { restores.removesEnded(at: now()) }

    func removeEndedAgain() async throws(StoreError) {
        for session in view.endedAgain { try await removeAgain(session) }
    }

    /// Holds under which this host may have sent tokens, and whose records existed when they began.
    var sentHolds: [SessionName: Int64] {
        holds.filter { $0.value.intentRevision != nil && $0.value.version != nil }.mapValues(\.revision)
    }

    /// Whether a request under a hold from before may be on its way to the provider.
    private func isSending(_ session: SessionName) -> Bool { restores.recovery?.sending[session] != nil }

    /// A hold ends that etcd does not have any more.
    func releaseAfterRestore(_ session: SessionName, leaving end: HoldOutcome.FormerHold) {
        guard isSending(session) else { return }
        ownIntents[session]?.end(end)
        if end == .answered { restores.settled(session) }
    }

    /// The request of this host may be on its way to the provider: others learn it again, and its result may be written.
    private func noteAgain(_ session: SessionName, _ hold: Hold) async throws(StoreError) {
        let intent = try await read(places.intent(session))
        guard let id = ownIntents[session]?.lastID else { return }
        // Another host may be about to send these tokens again. A host that has the session but no intent still waits.
        let isOfBackup = restores.isOutdated(intent)
        // The response to an earlier attempt was lost.
        let isNoted = intent.flatMap { RenewalIntent($0.value) }?.id == id
        guard isOfBackup || isNoted else { return }
        let outcome = try await transaction(
            .transaction(
                [.changed(key: places.intent(session), at: intent?.modRevision ?? 0)],
                then: [.put(RenewalIntent(hold.noted, id: id).bytes, to: places.intent(session))],
                otherwiseReading: []))
        guard outcome.succeeded, holds[session] == nil else { return }
        guard isSending(session) else {
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

    /// It was signed out of after the backup was made. A host that was removed may have written it since.
    private func removeAgain(_ session: SessionName) async throws(StoreError) {
        guard let entry = try await read(places.session(session)),
            let found = try await unlessDamaged({ () throws(StoreError) in try await unsealed(entry) }),
            let record = try? SessionRecord(decoding: found.content), view.isOutdated(record.signIn, of: session)
        else { return }
        var lease: Int64?
        _ = try await signOut(of: session, in: entry, leaving: &lease)
    }
}
