package import AuthModel
internal import AuthWire

/// The one request of a session: its result and the consequences.
extension SessionMachine {
    mutating func requestEnded(
        _ id: RenewalRequestID, _ result: Result<Grant, ProviderFailure>, _ sentAt: Moment, _ turn: inout SessionTurn
    ) {
        holdRefusals = 0
        guard let currentRequest, currentRequest.id == id, case .requesting = currentRequest.stage else {
            replacedRequests = replacedRequests.filter { $0.value.id != id }
            return revoke(lateRequests.removeValue(forKey: id), result, &turn)
        }
        if case .failure(let failure) = result, failure.error.isOriginChange {
            self.currentRequest = nil
            return originsChecked(failure.error, &turn)
        }
        if let target = currentRequest.target {
            switch result {
            case .success(let grant): targetedTokenReceived(grant, at: target, sentAt, &turn)
            case .failure(.temporary(let error, let retryAfter)):
                targetedRequestEnded(target, .failure(error), retryAfter: retryAfter, &turn)
                rejectTargetedWaits(error, &turn)
                // Callers of the session's own renewal have waited as long as for one without a response.
                if error.kind == .timeout { answerUnrenewed(error, &turn) }
            case .failure(.final(let error)):
                targetedRequestEnded(target, .failure(.targetRefused(record, from: error)), &turn)
            case .failure(.refused(let error)): targetedRequestEnded(target, .failure(error), &turn)
            }
            return
        }
        if currentRequest.isOutdated, (try? result.get())?.accessToken == nil || isOvertaken(currentRequest) {
            self.currentRequest = nil
            if isLive(turn.now) {
                answerRenewed(&turn)
            } else if case .failure(.temporary(let error, let retryAfter)) = result {
                // It says nothing about the current tokens, but much about the provider: callers do not wait for a
                // second such response.
                failed(error, retryAfter: retryAfter, &turn)
            } else if case .failure(.final(let error)) = result {
                // The other writer may be first again, and callers would wait without end.
                outdatedRefusals += 1
                if outdatedRefusals >= Self.maxOutdatedRefusals || turn.now.boot - sentAt.boot >= Self.longRenewal {
                    failed(.notRenewed(record, from: error), retryAfter: nil, &turn)
                }
            }
            return
        }
        outdatedRefusals = 0
        switch result {
        case .success(let grant):
            // Invariant 2: adopted, and callers answered, when the store has replied; see `written`.
            var pending = record
            pending.apply(grant)
            if endedInstead(pending, sentAt, turn.now) {
                return failed(.endedOnArrival, retryAfter: nil, &turn)
            }
            let sentAt = redated(&pending, sentAt, turn.now)
            self.currentRequest?.stage = .saving(Shared(wrappedValue: pending), sentAt: sentAt)
            writer.tryAgain()
        case .failure(.final(let error)):
            self.currentRequest?.stage = .rereading(error, sentAt: sentAt)
            turn.act(.reread(id))
        case .failure(.refused(let error)):
            failed(error, retryAfter: nil, &turn)
        case .failure(.temporary(let error, let retryAfter)):
            failed(error, retryAfter: retryAfter, &turn)
            rejectTargetedWaits(error, &turn)
        }
    }

    /// Whether a renewal returned a token that has ended and cannot renew itself any more: the current one may still be able
    /// to.
    private func endedInstead(_ pending: SessionRecord, _ sentAt: Moment, _ now: Moment) -> Bool {
        let new = pending.tokens
        guard means == .liveToken, new.accessToken != record.tokens.accessToken, let end = new.expiresAt else {
            return false
        }
        return sentAt.deadline(for: new.issuedAt) + max(.zero, end - new.issuedAt) <= now.boot
    }

