internal import AuthModel
internal import AuthWire

/// Targeted tokens of a session. They are fetched with the same refresh token, so each request is one like a renewal, and
/// there is one request at a time.
extension SessionMachine {
    /// Targeted tokens of one session; for a further one, the oldest is dropped.
    private static let maxTargets = 32
    /// A sign-out waits for their revocation, and all are sent at once.
    private static let maxRevokedTargets = 8
    /// How long a refusal is repeated from memory, so that a program that retries in a loop does not flood the provider.
    private static let pauseAfterFailure = Duration.seconds(5)

    /// Why a targeted token was refused, and until when that is repeated.
    struct TargetFailure {
        let error: AgentError
        let until: BootInstant
    }

    mutating func targetedTokenRequested(
        _ caller: CallerID, _ target: TokenTarget, _ minValid: Duration?, isNew: Bool, _ turn: inout SessionTurn
    ) {
        if let refusal = refusal(turn.now) { return turn.reply(.failure(refusal), to: caller) }
        if !isNew, let token = targetedTokens[target], token.isEnough(minValid, turn.now), !isRevoked(token) {
            return turn.reply(.token(token.result(of: record)), to: caller)
        }
        guard canRenew else { return turn.reply(.failure(.cannotRenew(record.provider)), to: caller) }
        if let failure = targetFailures[target], turn.now.boot < failure.until {
            var error = failure.error
            error.retryAfter = failure.until - turn.now.boot
            return turn.reply(.failure(error), to: caller)
        }
        if currentRequest == nil, isPaused(turn.now) {
            return turn.reply(.failure(failureUntilNextTry(turn.now)), to: caller)
        }
        // `settle` sends the request if none is in progress.
        waiters[caller] = .targeted(target)
    }

    /// The result of a targeted request. A new refresh token is stored before callers are answered (invariant 2).
    mutating func targetedTokenReceived(
        _ grant: Grant, at target: TokenTarget, _ sentAt: Moment, _ turn: inout SessionTurn
    ) {
        let missing = grant.scopes.map { Set(target.scopes).subtracting($0).sorted() } ?? []
        let outcome: Result<TargetedToken, AgentError>
        if !missing.isEmpty {
            outcome = .failure(.notGranted(missing))
        } else if let token = TargetedToken(grant, of: record, sentAt: sentAt) {
            outcome = .success(token)
        } else {
            outcome = .failure(
                AgentError(.badReply, "The provider returned success without a token.", cause: "no_token"))
        }
        guard let refreshToken = grant.refreshToken, refreshToken != record.tokens.refreshToken,
            currentRequest.map(isOvertaken) != true
        else {
            return targetedRequestEnded(target, outcome, &turn)
        }
        var pending = record
        pending.apply(refreshToken: refreshToken, endsAt: grant.refreshEndsAt, at: grant.issuedAt)
        pending.tokens.isSuspect = true
        pending.generation += 1
        currentRequest?.outcome = outcome
        currentRequest?.stage = .saving(Shared(wrappedValue: pending), sentAt: sentAt)
        writer.tryAgain()
    }

    /// A failed targeted request says nothing about the session: many providers answer `invalid_grant` if only this target is
    /// not allowed. If the session is over, its own renewal will show it.
    mutating func targetedRequestEnded(
        _ target: TokenTarget, _ outcome: Result<TargetedToken, AgentError>, retryAfter: Duration? = nil,
        _ turn: inout SessionTurn
    ) {
        currentRequest = nil
        switch outcome {
        // It had no lifetime, or the store took longer than that.
        case .success(let token) where token.life.isOver(at: turn.now.boot):
            targetedRequestEnded(target, .failure(.endedOnArrival), &turn)
        case .success(let token):
            if targetedTokens.count >= Self.maxTargets,
                let oldest = targetedTokens.min(by: { $0.value.life.start < $1.value.life.start })
            {
                targetedTokens[oldest.key] = nil
            }
            targetedTokens[target] = token
            targetedTokens[target]?.rotation = rotations
            targetFailures[target] = nil
            answer(.targeted(target), .token(token.result(of: record)), &turn)
        case .failure(let error):
            if targetFailures.count >= Self.maxTargets { targetFailures = [:] }
            targetFailures[target] = TargetFailure(
                error: error, until: turn.now.boot + max(Self.pauseAfterFailure, retryAfter ?? .zero))
            answer(.targeted(target), .failure(error), &turn)
        }
    }

