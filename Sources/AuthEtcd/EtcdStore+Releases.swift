import AuthModel
import AuthWire

/// The end of holds. What could not be reported to etcd is reported when it can be reached again: until then the next host
/// waits for a request that this one has not sent.
extension EtcdStore {
    /// The end of a hold of this host.
    struct HoldEnd: Sendable {
        let hold: Hold
        let end: HoldOutcome.FormerHold
        /// The ID of the intent.
        let id: String?

        init(_ hold: Hold, _ end: HoldOutcome.FormerHold, id: String?) {
            (self.hold, self.end, self.id) = (hold, end, id)
        }
    }

    /// Ends a hold that this host lost before another one renewed the session. If the record is the result of this
    /// host's request, the request has ended, and the next host need not wait for it.
    func endOvertakenHold(of record: SessionRecord) {
        let session = record.session
        lostHold(of: session)
        overtaken.insert(session)
        if let hold = holds[session], hold.intentRevision != nil, !isBeingSent(record, under: hold) {
            ownIntents[session]?.end(.answered)
            unfinished[session] = HoldEnd(hold, .answered, id: nil)
        }
        holds[session] = nil
    }

    /// Each transaction names the change that it is about, and the mark, so it does nothing to a later hold or intent,
    /// even if that has the same revision in another history.
    func carryOut(_ release: HoldEnd, of session: SessionName) async throws(StoreError) {
        // It is unknown which history the hold belongs to. It ends with its lease.
        guard !mustReadAgain else { return }
        let (holder, intent, hold) = (places.holder(session), places.intent(session), release.hold)
        let left = remaining(after: release, of: session)
        let history = restores.history.conditions(at: places.history)
        var isDone = false
        if !hold.isLost {
            let conditions = [EtcdRequest.Condition.changed(key: holder, at: hold.revision)] + history
            isDone = try await transaction(
                .transaction(conditions, then: [.delete(holder)] + left, otherwiseReading: [])
            ).succeeded
        }
        // The lease has ended first. As long as nobody is about to send these tokens again, the intent is this host's.
        if !isDone, !left.isEmpty, let revision = hold.intentRevision {
            _ = try await transaction(
                .transaction([.changed(key: intent, at: revision)] + history, then: left, otherwiseReading: []))
        }
        if unfinished[session]?.hold.revision == hold.revision { unfinished[session] = nil }
    }

    /// What becomes of the intent.
    private func remaining(after release: HoldEnd, of session: SessionName) -> [EtcdRequest.Operation] {
        let intent = places.intent(session)
        guard release.hold.intentRevision != nil else { return [] }
        switch release.end {
        case .answered: return [.delete(intent)]
        case .unanswered:
            let left = RenewalIntent(release.hold.noted, id: release.id ?? "", isUnanswered: true)
            return [.put(left.bytes, to: intent)]
        case .abandoned: return []
        }
    }

    /// Repeats the releases that have failed.
    func repeatReleases() async {
        for (session, release) in unfinished {
            guard (try? await carryOut(release, of: session)) != nil else { return }
        }
    }
}
