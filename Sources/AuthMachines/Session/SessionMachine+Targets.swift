internal import AuthModel
internal import AuthWire

/// Tokens of a session for aims of their own. They are fetched with the same refresh token, so each is a flight like a
/// renewal, and of all flights there is one at a time.
extension SessionMachine {
    /// Of one session at once; who asks for more has the oldest fetched again.
    private static let maxTargets = 32
    /// How long a no is repeated from memory: a program that asks in a loop is no storm at the provider.
    private static let pauseAfterFailure = Duration.seconds(5)

    /// Why an aim was not reached, and how long that is told without asking.
    struct TargetFailure {
        let error: AgentError
        let until: BootInstant
    }

    mutating func aimedTokenWanted(
        _ caller: CallerID, _ aim: TokenTarget, _ minValid: Duration?, _ turn: inout SessionTurn
    ) {
        if let no = refusal(turn.now) { return turn.reply(.failure(no), to: caller) }
        if let token = aimed[aim], token.isEnough(minValid, turn.now), !isRevoked(token) {
            return turn.reply(.token(token.result(record.session)), to: caller)
        }
        guard canRenew else { return turn.reply(.failure(.cannotRenew(record.provider)), to: caller) }
        if let failure = targetFailures[aim], turn.now.boot < failure.until {
            var error = failure.error
            error.retryAfter = failure.until - turn.now.boot
            return turn.reply(.failure(error), to: caller)
        }
        if flight == nil, isHeld(turn.now) {
            return turn.reply(.failure(failureUntilNextTry(turn.now)), to: caller)
        }
        // Settling sends the flight, when none is under way.
        waiters[caller] = .aimed(aim)
    }

    /// What the flight of an aim brought. A new refresh token is in the store before anyone is told (invariant 2).
    mutating func targetedTokenReceived(
        _ grant: Grant, at aim: TokenTarget, _ sentAt: Moment, _ turn: inout SessionTurn
    ) {
        let missing = grant.scopes.map { Set(aim.scopes).subtracting($0).sorted() } ?? []
        let outcome: Result<TargetedToken, AgentError>
        if !missing.isEmpty {
            outcome = .failure(.notGranted(missing))
        } else if let token = TargetedToken(grant, sentAt: sentAt) {
            outcome = .success(token)
        } else {
            outcome = .failure(AgentError(.badReply, "The provider said yes and gave no token.", cause: "no_token"))
        }
        guard let refreshToken = grant.refreshToken, refreshToken != record.tokens.refreshToken,
            flight.map(isOvertaken) != true
        else {
            return targetedRequestEnded(aim, outcome, &turn)
        }
        var pending = record
        pending.take(refreshToken: refreshToken, endsAt: grant.refreshEndsAt, at: grant.issuedAt)
        pending.tokens.isSuspect = true
        pending.generation += 1
        flight?.outcome = outcome
        flight?.stage = .saving(pending, sentAt: sentAt)
        writer.tryAgain()
    }

    /// An aim that fails says nothing of the session: many a provider answers `invalid_grant` where only this aim is
    /// not agreed to. If the session is over, its own renewal will hear so.
    mutating func targetedRequestEnded(
        _ aim: TokenTarget, _ outcome: Result<TargetedToken, AgentError>, retryAfter: Duration? = nil,
        _ turn: inout SessionTurn
    ) {
        flight = nil
        switch outcome {
        // It came with no life, or the store took longer than that.
        case .success(let token) where !token.isLive(turn.now):
            targetedRequestEnded(aim, .failure(.endedOnArrival), &turn)
        case .success(let token):
            if aimed.count >= Self.maxTargets, let oldest = aimed.min(by: { $0.value.obtained < $1.value.obtained }) {
                aimed[oldest.key] = nil
            }
            aimed[aim] = token
            aimed[aim]?.rotation = rotations
            targetFailures[aim] = nil
            answer(.aimed(aim), .token(token.result(record.session)), &turn)
        case .failure(let error):
            if targetFailures.count >= Self.maxTargets { targetFailures = [:] }
            targetFailures[aim] = TargetFailure(
                error: error, until: turn.now.boot + max(Self.pauseAfterFailure, retryAfter ?? .zero))
            answer(.aimed(aim), .failure(error), &turn)
        }
    }

    /// Who asked for something while another flight was under way has their turn.
    mutating func startNextRequest(_ turn: inout SessionTurn) {
        guard flight == nil else { return }
        let wants = waiters.values
        if wants.contains(.renewal), canRenew, barrier == nil, !isHeld(turn.now) {
            startRequest(&turn)
        } else if wants.contains(.token), mayRenew(turn.now) {
            startRequest(&turn)
        } else if wants.contains(.token) || wants.contains(.renewal) {
            answer(.token, isLive(turn.now) ? .token(tokenResult) : .failure(failureUntilNextTry(turn.now)), &turn)
            answer(.renewal, .failure(failureUntilNextTry(turn.now)), &turn)
        }
        guard flight == nil, let aim = nextTarget else { return }
        if let no = refusal(turn.now) ?? barrier {
            answer(.aimed(aim), .failure(no), &turn)
            return startNextRequest(&turn)
        }
        startRequest(for: aim, &turn)
    }

    /// The provider cannot be asked now, or the store accepts no write: callers who wait for aims do not wait for one try
    /// each.
    mutating func rejectTargetedWaits(_ error: AgentError, _ turn: inout SessionTurn) {
        let waiting = waiters.filter { $0.value.isTargeted }.keys.sorted { $0.number < $1.number }
        for caller in waiting {
            waiters[caller] = nil
            turn.reply(.failure(error), to: caller)
        }
    }

    /// Of the caller who has waited longest.
    private var nextTarget: TokenTarget? {
        let waiting = waiters.compactMap { caller, want -> (number: UInt64, aim: TokenTarget)? in
            if case .aimed(let aim) = want { (caller.number, aim) } else { nil }
        }
        return waiting.min { $0.number < $1.number }?.aim
    }

    /// Gives up a token that a program got a 401 with.
    /// - Returns: whether it was one of these.
    mutating func rejectTargetedToken(_ token: Secret, _ now: Moment) -> Bool {
        guard let (aim, known) = aimed.first(where: { $0.value.accessToken == token }) else { return false }
        // One that was good until the refresh token was replaced was not refused for its age.
        let isReplaced = known.rotation < rotations
        if isReplaced { revokesFormerTokens = true }
        if isReplaced || RenewalPolicy.canReject(age: now.boot - known.obtained, life: known.life) { aimed[aim] = nil }
        return true
    }

    /// Whether the provider has revoked it, as far as that is known of this provider.
    private func isRevoked(_ token: TargetedToken) -> Bool { revokesFormerTokens && token.rotation < rotations }

    mutating func recordRotation(from former: SessionRecord, to new: SessionRecord) {
        if new.tokens.refreshToken != former.tokens.refreshToken { rotations += 1 }
    }

    /// Another sign-in, or none.
    mutating func discardTargetedTokens() {
        aimed = [:]
        targetFailures = [:]
    }
}

extension SessionMachine.Wait {
    var isTargeted: Bool { if case .aimed = self { true } else { false } }
}

extension AgentError {
    fileprivate static func notGranted(_ scopes: [String]) -> AgentError {
        AgentError(
            .forbidden,
            "The provider did not grant \(scopes.joined(separator: ", ")): sign in anew to be asked for it.",
            cause: "scope")
    }
}
