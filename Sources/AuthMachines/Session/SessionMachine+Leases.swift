internal import AuthModel
internal import AuthWire

/// A session that several hosts share: one of them renews it, and the others get its tokens (Docs/decisions/cluster.md).
extension SessionMachine {
    /// The longest first pause between two attempts to hold a session, unless the store reports a change.
    private static let holdPause = Duration.seconds(5)
    /// The longest pause while etcd refuses them: not each of its faults ends with a report.
    private static let longestHoldPause = Duration.seconds(60)

    mutating func shared(_ isShared: Bool, _ now: Moment) {
        guard isShared != sharesRenewals else { return }
        sharesRenewals = isShared
        if readAt != nil, pending == nil { readDatesAgain(now) }
    }

    /// This host holds the session now, and another one has renewed it, or has signed out, since the request began.
    mutating func overtaken(_ id: RenewalRequestID, _ stored: SessionRecord?, _ turn: inout SessionTurn) {
        lateRequests[id] = nil
        holdRefusals = 0
        guard let currentRequest, currentRequest.id == id, case .requesting = currentRequest.stage else {
            replacedRequests = replacedRequests.filter { $0.value.id != id }
            return
        }
        // The comparison shows whether the record was deleted. Until then nothing is sent.
        guard let stored else {
            self.currentRequest = nil
            mayBeGone = true
            return comparison = .requested
        }
        guard stored.signIn == record.signIn || wasStored else { return signInIsUnwritten(before: stored, &turn) }
        self.currentRequest = nil
        reconcile(stored, &turn)
        answerOrRenew(&turn)
    }

    /// The store has an earlier sign-in, and has not accepted this one. Until it does, each attempt to hold the session
    /// would find the same.
    private mutating func signInIsUnwritten(before stored: SessionRecord, _ turn: inout SessionTurn) {
        reconcile(stored, &turn)
        // After the next write.
        let pause = random.duration(in: Self.holdPause / 2...Self.holdPause)
        storeDidNotAccept(
            AgentError(writer.writeError ?? .cluster(.contended)), retryAt: (writer.retryAt ?? turn.now.boot) + pause,
            &turn)
    }

    /// The provider got no request.
    mutating func notSent(_ id: RenewalRequestID, _ error: StoreError, _ turn: inout SessionTurn) {
        lateRequests[id] = nil
        guard let currentRequest, currentRequest.id == id, case .requesting = currentRequest.stage else {
            replacedRequests = replacedRequests.filter { $0.value.id != id }
            return
        }
        // Another host has renewed it while this one waited.
        if currentRequest.isOutdated, isLive(turn.now) {
            self.currentRequest = nil
            return answerRenewed(&turn)
        }
        var longest = Self.holdPause
        switch error {
        // It will end by itself, soon.
        case .cluster(.heldElsewhere), .cluster(.leaseLost): holdRefusals = 0
        default:
            longest = min(Self.longestHoldPause, longest * (1 << min(holdRefusals, 4)))
            holdRefusals += 1
        }
        let pause = random.duration(in: longest / 2...longest)
        storeDidNotAccept(AgentError(error), retryAt: turn.now.boot + pause, &turn)
    }

    /// The stored tokens are the later ones, whatever the dates are: they were requested with what this host's request had
    /// left, and hosts' clocks differ.
    mutating func saveOvertaken(_ version: RecordVersion, _ stored: SessionRecord, _ turn: inout SessionTurn) {
        let dropped = currentRequest
        // The write may also be an earlier one, begun before the response to that request arrived.
        if let pending, version.hasTokens(of: pending.version) || stored.isLaterResult(than: pending) {
            currentRequest = nil
        }
        saveRefused(version, stored, &turn)
        guard currentRequest == nil, let dropped, case .saving = dropped.stage else { return }
        // What was for the former sign-in is not for another one, which may be another account's.
        guard version.signIn == record.signIn else { return }
        if let target = dropped.target, let outcome = dropped.outcome {
            return targetedRequestEnded(target, outcome, &turn)
        }
        answerOrRenew(&turn)
    }

    /// The record is compared now: a sign-out on another host takes effect here within a second.
    mutating func storeChanged() {
        comparison = .requested
        writer.storeChanged()
    }

    /// Each host measures how long a shared token lives: from its own request, or from the remaining lifetime when it
    /// was written. A clock that is set changes only the dates.
    mutating func sharedClockSet(_ now: Moment) {
        guard case .saving(let saved, _) = currentRequest?.stage else { return redate(now) }
        // The remaining lifetimes were computed when this write began. The dates are corrected after it.
        if writer.isSaving, writing == saved.wrappedValue.tokens.pair { return }
        redateUnwritten(now)
    }

    /// For a response whose write has failed or is to begin: the clock may have been set since its request.
    mutating func redateUnwritten(_ now: Moment) {
        guard case .saving(var saved, let sentAt) = currentRequest?.stage else { return }
        let corrected = redated(&saved.wrappedValue, sentAt, now)
        currentRequest?.stage = .saving(saved, sentAt: corrected)
    }

    /// Corrects the dates of a response that is not written yet. The write computes the remaining lifetimes for other
    /// hosts from these dates.
    /// - Returns: when its request was sent, by the present clock.
    func redated(_ pending: inout SessionRecord, _ sentAt: Moment, _ now: Moment) -> Moment {
        let corrected = Moment(boot: sentAt.boot, wall: now.date(of: sentAt.boot))
        let shift = corrected.wall - sentAt.wall
        // A response without dates has those of the record, which were corrected when the clock was set.
        guard sharesRenewals, currentRequest?.target == nil, pending.tokens.issuedAt != record.tokens.issuedAt,
            abs(shift.seconds) >= RenewalPolicy.noticeableShift.seconds
        else { return sentAt }
        // The lifetime of a refresh token that was not replaced began earlier.
        if let life = pending.tokens.refreshLife, life.issuedAt == pending.tokens.issuedAt {
            pending.tokens.refreshLife = TokenLife(
                issuedAt: life.issuedAt + shift, expiresAt: life.expiresAt + shift)
        }
        pending.tokens.issuedAt = pending.tokens.issuedAt + shift
        pending.tokens.expiresAt = pending.tokens.expiresAt.map { $0 + shift }
        return corrected
    }

    private mutating func answerOrRenew(_ turn: inout SessionTurn) {
        guard currentRequest == nil else { return }
        if isLive(turn.now) { answerRenewed(&turn) } else if !waiters.isEmpty { startRequest(&turn) }
    }
}
