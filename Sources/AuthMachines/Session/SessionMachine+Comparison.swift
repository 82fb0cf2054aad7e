internal import AuthModel
internal import AuthWire

/// Compares the stored record with the current one: after a start with a handed-over session, and when another program may have
/// changed it. Nothing is overwritten before it was read.
extension SessionMachine {
    /// A keyring that is being unlocked may show nothing for a moment: a missing record counts only if it is still missing
    /// after this.
    static let absencePause = Duration.seconds(2)

    /// How much is known of the stored record.
    enum Comparison {
        /// It was written or read here.
        case done
        case requested
        case inProgress
        /// The store could not be read. It is read when it is ready, and before anything is written.
        case deferred
        /// The same, but a write comes first: it may repair the item. If it fails, the store is read when it is ready.
        case skipped
    }

    /// Whether the store is to be read now.
    func needsComparison(_ now: Moment) -> Bool {
        switch comparison {
        case .done, .inProgress, .skipped: false
        case .requested: secondLook.map { now.boot >= $0 } ?? true
        case .deferred: isProbingStore || writer.isBehind(latestVersion)
        }
    }

    /// When a missing record is checked again.
    var secondLook: BootInstant? { absentSince.map { $0 + Self.absencePause } }

    mutating func storeIsReady(_ now: Moment) {
        writer.storeIsReady()
        holdRefusals = 0
        if storeProbeFailed {
            storeProbeFailed = false
            planSoon(now)
        }
        if comparison != .done { comparison = .requested }
    }

    mutating func compared(
        _ result: Result<SessionRecord?, StoreError>, _ absence: RecordAbsence, _ turn: inout SessionTurn
    ) {
        guard !signedOut else { return writer.ended() }
        // Something has changed there since the request.
        let isRequestedAgain = comparison == .requested
        comparison = .done
        mayBeGone = false
        switch result {
        // Another host may have written it since. Until that is known, nothing is sent: each attempt to hold a missing
        // session would request another comparison.
        case .success(nil) where isRequestedAgain:
            writer.ended()
            mayBeGone = true
        case .success(nil):
            writer.ended()
            recordIsMissing(absence, &turn)
        case .success(let stored?):
            writer.ended()
            absentSince = nil
            reconcile(stored, &turn)
            if !writer.isBehind(latestVersion) { written(latestVersion, &turn) }
        case .failure(.failed):
            // One item may be unreadable: a write fixes that, and shows whether it is more.
            writer.ended()
            absentSince = nil
            comparison = writer.isBehind(latestVersion) || isProbingStore ? .skipped : .deferred
        case .failure(let error):
            comparison = .deferred
            absentSince = nil
            writer.failed(error, at: turn.now.boot, using: &random)
            // The write is refused for now, and its callers continue.
            written(latestVersion, &turn)
        }
        guard isRequestedAgain else { return }
        comparison = .requested
        if case .failure(let error) = result, isReadAgain(after: error) { writer.tryAgain() }
    }

    /// Whether a call failed because etcd went back, and everything has been read again since: the session was reported
    /// during the call. No other report follows that would end the pause.
    func isReadAgain(after error: StoreError) -> Bool { error == .cluster(.wentBack) && comparison == .requested }

    private mutating func recordIsMissing(_ absence: RecordAbsence, _ turn: inout SessionTurn) {
        guard wasStored else { return writer.forgetWritten() }
        let isSecondLook = secondLook.map { turn.now.boot >= $0 } ?? false
        guard isSecondLook || absence == .removed else {
            absentSince = absentSince ?? turn.now.boot
            comparison = .requested
            return
        }
        absentSince = nil
        if absence == .lost { return writer.forgetWritten() }
        signedOutElsewhere(&turn)
    }

    /// Another program has removed it from the store, which is how a user signs out there.
    private mutating func signedOutElsewhere(_ turn: inout SessionTurn) {
        answer(.failure(notSignedIn), &turn) { $0 != .requestsEnd }
        discardTargetedTokens()
        // The other program could revoke only what was in the store.
        expectLateResult(isRevoked: true)
        if let storedTokens, storedTokens.refreshToken != latest.tokens.refreshToken { turn.act(.revoke(latest)) }
        signedOut = true
        currentRequest = nil
        isGone = true
        endedElsewhere = true
        turn.act(.handOver(nil))
        turn.act(.forget)
    }