    /// Revokes tokens of a request that was in progress at a sign-out: no program has used them yet.
    private func revoke(
        _ request: (asked: SessionRecord, isRevoked: Bool)?, _ result: Result<Grant, ProviderFailure>,
        _ turn: inout SessionTurn
    ) {
        guard let request, request.isRevoked, case .success(let grant) = result else { return }
        var record = request.asked
        let former = record.tokens
        record.apply(grant)
        // If the record was moved to another store, a refresh token that was not replaced is still in use there.
        let isNew =
            endedElsewhere
            ? record.tokens.refreshToken != former.refreshToken : !record.tokens.areSame(as: former)
        if isNew { turn.act(.revoke(record)) }
    }

    /// Whether the current tokens come from a later renewal than the response to this request, which was sent before them.
    ///
    /// The generation alone does not show it: it is also raised to replace another program's sign-in in the store.
    func isOvertaken(_ currentRequest: RenewalRequest) -> Bool {
        record.generation > currentRequest.generation + 1 && record.tokens.pair != currentRequest.sent
    }

    /// How many refusals of tokens that another writer had replaced callers wait for, and how long one of them may take.
    private static let maxOutdatedRefusals = 2
    private static let longRenewal = Duration.seconds(22)

    /// The store has replied for a version, with or without success: what waited for it continues.
    mutating func written(_ version: RecordVersion, _ turn: inout SessionTurn) {
        guard !signedOut else { return }
        storeReplied(&turn)
        defer {
            let isEnded = writer.lastError != nil || !writer.isBehind(latestVersion)
            if !waiters.isEmpty { answerWrites(&turn) { [writer] in isEnded || !writer.isBehind($0) } }
        }
        guard case .saving(let saved, let sentAt) = currentRequest?.stage else { return }
        let pending = saved.wrappedValue
        // The reply to an earlier write says nothing about this one.
        guard version.signIn == pending.signIn, version.hasTokens(of: pending.version) else {
            return writer.tryAgain()
        }
        if let target = currentRequest?.target, let outcome = currentRequest?.outcome {
            recordRotation(from: record, to: pending)
            $record = saved
            targetedRequestEnded(target, outcome, &turn)
            return redate(turn.now)
        }
        currentRequest = nil
        if endedInstead(pending, sentAt, turn.now) {
            let former = record
            record = pending
            record.adoptTokens(from: former)
            // The store may have the new one.
            record.raiseTokens(above: pending)
            redate(turn.now)
            return failed(.endedOnArrival, retryAfter: nil, &turn)
        }
        recordRotation(from: record, to: pending)
        $record = saved
        if isRejected { rejectedToken = nil }
        readAt = nil
        correctedIssues = []
        applyLifetime(sentAt: sentAt, now: turn.now)
        redate(turn.now)
        guard isGood(turn.now) else {
            return failed(.endedOnArrival, retryAfter: nil, &turn)
        }
        resetBackoff()
        lastFailure = nil
        answerRenewed(&turn)
    }

    /// A failed try: plans the next one, and answers waiting callers.
    mutating func failed(_ error: AgentError, retryAfter: Duration?, _ turn: inout SessionTurn) {
        currentRequest = nil
        lastFailure = error
        let usual = backoff.next(retryAfter: retryAfter, using: &random)
        let wait = max(beforeEnd(usual, turn.now), min(retryAfter ?? .zero, Backoff.longestHold))
        plan = RenewalPlan(at: turn.now.boot + wait, now: turn.now)
        failedAt = turn.now.boot
        pausedUntil = retryAfter.map { turn.now.boot + min($0, Backoff.longestHold) }
        pause = RenewalPause(
            failures: backoff.failures, from: turn.now.wall, until: turn.now.wall + wait,
            isRequestedByProvider: retryAfter != nil)
        answerUnrenewed(error, &turn)
    }

    /// Continues the pause of the previous run.
    mutating func resume(_ pause: RenewalPause, _ now: Moment) {
        backoff = Backoff(failures: pause.failures)
        self.pause = pause
        let left = pause.left(at: now.wall)
        let plan = RenewalPlan(at: now.boot + (pause.isRequestedByProvider ? left : beforeEnd(left, now)), now: now)
        self.plan = plan
        failedAt = now.boot - max(.zero, now.wall - pause.from)
        // It is unknown how much of the pause the provider asked for.
        pausedUntil = pause.isRequestedByProvider ? plan.at : nil
    }

