internal import AuthModel
internal import AuthWire

/// Requests of callers.
extension SessionMachine {
    mutating func tokenRequested(_ caller: CallerID, _ minValid: Duration?, _ turn: inout SessionTurn) {
        if let refusal = refusal(turn.now) { return turn.reply(.failure(refusal), to: caller) }
        if isLive(turn.now), record.tokens.isSuspect, canRenew, currentRequest != nil || mayRenew(turn.now) {
            // The provider may have revoked it. If the renewal fails, it is still the best token.
        } else if isLive(turn.now) {
            let couldBeBetter =
                !life.isEnough(minValid, at: turn.now.boot) && !life.isTooYoungToReject(at: turn.now.boot)
                && (currentRequest != nil || mayRenew(turn.now))
            if couldBeBetter { startRequest(&turn) }
            // Only callers that require a longer lifetime wait for it.
            guard couldBeBetter, minValid != nil else {
                return turn.reply(.token(tokenResult), to: caller)
            }
        } else if currentRequest == nil, !mayRenewForCaller(turn.now) {
            return turn.reply(.failure(failureUntilNextTry(turn.now)), to: caller)
        }
        waiters[caller] = .token
        startRequest(&turn)
    }

    /// A request of the user: it does not wait for the end of a back-off, but for a provider that asked clients to wait.
    mutating func renewalRequested(_ caller: CallerID, _ turn: inout SessionTurn) {
        if let refusal = refusal(turn.now) { return turn.reply(.failure(refusal), to: caller) }
        guard currentRequest != nil || canRenew else {
            let isShared = record.resource?.sharedSession != nil
            return turn.reply(.failure(isShared ? endedWithoutRenewal() : .cannotRenew(record.provider)), to: caller)
        }
        if currentRequest == nil, isPaused(turn.now) {
            return turn.reply(.failure(failureUntilNextTry(turn.now)), to: caller)
        }
        if currentRequest == nil, let networkError { return turn.reply(.failure(networkError), to: caller) }
        waiters[caller] = .renewal
        startRequest(&turn)
    }

    mutating func rejected(_ caller: CallerID, _ token: Secret, isFinal: Bool, _ turn: inout SessionTurn) {
        if let refusal = refusal(turn.now) { return turn.reply(.failure(refusal), to: caller) }
        rejectTargetedToken(token, turn.now)
        // An older token, or one for a target only: the current one stays. A provider may issue the
        // current token for a target, too.
        guard token == record.tokens.accessToken else { return turn.reply(.done, to: caller) }
        let isCredible = isFinal || record.tokens.isSuspect
        guard isCredible || !life.isTooYoungToReject(at: turn.now.boot) else { return rejectedYoung(caller, &turn) }
        // Both the token and its renewal have been refused: the provider is asked again at once, and that answer
        // decides.
        if isRefusedForNow { resetBackoff() }
        rejectedToken = token
        lastRejection = turn.now.boot
        if let refusal = refusal(turn.now) { return turn.reply(.failure(refusal), to: caller) }
        guard currentRequest != nil || mayRenewForCaller(turn.now) else {
            return turn.reply(.failure(failureUntilNextTry(turn.now)), to: caller)
        }
        waiters[caller] = .renewal
        startRequest(&turn)
    }

    /// A 401 for a new token: it was revoked elsewhere, or it is refused for a reason that no renewal changes. Therefore
    /// there is one renewal, and the token stays in use if that fails, even if it is refused. The next such 401 soon after
    /// is the second kind; otherwise each call of such an endpoint would renew the session.
    private mutating func rejectedYoung(_ caller: CallerID, _ turn: inout SessionTurn) {
        let isRenewing = currentRequest != nil && currentRequest?.target == nil
        let wasLately = lastRejection.map { turn.now.boot - $0 < RenewalPolicy.minRejectAge } ?? false
        guard isRenewing || (mayRenew(turn.now) && !wasLately) else { return turn.reply(.done, to: caller) }
        if !isRenewing { lastRejection = turn.now.boot }
        waiters[caller] = .renewal
        startRequest(&turn)
    }

    mutating func signOut(_ caller: CallerID, revokes: Bool, _ turn: inout SessionTurn) {
        guard !isGone else { return turn.reply(.done, to: caller) }
        answer(.failure(notSignedIn), &turn) { $0 != .signOut && $0 != .requestsEnd }
        if !signedOut { (signedOutTokens, signedOutTargets) = (issuedTokens, issuedTargets(turn.now)) }
        discardTargetedTokens()
        expectLateResult(isRevoked: false)
        if revokes {
            for (id, currentRequest) in lateRequests where currentRequest.asked.signIn == record.signIn {
                lateRequests[id]?.isRevoked = true
            }
        }
        signedOut = true
        currentRequest = nil
        waiters[caller] = .signOut
        // `settle` begins the removal once a write in progress has ended; otherwise that would restore the record.
        writer.tryAgain()
    }

    mutating func writeRequested(_ caller: CallerID, _ turn: inout SessionTurn) {
        guard !signedOut, writer.isBehind(latestVersion) else { return turn.reply(.done, to: caller) }
        waiters[caller] = .writing(latestVersion)
        writer.tryAgain()
    }

