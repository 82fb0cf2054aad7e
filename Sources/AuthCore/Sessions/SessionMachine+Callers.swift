internal import AuthWire

/// What callers ask of a session.
extension SessionMachine {
    mutating func tokenWanted(
        _ caller: CallerID, _ minValid: Duration?, _ now: Moment, _ actions: inout [SessionAction]
    ) {
        if let no = refusal(now) { return actions.append(.answer(caller, .failure(no))) }
        if isLive(now), record.tokens.isSuspect, canRenew, flight != nil || mayRenew(now) {
            // Perhaps the provider has revoked it. If the renewal fails, it is still the best there is.
        } else if isLive(now) {
            let wanted = minValid ?? RenewalPolicy.defaultMinValid(life: life)
            let enough = end.map { $0 - now.boot >= wanted } ?? true
            let couldBeBetter = !enough && !isYoung(now) && (flight != nil || mayRenew(now))
            if couldBeBetter { takeOff(&actions) }
            // Only who asks for more life than there is waits for it.
            guard couldBeBetter, minValid != nil else {
                return actions.append(.answer(caller, .token(tokenResult)))
            }
        } else if flight == nil, !mayRenewForCaller(now) {
            return actions.append(.answer(caller, .failure(failureUntilNextTry(now))))
        }
        waiters[caller] = .token
        takeOff(&actions)
    }

    /// A person's wish: it does not wait for the end of a back-off, but for a provider that wants to be left alone.
    mutating func renewalWanted(_ caller: CallerID, _ now: Moment, _ actions: inout [SessionAction]) {
        if let no = refusal(now) { return actions.append(.answer(caller, .failure(no))) }
        guard flight != nil || canRenew else {
            return actions.append(.answer(caller, .failure(.cannotRenew(record.provider))))
        }
        if flight == nil, isHeld(now) {
            return actions.append(.answer(caller, .failure(failureUntilNextTry(now))))
        }
        if flight == nil, let barrier { return actions.append(.answer(caller, .failure(barrier))) }
        waiters[caller] = .renewal
        takeOff(&actions)
    }

    mutating func rejected(
        _ caller: CallerID, _ token: Secret, _ now: Moment, _ actions: inout [SessionAction]
    ) {
        if let no = refusal(now) { return actions.append(.answer(caller, .failure(no))) }
        if rejectAimed(token, now) { return actions.append(.answer(caller, .done)) }
        // An older token: the one in use stands.
        guard token == record.tokens.accessToken else { return actions.append(.answer(caller, .done)) }
        guard !isYoung(now) || record.tokens.isSuspect else { return rejectedYoung(caller, now, &actions) }
        rejected = true
        lastRejection = now.boot
        if let no = refusal(now) { return actions.append(.answer(caller, .failure(no))) }
        guard flight != nil || mayRenewForCaller(now) else {
            return actions.append(.answer(caller, .failure(failureUntilNextTry(now))))
        }
        waiters[caller] = .renewal
        takeOff(&actions)
    }

    /// A 401 on a token that has just come. It was revoked elsewhere, or it is refused for a reason that no renewal
    /// changes: so there is one renewal, and the token stays in use if that fails. The next such 401 soon after it is the
    /// second kind, or each call to such an endpoint would renew the session.
    private mutating func rejectedYoung(_ caller: CallerID, _ now: Moment, _ actions: inout [SessionAction]) {
        let isRenewing = flight.map { $0.aim == nil } ?? false
        let wasLately = lastRejection.map { now.boot - $0 < RenewalPolicy.tooYoungToReject } ?? false
        guard isRenewing || (mayRenew(now) && !wasLately) else { return actions.append(.answer(caller, .done)) }
        if !isRenewing { lastRejection = now.boot }
        waiters[caller] = .renewal
        takeOff(&actions)
    }

    mutating func signOut(_ caller: CallerID, revokes: Bool, _ actions: inout [SessionAction]) {
        guard !isGone else { return actions.append(.answer(caller, .done)) }
        for want in [Want.token, .renewal, .writing] + waiters.values.filter(\.isAimed) {
            answer(want, .failure(.notSignedIn(record.session, at: record.provider)), &actions)
        }
        forgetAims()
        if !signedOut {
            signedOutTokens = latest.tokens.areSame(as: record.tokens) ? [record] : [latest, record]
        }
        if let flight, case .asking = flight.stage { unwanted[flight.id] = (record, false) }
        if revokes {
            for (id, flight) in unwanted where flight.asked.signIn == record.signIn {
                unwanted[id]?.isRevoked = true
            }
        }
        signedOut = true
        flight = nil
        waiters[caller] = .signOut
        // Settling begins the removal, once a write under way has ended: or that would put it back.
        writer.tryAgain()
    }