    /// Shortens the pause if the token itself authorizes its renewal, and ends soon.
    private mutating func beforeEnd(_ wait: Duration, _ now: Moment) -> Duration {
        guard means == .liveToken, isLive(now), let left = life.left(at: now.boot) else { return wait }
        return min(wait, RenewalPolicy.waitBeforeEnd(left: left, using: &random))
    }

    mutating func resetBackoff() {
        backoff.reset()
        pause = nil
        pausedUntil = nil
    }

    /// The provider asked clients to wait.
    func isPaused(_ now: Moment) -> Bool { pausedUntil.map { now.boot < $0 } ?? false }

    /// When a caller's request may begin a try despite the back-off: soon after the cause of a failure has gone, callers
    /// should not notice it any more.
    var nextTryForCallers: BootInstant? {
        guard let failedAt else { return pausedUntil }
        let next = failedAt + RenewalPolicy.callerSpacing
        return pausedUntil.map { max($0, next) } ?? next
    }

    /// Whether tokens that a renewal has brought are not in the store yet.
    package var hasUnwrittenTokens: Bool { !signedOut && writer.lacksTokens(of: latestVersion) }

    /// Whether the store has had this sign-in.
    package var isStored: Bool { wasStored }

    /// Whether a request that has waited for its turn is still wanted.
    package func isCurrent(_ id: RenewalRequestID) -> Bool { currentRequest?.id == id }

    mutating func networkChanged(to state: NetworkState, _ now: Moment) {
        let wasOnline = network == .online
        network = state
        guard state == .online, !wasOnline, !isPaused(now), !(isRefusedForNow && isLive(now)) else { return }
        // A network that comes and goes all the time must not cause requests all the time.
        guard lastFailure == nil || earlyTries.spend(at: now.boot) else { return }
        resetBackoff()
        if let plan, lastFailure != nil || plan.at <= now.boot || !isLive(now) { planSoon(now) }
    }

    mutating func planSoon(_ now: Moment) {
        let spread = RenewalPolicy.recoverySpread(left: isLive(now) ? life.left(at: now.boot) : .zero)
        plan = RenewalPlan(at: now.boot + random.duration(in: spread), now: now)
    }

    /// Earlier results do not apply to new tokens.
    ///
    /// - Parameter former: when their access token became valid, if it is not new.
    mutating func applyNewTokens(sentAt: Moment, former: BootInstant? = nil, now: Moment) {
        finalRefusal = nil
        lastFailure = nil
        storeProbeFailed = false
        if former == nil { correctedIssues = [] }
        resetBackoff()
        applyLifetime(sentAt: sentAt, former: former, now: now)
    }

    /// A lifetime that was measured in this run stays; dates from the store are read again.
    mutating func clockSet(_ now: Moment) {
        if sharesRenewals { return sharedClockSet(now) }
        if let readAt {
            let former = life.start
            readDatesAgain(now)
            // If the earlier clock is believed, callers and the next run should get the same dates.
            if canRenew, pending == nil, life.start == former, life.start < readAt { redate(now) }
            return
        }
        // The dates of a response that is being written belong to its request: they are corrected with it.
        if pending == nil { redate(now) }
    }

    /// Applies the record's dates under the current clock. A pause after a failure, of the provider or of the store, is
    /// kept.
    mutating func readDatesAgain(_ now: Moment) {
        let waiting = backoff.failures > 0 || storeProbeFailed ? plan : nil
        applyLifetime(sentAt: now, former: life.start, now: now)
        plan = waiting.map { RenewalPlan(at: $0.at, now: now) } ?? plan
    }