    /// Before another account takes over the session: the tokens of a renewal in progress will be revoked.
    /// - Returns: the tokens to revoke, the newest first.
    mutating func abandonTokens(_ now: Moment) -> [SessionRecord] {
        guard !signedOut else { return [] }
        expectLateResult(isRevoked: true)
        return issuedTokens + issuedTargets(now)
    }

    /// The current tokens and others that the provider has issued, the newest first.
    private var issuedTokens: [SessionRecord] {
        latest.tokens.areSame(as: record.tokens) ? [record] : [latest, record]
    }

    /// The session no longer waits for a request that was sent.
    mutating func expectLateResult(isRevoked: Bool) {
        guard let currentRequest, case .requesting = currentRequest.stage else { return }
        lateRequests[currentRequest.id] = (record, isRevoked)
    }

    /// A new sign-in to this session: everything before is over.
    mutating func replace(with new: SessionRecord, sentAt: Moment, _ turn: inout SessionTurn) {
        guard !isGone else { return }
        let old = latest
        discardTargetedTokens()
        // The former session is gone; a removal in progress ends before the new session is written.
        answer(.signOut, .done, &turn)
        resumeRequest(of: new.signIn)
        signedOut = false
        originChange = nil
        record = new
        record.raise(above: old)
        if new.defaultSince == nil {
            record.defaultSince = old.defaultSince
            record.isDefaultImplied = old.isDefaultImplied
        }
        readAt = nil
        // The stored record is an earlier one.
        wasStored = false
        mayBeStored = false
        comparison = .done
        mayBeGone = false
        absentSince = nil
        rejectedToken = nil
        applyNewTokens(sentAt: sentAt, now: turn.now)
        writer.tryAgain()
        answerRenewed(&turn)
    }

    mutating func deleted(_ removed: SessionRecord?, _ turn: inout SessionTurn) {
        writer.ended()
        guard signedOut else { return writer.forgetWritten() }
        // Another host had renewed it a moment before.
        if let removed, !signedOutTokens.contains(where: { $0.tokens.areSame(as: removed.tokens) }) {
            signedOutTokens.insert(removed, at: 0)
        }
        answer(.signOut, .done, &turn)
        isGone = true
        turn.act(.forget)
    }

    mutating func deleteFailed(_ error: StoreError, _ turn: inout SessionTurn) {
        writer.failed(error, at: turn.now.boot, using: &random)
        // The new sign-in waited for the removal of the former one and need not wait any longer; whether that was carried out
        // is unknown.
        guard signedOut else {
            writer.forgetWritten()
            return writer.tryAgain()
        }
        answer(.signOut, .failure(.notRemoved(AgentError(error))), &turn)
    }

    /// The mark is later than those that are known here, even if they have dates of another host whose clock is ahead.
    mutating func chooseAsDefault(after former: WallTime?, at now: WallTime) {
        let known = [former, record.defaultSince].compactMap(\.self).map { $0 + .milliseconds(1) }
        markDefault(since: ([now] + known).max(), isImplied: false)
    }

    mutating func markDefault(since date: WallTime?, isImplied: Bool) {
        update {
            $0.defaultSince = date
            $0.isDefaultImplied = isImplied
        }
    }

    /// Nothing is sent to an origin where the session was not signed in, and nothing is deleted for it either.
    mutating func originsChecked(_ change: AgentError?, _ turn: inout SessionTurn) {
        originChange = change
        guard let change, !signedOut else { return }
        answer(.failure(change), &turn) {
            switch $0 {
            case .writing, .signOut: false
            case .token, .renewal, .targeted, .requestsEnd: true
            }
        }
    }

    // MARK: Answers

    /// Answers the callers that waited for a renewal.
    mutating func answerRenewed(_ turn: inout SessionTurn) {
        if isLive(turn.now) { answer(.token, .token(tokenResult), &turn) }
        answer(.renewal, .done, &turn)
    }

    mutating func answerUnrenewed(_ error: AgentError, _ turn: inout SessionTurn) {
        answer(.renewal, .failure(error), &turn)
        answer(.token, isLive(turn.now) ? .token(tokenResult) : .failure(error), &turn)
    }

    mutating func answer(_ want: Wait, _ answer: SessionReply, _ turn: inout SessionTurn) {
        self.answer(answer, &turn) { $0 == want }
    }

    /// Answers the callers that wait for these versions to be written.
    mutating func answerWrites(_ turn: inout SessionTurn, where isAnswered: (RecordVersion) -> Bool) {
        answer(.done, &turn) { if case .writing(let version) = $0 { isAnswered(version) } else { false } }
    }

    /// In the order in which the callers came.
    mutating func answer(_ answer: SessionReply, _ turn: inout SessionTurn, where isAnswered: (Wait) -> Bool) {
        guard !waiters.isEmpty else { return }
        for caller in waiters.filter({ isAnswered($0.value) }).keys.sorted(by: { $0.number < $1.number }) {
            waiters[caller] = nil
            turn.reply(answer, to: caller)
        }
        // Frees the dictionary: an idle session keeps no capacity for waiters.
        if waiters.isEmpty { waiters = [:] }
    }

    var notSignedIn: AgentError { .notSignedIn(record.session, at: record.provider) }

    /// The refusal that no renewal can change.
    func refusal(_ now: Moment) -> AgentError? {
        if signedOut { return notSignedIn }
        return originChange ?? finalRefusal ?? (isOver(now) ? endedWithoutRenewal() : nil)
    }
}
