internal import AuthModel
internal import AuthWire

/// What a final refusal of a renewal means (Docs/decisions/oauth.md, "Early refusals").
extension SessionMachine {
    /// The provider refused a renewal while the access token was valid, and is asked again near the token's end: some
    /// providers refuse all earlier renewals.
    var isRefusedForNow: Bool { lastFailure?.cause == AgentError.renewalRefusal }

    /// Completes a final refusal after the store was read again, because another writer may have renewed the tokens
    /// first.
    mutating func storeReread(
        _ id: RenewalRequestID, _ result: Result<SessionRecord?, StoreError>, _ turn: inout SessionTurn
    ) {
        guard let currentRequest, currentRequest.id == id, case .rereading(let error, let sentAt) = currentRequest.stage
        else { return }
        if case .success(let stored?) = result, mayBeAccepted(stored) {
            self.currentRequest = nil
            if stored.signIn != record.signIn { discardTargetedTokens() }
            let former = knownStart(of: stored.tokens)
            adopt(stored, turn.now)
            applyNewTokens(sentAt: turn.now, former: former, now: turn.now)
            if isLive(turn.now) {
                answerRenewed(&turn)
            } else if self.currentRequest == nil, let networkError {
                failed(networkError, retryAfter: nil, &turn)
            } else {
                startRequest(&turn)
            }
        } else if mayBeEarly(sentAt) {
            refusedForNow(error, &turn)
        } else if case .failure = result {
            // It is unknown whether another writer was first, so the refusal is not final yet.
            failed(.notRenewed(record, from: error), retryAfter: nil, &turn)
        } else {
            self.currentRequest = nil
            let cause = isAfterInterruption ? AgentError.renewalInterruption : error.cause ?? "refused"
            if cause == AgentError.renewalInterruption, !isAfterInterruption { interrupted = record.version }
            let refusal = AgentError.signInRequired(
                record.session, at: record.provider, cause: cause, from: error)
            finalRefusal = refusal
            answer(.token, .failure(refusal), &turn)
            answer(.renewal, .failure(refusal), &turn)
        }
    }

    /// Whether the refused tokens are the result of a renewal that was interrupted. It was written later, and other hosts
    /// had sent the former tokens again, which made the provider end the session.
    private var isAfterInterruption: Bool {
        guard let interrupted, interrupted.signIn == record.signIn else { return false }
        return record.generation <= interrupted.generation + 1
    }

    /// Whether the provider may accept the stored tokens, because another program wrote them: they are not the current ones,
    /// were not written here before, and this sign-in is not about to replace them.
    ///
    /// A self-renewing token is accepted until its end, even if a later one was refused.
    func mayBeAccepted(_ stored: SessionRecord) -> Bool {
        guard stored.signIn == record.signIn else { return wasStored }
        guard !stored.tokens.areSame(as: record.tokens) else { return false }
        return means == .liveToken || storedTokens != stored.tokens.pair
    }

    /// Continues with the stored tokens: the current ones are refused.
    private mutating func adopt(_ stored: SessionRecord, _ now: Moment) {
        storedTokens = stored.tokens.pair
        readAt = now.boot
        let refused = record
        if stored.signIn != record.signIn { resumeRequest(of: stored.signIn) }
        record = stored.signIn == record.signIn ? record.merged(with: stored) : stored
        if !record.tokens.areSame(as: stored.tokens) {
            // The current tokens count as newer, but cannot be: the next version must be newer than both.
            record.adoptTokens(from: stored)
            record.raiseTokens(above: refused)
        }
        // A write in progress sets this when it ends.
        if !writer.isSaving { writer.holds(stored.version) }
    }

    /// Whether a request that was sent at that time may have been refused because the access token is valid: some
    /// providers renew a session only near its token's end, or after it. A token that authorizes its own renewal was
    /// refused itself, and so was one with an accepted 401: with its renewal refused too, nothing speaks for the session.
    private func mayBeEarly(_ sentAt: Moment) -> Bool {
        guard means != .liveToken, !isRejected else { return false }
        return life.endAtProvider.map { sentAt.boot < $0 } ?? true
    }

    /// Serves the token to its end after a final refusal that may be early. A token without a known end is renewed
    /// after a 401.
    private mutating func refusedForNow(_ error: AgentError, _ turn: inout SessionTurn) {
        let refusal: AgentError =
            isLive(turn.now)
            ? .notRenewed(record, from: error, cause: AgentError.renewalRefusal) : .notRenewedYet(record, from: error)
        failed(refusal, retryAfter: nil, &turn)
        let recheck = RenewalPolicy.recheck(life, after: turn.now.boot)
        plan = recheck.map { RenewalPlan(at: $0, now: turn.now) }
        // The refusal is not stored, so the next run waits no longer than after other failures.
        let wait = recheck.map { $0 - turn.now.boot } ?? Backoff.longest
        pause?.until = turn.now.wall + min(wait, Backoff.longest)
    }
}

extension AgentError {
    /// The cause of an error, or in the status of an active session: its renewal was refused, and is tried again.
    package static let renewalRefusal = "renewal_refused"

    /// The cause of a session's end: these tokens had been sent before, and nobody knew what the provider did then.
    package static let renewalInterruption = "renewal_interrupted"

    /// A final refusal that does not end the session yet.
    static func notRenewed(_ record: SessionRecord, from error: AgentError, cause: String? = nil) -> AgentError {
        AgentError(
            .refused,
            "\(record.provider) did not renew session \(record.session). This is not final: authd "
                + (cause == nil ? "asks again." : "uses the access token as long as it is valid, and then asks again."),
            cause: cause ?? error.cause, httpStatus: error.httpStatus, providerMessage: error.providerMessage,
            retryable: true)
    }

    /// The access token has ended here, and perhaps not at the provider, which may refuse its renewal until then.
    fileprivate static func notRenewedYet(_ record: SessionRecord, from error: AgentError) -> AgentError {
        AgentError(
            .providerUnreachable,
            "The access token of session \(record.session) has ended, and \(record.provider) has not renewed it yet. "
                + "authd asks again.",
            cause: AgentError.renewalRefusal, httpStatus: error.httpStatus, providerMessage: error.providerMessage,
            retryable: true)
    }

    /// A final refusal of a targeted token, which does not concern the session.
    static func targetRefused(_ record: SessionRecord, from error: AgentError) -> AgentError {
        AgentError(
            .refused, "\(record.provider) did not issue this token.", cause: error.cause, httpStatus: error.httpStatus,
            providerMessage: error.providerMessage)
    }
}