    /// Corrects the dates of a measured lifetime for the current clock, for users and for the next run.
    mutating func redate(_ now: Moment) {
        guard let end = end.map(now.date), let former = record.tokens.expiresAt else { return }
        guard abs((end - former).seconds) >= RenewalPolicy.noticeableShift.seconds else { return }
        correctedIssues = correctedIssues.suffix(Self.maxCorrections - 1) + [record.tokens.issuedAt]
        record.tokens.issuedAt = now.date(of: life.start)
        record.tokens.expiresAt = end
        record.corrections += 1
        plan = plan.map { RenewalPlan(at: $0.at, now: now) }
    }

    /// Turns the record's dates into deadlines, and plans the renewal.
    ///
    /// - Parameter former: when it became valid by dates that were read earlier.
    mutating func applyLifetime(sentAt: Moment, former: BootInstant? = nil, now: Moment) {
        life.start = sentAt.deadline(for: record.tokens.issuedAt)
        life.length = record.tokens.expiresAt.map { max(.zero, $0 - record.tokens.issuedAt) }
        let longest = RenewalPolicy.longestResponse
        life.slack = readAt == nil ? min(now.boot - sentAt.boot, longest) : longest
        // Dates from another clock may lie in the future. The token's age is then unknown: it had at most its whole lifetime
        // left when it was read.
        let isFromTheFuture = readAt != nil && life.start > now.boot + RenewalPolicy.clockTolerance
        if let readAt { life.start = min(life.start, readAt) }
        // It is also unknown which of two clocks they are from. A renewable token gets the higher of both ages; one that is not
        // renewable is not given up because of a clock that was ahead.
        if let former, canRenew || isFromTheFuture { life.start = min(life.start, former) }
        guard let length = life.length, let end else { return plan = nil }
        var due =
            isFromTheFuture
            ? now.boot
            : RenewalPolicy.due(
                start: life.start, end: end, isLater: sharesRenewals && readAt != nil, using: &random)
        // A response without a later expiry: not again at once, nor more often as the expiry approaches. A token that renews
        // itself may have been found late in the store, and cannot wait that long.
        if due <= now.boot { due = now.boot + beforeEnd(RenewalPolicy.pause(life: length), now) }
        plan = RenewalPlan(at: due, now: now)
    }
}

extension AgentError {
    static let endedOnArrival = AgentError(
        .badReply, "The provider's new token had already expired by this machine's clock.", cause: "ended_on_arrival")
}

extension SessionRecord {
    /// The refresh token of a response; the lifetime of an unchanged one began when it was received.
    package mutating func apply(refreshToken: Secret?, endsAt end: WallTime?, at sentAt: WallTime) {
        let isNew = refreshToken != nil && refreshToken != tokens.refreshToken
        tokens.keepsRefreshToken = !isNew && tokens.refreshToken != nil
        tokens.refreshToken = refreshToken ?? tokens.refreshToken
        let began = isNew ? sentAt : tokens.refreshLife?.issuedAt ?? sentAt
        if let end {
            tokens.refreshLife = TokenLife(issuedAt: began, expiresAt: end)
        } else if isNew {
            tokens.refreshLife = nil
        }
    }

    /// Applies a response; missing members stay.
    mutating func apply(_ grant: Grant) {
        generation += 1
        if let token = grant.accessToken {
            tokens.accessToken = token
            tokens.tokenType = grant.tokenType ?? tokens.tokenType
            tokens.isSuspect = false
        }
        if let scopes = grant.scopes {
            tokens.scopes = TokenScopes(granted: tokens.scopes?.granted ?? scopes, present: scopes)
        }
        // A response without an expiry keeps the old one only if it keeps the token too.
        if grant.accessToken != nil || grant.expiresAt != nil {
            tokens.issuedAt = grant.issuedAt
            tokens.expiresAt = grant.expiresAt
        }
        tokens.cookies = grant.cookies ?? tokens.cookies
        apply(refreshToken: grant.refreshToken, endsAt: grant.refreshEndsAt, at: grant.issuedAt)
        if let user = grant.user {
            merge(user: user, raw: grant.rawUser)
            userReceivedAt = grant.issuedAt
        }
        needsPassword = grant.needsPassword ?? needsPassword
        if grant.user != nil || grant.needsPassword != nil { revision += 1 }
    }
}