    /// Callers that waited for another request have their turn.
    mutating func startNextRequest(_ turn: inout SessionTurn) {
        guard currentRequest == nil else { return }
        let wants = waiters.values
        if wants.contains(.renewal), canRenew, networkError == nil, !isPaused(turn.now) {
            startRequest(&turn)
        } else if wants.contains(.token), mayRenew(turn.now) {
            startRequest(&turn)
        } else if wants.contains(.token) || wants.contains(.renewal) {
            answerUnrenewed(failureUntilNextTry(turn.now), &turn)
        }
        guard currentRequest == nil, let target = nextTarget else { return }
        if let refusal = refusal(turn.now) ?? networkError {
            answer(.targeted(target), .failure(refusal), &turn)
            return startNextRequest(&turn)
        }
        startRequest(for: target, &turn)
    }

    /// The provider cannot be reached now, or the store accepts no write: callers that wait for targeted tokens do not each
    /// wait for a try.
    mutating func rejectTargetedWaits(_ error: AgentError, _ turn: inout SessionTurn) {
        answer(.failure(error), &turn) { if case .targeted = $0 { true } else { false } }
    }

    /// The target of the caller that has waited longest.
    private var nextTarget: TokenTarget? {
        let waiting = waiters.compactMap { caller, want -> (number: UInt64, target: TokenTarget)? in
            if case .targeted(let target) = want { (caller.number, target) } else { nil }
        }
        return waiting.min { $0.number < $1.number }?.target
    }

    /// Drops a targeted token that a program got a 401 with.
    mutating func rejectTargetedToken(_ token: Secret, _ now: Moment) {
        guard let (target, known) = targetedTokens.first(where: { $0.value.accessToken == token }) else { return }
        // A token that was valid until the refresh token was replaced was not refused for its age.
        let isReplaced = known.rotation < rotations
        if isReplaced { revokesFormerTokens = true }
        if isReplaced || !known.life.isTooYoungToReject(at: now.boot) { targetedTokens[target] = nil }
    }

    /// Whether the provider has revoked it, as far as that is known of this provider.
    private func isRevoked(_ token: TargetedToken) -> Bool { revokesFormerTokens && token.rotation < rotations }

    mutating func recordRotation(from former: SessionRecord, to new: SessionRecord) {
        if new.tokens.refreshToken != former.tokens.refreshToken { rotations += 1 }
    }

    /// Records of the valid targeted tokens, without a refresh token, the newest first.
    ///
    /// A server that revokes a refresh token should revoke its access tokens too, and need not (RFC 7009 §2.1).
    func issuedTargets(_ now: Moment) -> [SessionRecord] {
        // One may wait until the refresh token that came with it is written.
        let waiting = currentRequest?.outcome.flatMap { try? $0.get() }
        return (Array(targetedTokens.values) + [waiting].compactMap(\.self))
            .filter { !$0.life.isOver(at: now.boot) }
            .sorted { $0.life.start > $1.life.start }
            .prefix(Self.maxRevokedTargets)
            .map { token in
                var record = record
                record.tokens.accessToken = token.accessToken
                record.tokens.expiresAt = token.expiresAt
                record.tokens.refreshToken = nil
                return record
            }
    }

    /// After another sign-in, a sign-out, or at a lock.
    mutating func discardTargetedTokens() {
        targetedTokens = [:]
        targetFailures = [:]
    }
}

extension AgentError {
    fileprivate static func notGranted(_ scopes: [String]) -> AgentError {
        AgentError(
            .forbidden,
            "The provider did not grant \(scopes.joined(separator: ", ")): sign in again to request it.",
            cause: "scope")
    }
}
