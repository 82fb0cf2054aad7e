package import AuthModel
package import AuthWire

/// The state of a session at a moment.
extension SessionMachine {
    /// This machine for a restored session, with the result of the comparison of its origins with the profile. That is
    /// set before the first event: others can send events as soon as the session is added.
    /// - Parameter change: `nil`: the profile names no other origin.
    package func restored(after change: AgentError?) -> SessionMachine {
        var machine = self
        machine.originChange = change
        return machine
    }

    /// The token may be returned: not expired, rejected or signed out, and for the profile's origin.
    func isLive(_ now: Moment) -> Bool { originChange == nil && isGood(now) }

    /// Not expired, rejected or signed out.
    func isGood(_ now: Moment) -> Bool {
        !signedOut && !isRejected && finalRefusal == nil && !life.isOver(at: now.boot)
    }

    /// A program got a 401 with the current token.
    var isRejected: Bool { rejectedToken.map { $0 == record.tokens.accessToken } ?? false }

    /// Expired, and nothing renews it. Not final: the profile may be fixed.
    func isOver(_ now: Moment) -> Bool {
        !canRenew && currentRequest == nil && finalRefusal == nil && !signedOut && !isLive(now)
    }

    /// Why every try would fail now. A request would wait in vain, or send credentials to the sign-in page of a network.
    var networkError: AgentError? {
        switch network {
        case .offline: .offline
        case .portal: .captivePortal
        case .online, .limited: nil
        }
    }

    /// A try is allowed now: renewable, online, and no pause.
    func mayRenew(_ now: Moment) -> Bool {
        guard canTry else { return false }
        guard backoff.failures > 0 || storeProbeFailed else { return true }
        return plan.map { $0.at <= now.boot } ?? (backoff.failures == 0)
    }

    /// The same for a caller without a token: its request does not wait for the end of a back-off, but for a provider that
    /// asked clients to wait.
    func mayRenewForCaller(_ now: Moment) -> Bool {
        if mayRenew(now) { return true }
        guard canTry, let next = nextTryForCallers else { return false }
        return next <= now.boot
    }

    private var canTry: Bool { canRenew && finalRefusal == nil && originChange == nil && networkError == nil }

    /// The store has refused the latest version.
    var isUnsaved: Bool { storeError != nil && writer.isBehind(latestVersion) }

    private var storeError: StoreError? { writer.lastError ?? writer.writeError }

    var tokenResult: TokenResult {
        var result = TokenResult(
            accessToken: record.tokens.accessToken.reveal(), tokenType: record.tokens.tokenType,
            expiresAt: record.tokens.expiresAt?.unixSeconds, session: record.session)
        result.isOwn = true
        return result
    }

    /// How long a returned token stays valid; `nil` if its expiry is unknown.
    package func validity(of result: TokenResult, at now: Moment) -> Duration? {
        let token = Secret(result.accessToken)
        if token == record.tokens.accessToken { return life.left(at: now.boot) }
        if let targeted = targetedTokens.values.first(where: { $0.accessToken == token }) {
            return targeted.life.left(at: now.boot)
        }
        // Another token replaced it meanwhile: only its date is known.
        return result.expiresAt.map { max(.zero, WallTime(unixSeconds: $0) - now.wall) }
    }

    /// For a caller between two tries: the last failure, and how long until its request begins a try.
    func failureUntilNextTry(_ now: Moment) -> AgentError {
        if let networkError { return networkError }
        var error = lastFailure ?? AgentError(.providerUnreachable, "The token has expired and is not renewed yet.")
        if let next = [plan?.at, nextTryForCallers].compactMap(\.self).min() {
            error.retryAfter = max(.zero, next - now.boot)
        }
        return error
    }

    func endedWithoutRenewal() -> AgentError {
        if let shared = record.resource?.sharedSession {
            return AgentError(
                .signInRequired,
                "Session \(record.session) shares the sign-in of session \(shared), which can no longer renew it. "
                    + "Sign in to that session again, or separately with "
                    + "`\(CommandText.login(record.provider, session: record.session))`.",
                cause: "shared_sign_in")
        }
        return .signInRequired(
            record.session, at: record.provider, cause: isRejected ? "token_rejected" : "token_ended")
    }

    /// When the user is notified that the session ends soon: when the token ends if nothing renews it, else when the refresh
    /// token ends. Empty if no expiry is known.
    func endingNotices(_ now: Moment) -> [BootInstant] {
        guard finalRefusal == nil, originChange == nil, !signedOut else { return [] }
        if canRenew {
            guard let refresh = record.tokens.refreshLife else { return [] }
            let end = now.deadline(for: refresh.expiresAt)
            return RenewalPolicy.refreshNotices(life: refresh.expiresAt - refresh.issuedAt).map { end - $0 }
        }
        guard let end, let length = life.length else { return [] }
        return [end - RenewalPolicy.endingNotice(life: length)]
    }