    /// How often callers wait for another write because another program wrote to a slow store first. Then they get their
    /// reply, and the writes continue.
    private static let maxConflicts = 2

    /// The store has not written this version over `stored`.
    mutating func saveRefused(_ version: RecordVersion, _ stored: SessionRecord, _ turn: inout SessionTurn) {
        // The removal that waited for this write need not wait any longer.
        guard !signedOut else { return writer.tryAgain() }
        let isOfRequest = pending.map { version.hasTokens(of: $0.version) } ?? isProbingStore
        if isOfRequest { currentRequest?.conflicts += 1 }
        refusedWrites += 1
        reconcile(stored, &turn)
        // A renewal of the session ends with the tokens of the other program. A token for a target does not.
        if isProbingStore, let currentRequest, currentRequest.target != nil,
            currentRequest.conflicts > Self.maxConflicts
        {
            storeDidNotAccept(
                AgentError(StoreError.failed(reason: "another program writes to it all the time")), &turn)
        }
        if refusedWrites > Self.maxConflicts { answerWrites(&turn) { _ in true } }
        let isContested = currentRequest.map { $0.conflicts >= Self.maxConflicts } ?? false
        if isContested || !writer.isBehind(latestVersion) { written(latestVersion, &turn) }
    }

    mutating func reconcile(_ stored: SessionRecord, _ turn: inout SessionTurn) {
        let isUntried = mayBeAccepted(stored)
        storedTokens = stored.tokens.pair
        guard stored.signIn == record.signIn else {
            // Neither dates nor versions show which is later: clocks are set, and a sign-in may not have seen the other.
            if wasStored { return adoptSignIn(stored, &turn) }
            changeAll { $0.raise(above: stored) }
            return writer.forgetWritten()
        }
        wasStored = true
        let origins = record.origins
        // The user has trusted other places on another host. They are compared with the profile at the next use.
        defer { if record.origins != origins { originChange = nil } }
        // Changed here and there at once: neither is newer, and the last write wins.
        if stored.revision == latest.revision, !stored.hasSameUserData(as: latest),
            writer.lacksRevision(of: latestVersion)
        {
            changeAll { $0.revision = stored.revision + 1 }
        }
        writer.holds(stored.version)
        var merged = latest.merged(with: stored)
        // Another host has renewed it independently, and this one could not renew it again before the token ended.
        let isOutlived = sharesRenewals && latest.isOutlived(by: stored, at: turn.now.wall)
        // Two hosts have renewed the same tokens, because one of them could not reach etcd. How often dates were
        // corrected does not show whose result is later.
        if isOutlived {
            merged.adoptTokens(from: stored)
        } else if sharesRenewals, stored.isOtherResult(than: latest) {
            merged.adoptTokens(from: stored.tokens.issuedAt >= latest.tokens.issuedAt ? stored : latest)
        }
        // A self-renewing token is useless once it has ended, and the stored one may still be valid.
        if means == .liveToken, merged.tokens.hasEnded(at: turn.now.wall), !stored.tokens.hasEnded(at: turn.now.wall) {
            merged.adoptTokens(from: stored)
            merged.raiseTokens(above: latest)
        }
        // The provider has refused the current tokens, and the stored ones are those of another program.
        if case .rereading = currentRequest?.stage, isUntried {
            merged.adoptTokens(from: stored)
            merged.raiseTokens(above: latest)
        }
        let finishedTarget = currentRequest.flatMap { $0.targetStored(in: stored, pending) }
        if let currentRequest, let pending, finishedTarget == nil, !isOutlived,
            !currentRequest.isBehind(stored, with: pending)
        {
            // The provider has just issued the tokens that are being written: there are no newer ones.
            if sharesRenewals, stored.generation == pending.generation, stored.tokens.areSame(as: pending.tokens) {
                // They were written, but the response was lost. Another host may have corrected their dates since. A higher
                // generation would look like another renewal.
                changePending { $0.corrections = max($0.corrections, stored.corrections) }
            } else if stored.hasNewerTokens(than: pending) || !stored.tokens.areSame(as: pending.tokens) {
                changePending { $0.raiseTokens(above: stored) }
            }
            if stored.revision >= pending.revision { changeAll { $0.adoptUserData(from: stored) } }
            return
        }
        // The result of a request is dropped for the stored tokens, even if they are the ones in use.
        let isDropped = pending != nil && finishedTarget == nil
        if pending != nil { merged.adoptTokens(from: stored) }
        // Two programs renewed at the same time: the later token is not in the store yet.
        if stored.generation == merged.generation, !merged.tokens.areSame(as: stored.tokens) {
            merged.raiseTokens(above: stored)
        }
        let isNewToken = !merged.tokens.areSame(as: record.tokens)
        let isRedated = !isNewToken && merged.tokens.issuedAt != record.tokens.issuedAt
        let former = knownStart(of: merged.tokens)
        record = merged
        if isNewToken || isDropped {
            useStoredTokens(former: former, &turn)
        } else if isRedated, readAt != nil {
            // Another agent knows when the token was issued, and has corrected its dates.
            readDatesAgain(turn.now)
        }
        if let (target, outcome) = finishedTarget {
            rotations += 1
            targetedRequestEnded(target, outcome, &turn)
        }
    }