    mutating func writeWanted(_ caller: CallerID, _ actions: inout [SessionAction]) {
        guard !signedOut, writer.isBehind(latestVersion) else {
            return actions.append(.answer(caller, .done))
        }
        waiters[caller] = .writing
        writer.tryAgain()
    }

    /// Before another account takes the session: what a renewal in progress brings for this one is revoked.
    /// - Returns: the tokens that are to be revoked, the newest first.
    package mutating func abandonTokens() -> [SessionRecord] {
        guard !signedOut else { return [] }
        if let flight, case .asking = flight.stage { unwanted[flight.id] = (record, true) }
        return latest.tokens.areSame(as: record.tokens) ? [record] : [latest, record]
    }

    /// A new sign-in to this session: what came before it is over.
    mutating func replace(
        with new: SessionRecord, sentAt: Moment, _ now: Moment, _ actions: inout [SessionAction]
    ) {
        guard !isGone else { return }
        let old = latest
        forgetAims()
        // What they signed out is gone; a removal on its way ends before the new session is written.
        answer(.signOut, .done, &actions)
        flight = nil
        signedOut = false
        originChange = nil
        record = new
        record.raise(above: old)
        if new.defaultSince == nil {
            record.defaultSince = old.defaultSince
            record.isDefaultImplied = old.isDefaultImplied
        }
        readAt = nil
        // Whatever the store holds is of an earlier one.
        wasKept = false
        mayBeKept = false
        comparison = .done
        absentSince = nil
        takeAsFresh(sentAt: sentAt, now: now)
        writer.tryAgain()
        answerRenewed(now, &actions)
    }

    mutating func deleted(_ actions: inout [SessionAction]) {
        writer.deleteEnded()
        guard signedOut else { return writer.forgetWritten() }
        answer(.signOut, .done, &actions)
        isGone = true
        actions.append(.forget)
    }

    mutating func deleteFailed(_ error: StoreError, _ now: Moment, _ actions: inout [SessionAction]) {
        writer.deleteFailed(error, at: now.boot, using: &random)
        // The new sign-in that waited for the removal of the former one waits for nothing else; whether that was carried
        // out nobody knows.
        guard signedOut else {
            writer.forgetWritten()
            return writer.tryAgain()
        }
        answer(.signOut, .failure(.notRemoved(AgentError(error))), &actions)
    }

    /// Nothing is sent to a place that the session was not signed in at; nothing is deleted because of that either.
    mutating func originsChecked(_ change: AgentError?, _ actions: inout [SessionAction]) {
        originChange = change
        guard let change, !signedOut else { return }
        for want in Set(waiters.values) where want != .writing && want != .signOut {
            answer(want, .failure(change), &actions)
        }
    }

    // MARK: Answers

    /// Whoever waited for a renewal gets what it brought.
    mutating func answerRenewed(_ now: Moment, _ actions: inout [SessionAction]) {
        if isLive(now) { answer(.token, .token(tokenResult), &actions) }
        answer(.renewal, .done, &actions)
    }

    mutating func answerUnrenewed(_ error: AgentError, _ now: Moment, _ actions: inout [SessionAction]) {
        answer(.renewal, .failure(error), &actions)
        answer(.token, isLive(now) ? .token(tokenResult) : .failure(error), &actions)
    }

    mutating func answer(_ want: Want, _ answer: SessionAnswer, _ actions: inout [SessionAction]) {
        let callers = waiters.filter { $0.value == want }.keys.sorted { $0.number < $1.number }
        for caller in callers {
            waiters[caller] = nil
            actions.append(.answer(caller, answer))
        }
    }

    /// The no that no renewal can change.
    func refusal(_ now: Moment) -> AgentError? {
        if signedOut { return .notSignedIn(record.session, at: record.provider) }
        return originChange ?? verdict ?? (isOver(now) ? endedWithoutRenewal() : nil)
    }
}