    /// When something is due without another event; `nil`: nothing.
    func nextWake(_ now: Moment) -> BootInstant? {
        var deadlines: [BootInstant] = []
        if let retry = writer.retryAt,
            signedOut || isProbingStore || writer.isBehind(latestVersion) || comparison == .requested
        {
            deadlines.append(retry)
        }
        if !signedOut {
            if let secondLook, comparison == .requested { deadlines.append(secondLook) }
            let isIdle = finalRefusal == nil && originChange == nil && currentRequest == nil && !mayBeGone
            if canRenew, isIdle, network == .online, let plan { deadlines.append(plan.at) }
            if let end, now.boot < end { deadlines.append(end) }
            if let notice = endingNotices(now).first(where: { now.boot < $0 }) { deadlines.append(notice) }
        }
        return deadlines.min()
    }

    func snapshot(_ now: Moment) -> SessionSnapshot {
        // One copy for all members: each use of the property would make another.
        let record = record
        let live = isLive(now)
        let (state, cause, message) = describe(record, live: live)
        let status = SessionStatus(
            session: record.session, provider: record.provider, environment: record.environment, state: state,
            cause: cause, message: message, user: record.user, needsPassword: record.needsPassword,
            renews: canRenew, remembered: record.remembered != nil,
            expiresAt: record.tokens.expiresAt?.unixSeconds,
            refreshAt: canRenew && finalRefusal == nil && originChange == nil && !signedOut
                ? plan?.date.unixSeconds : nil,
            issuedAt: record.tokens.issuedAt.unixSeconds,
            endsAt: canRenew ? record.tokens.refreshLife?.expiresAt.unixSeconds : nil,
            signedInAt: record.signedInAt.unixSeconds,
            lastError: lastFailure?.message, unsaved: isUnsaved,
            storeError: isUnsaved ? storeError.map { AgentError($0).message } : nil,
            scopes: record.tokens.scopes?.present, sharedSession: record.resource?.sharedSession, isDefault: false)
        return SessionSnapshot(
            status: status, signIn: record.signIn, token: live ? record.tokens.accessToken : nil,
            isSuspect: record.tokens.isSuspect && canRenew, tokenType: record.tokens.tokenType,
            end: end, life: life.length, ending: live ? endingNotices(now).count { $0 <= now.boot } : 0,
            defaultSince: record.defaultSince, isDefaultImplied: record.isDefaultImplied, pause: pause)
    }

    private func lostScopes(_ record: SessionRecord) -> (SessionState, cause: String?, message: String?)? {
        guard let lost = record.tokens.scopes?.lost, !lost.isEmpty else { return nil }
        return (
            .active, "scope_reduced",
            "The provider no longer grants \(lost.joined(separator: ", ")). Sign in again to request it: "
                + "`\(CommandText.login(record.provider, session: record.session))`. If a token for one scope or "
                + "audience was the cause, set `targeted_tokens = false` in the profile."
        )
    }

    private var lostTokens: (SessionState, cause: String?, message: String?)? {
        guard revokesFormerTokens else { return nil }
        return (
            .active, "tokens_exclusive",
            "The provider revokes the former access token at each refresh, so the session's own token and one for a scope "
                + "or audience replace each other. Set `targeted_tokens = false` in the profile to keep the session's own."
        )
    }

    private func describe(
        _ record: SessionRecord, live: Bool
    ) -> (SessionState, cause: String?, message: String?) {
        if signedOut { return (.signedOut, writer.lastError.flatMap { AgentError($0).statusCause }, nil) }
        if let originChange { return (.signInRequired, originChange.cause, originChange.message) }
        if let finalRefusal {
            return (.signInRequired, finalRefusal.cause, finalRefusal.providerMessage ?? finalRefusal.message)
        }
        if live, isRefusedForNow { return (.active, AgentError.renewalRefusal, nil) }
        if live { return lostScopes(record) ?? lostTokens ?? (.active, nil, nil) }
        if !canRenew, currentRequest == nil {
            let end = endedWithoutRenewal()
            return (.signInRequired, end.cause, end.message)
        }
        guard let lastFailure = networkError ?? lastFailure else {
            return (.stale, isRejected ? "token_rejected" : "renewing", nil)
        }
        return (.stale, lastFailure.statusCause, lastFailure.message)
    }
}