    /// Continues with another sign-in that another program has stored in place of this one.
    private mutating func adoptSignIn(_ stored: SessionRecord, _ turn: inout SessionTurn) {
        resumeRequest(of: stored.signIn)
        record = stored
        // The origins of another sign-in are compared with the profile when it is used.
        originChange = nil
        writer.holds(stored.version)
        discardTargetedTokens()
        useStoredTokens(former: nil, &turn)
    }

    /// Before another sign-in is adopted. A request in progress belongs to the sign-in that it was sent for. That one comes
    /// back if a store without atomic updates carries out an older write last: then its request is still the only one.
    mutating func resumeRequest(of signIn: SignInID) {
        if let currentRequest, signIn != record.signIn, case .requesting = currentRequest.stage {
            replacedRequests[record.signIn] = currentRequest
        }
        currentRequest = replacedRequests.removeValue(forKey: signIn)
        currentRequest?.isOutdated = true
        // Its tokens are used again.
        if let currentRequest { lateRequests[currentRequest.id] = nil }
    }

    /// When the access token became valid, if it is the current one and was not prolonged: another agent may have stored it
    /// with another refresh token, and with the dates from before a change of the clock.
    func knownStart(of tokens: TokenSet) -> BootInstant? {
        let isKnown =
            tokens.accessToken == record.tokens.accessToken
            && (tokens.issuedAt == record.tokens.issuedAt || correctedIssues.contains(tokens.issuedAt))
        return isKnown ? life.start : nil
    }

    /// The current tokens were found in the store.
    private mutating func useStoredTokens(former: BootInstant?, _ turn: inout SessionTurn) {
        if case .requesting = currentRequest?.stage {
            // There is one renewal at a time, even if its result is not needed any more.
            currentRequest?.isOutdated = true
        } else if !isProbingStore {
            currentRequest = nil
        }
        readAt = turn.now.boot
        applyNewTokens(sentAt: turn.now, former: former, now: turn.now)
        guard isLive(turn.now) else { return }
        // Nothing was sent yet, and the callers of that renewal have their token.
        if isProbingStore, currentRequest?.target == nil { currentRequest = nil }
        answerRenewed(&turn)
    }
}

extension SessionMachine.RenewalRequest {
    /// The target of this request and its result, if nothing is left to write for it: another writer was given the same
    /// refresh token, and has stored it with a later access token.
    fileprivate func targetStored(
        in stored: SessionRecord, _ pending: SessionRecord?
    ) -> (TokenTarget, Result<TargetedToken, AgentError>)? {
        guard let target, let outcome, let pending, stored.tokens.refreshToken == pending.tokens.refreshToken,
            stored.tokens.issuedAt > pending.tokens.issuedAt
        else { return nil }
        return (target, outcome)
    }

    /// Whether the stored tokens come from a later renewal than those of this request.
    ///
    /// The generation of `pending` does not show it: it is raised to overwrite another renewal of the same tokens. Neither
    /// does that of the store if it has the refresh token that this request has used up, or if there is none: then each
    /// access token stands for itself, and the later one is better, except for the one that this request was sent with. Its
    /// date may be later after a change of the clock.
    fileprivate func isBehind(_ stored: SessionRecord, with pending: SessionRecord) -> Bool {
        guard stored.generation > generation + 1, !stored.tokens.areSame(as: pending.tokens) else { return false }
        guard let refreshToken = stored.tokens.refreshToken else {
            return stored.tokens.accessToken != sent.accessToken && stored.tokens.issuedAt > pending.tokens.issuedAt
        }
        return refreshToken != sent.refreshToken
    }
}
