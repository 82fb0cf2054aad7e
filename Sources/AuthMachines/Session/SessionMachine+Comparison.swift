internal import AuthModel
internal import AuthWire

/// What the store holds, held against what is in use: after a start with what the run before handed over, and when somebody
/// else may have changed it there. Nothing is written over what has not been looked at.
extension SessionMachine {
    /// A keyring that is being unlocked may show nothing for a moment: an absence counts when it is seen again after this.
    static let absencePause = Duration.seconds(2)

    /// How much is known of what the store holds.
    enum Comparison {
        /// It holds what was written or read here.
        case done
        case wanted
        case underWay
        /// The store could not be asked. It is when it is ready, and before anything is written.
        case deferred
    }

    /// Whether the store is to be looked at now.
    func needsComparison(_ now: Moment) -> Bool {
        switch comparison {
        case .done, .underWay: false
        case .wanted: secondLook.map { now.boot >= $0 } ?? true
        case .deferred: isProbingStore || writer.isBehind(latestVersion)
        }
    }

    /// When an absence is looked at again.
    var secondLook: BootInstant? { absentSince.map { $0 + Self.absencePause } }

    mutating func storeIsReady(_ now: Moment) {
        writer.tryAgain()
        if storeProbeFailed {
            storeProbeFailed = false
            planSoon(now)
        }
        if comparison != .done { comparison = .wanted }
    }

    mutating func compared(
        _ result: Result<SessionRecord?, StoreError>, isLost: Bool, _ turn: inout SessionTurn
    ) {
        guard !signedOut else { return writer.readEnded() }
        // Something has changed there since it was asked.
        let isWantedAgain = comparison == .wanted
        comparison = .done
        switch result {
        case .success(nil):
            writer.readEnded()
            recordIsMissing(isLost: isLost, &turn)
        case .success(let stored?):
            writer.readEnded()
            absentSince = nil
            reconcile(stored, &turn)
            if !writer.isBehind(latestVersion) { written(latestVersion, &turn) }
        case .failure(.failed):
            // It may be one item that cannot be read: a write mends that, and shows whether it is more.
            writer.readEnded()
            absentSince = nil
            if !writer.isBehind(latestVersion), !isProbingStore { comparison = .deferred }
        case .failure(let error):
            comparison = .deferred
            absentSince = nil
            writer.readFailed(error, at: turn.now.boot, using: &random)
            // What was to be written is refused for turn.now, and who waits for that goes on.
            written(latestVersion, &turn)
        }
        if isWantedAgain { comparison = .wanted }
    }

    private mutating func recordIsMissing(isLost: Bool, _ turn: inout SessionTurn) {
        guard wasStored else { return writer.forgetWritten() }
        guard let secondLook, turn.now.boot >= secondLook else {
            absentSince = absentSince ?? turn.now.boot
            comparison = .wanted
            return
        }
        absentSince = nil
        if isLost { return writer.forgetWritten() }
        signedOutElsewhere(&turn)
    }

    /// Somebody has removed it from the store, which is how a person signs out there.
    private mutating func signedOutElsewhere(_ turn: inout SessionTurn) {
        for want in Set(waiters.values) where want != .requestsEnd {
            answer(want, .failure(.notSignedIn(record.session, at: record.provider)), &turn)
        }
        discardTargetedTokens()
        signedOut = true
        flight = nil
        isGone = true
        turn.act(.handOver(nil))
        turn.act(.forget)
    }

    /// How often callers wait for another write because somebody else wrote to a slow store first. Then they get the new
    /// token, and the writes go on.
    private static let mostConflicts = 2

    /// The store has not written this version of ours over `stored`.
    mutating func saveRefused(
        _ version: RecordVersion, _ stored: SessionRecord, _ turn: inout SessionTurn
    ) {
        // The removal that waited for this write waits for nothing else.
        guard !signedOut else { return writer.tryAgain() }
        if case .saving(let pending, _) = flight?.stage, version.hasTokens(of: pending.version) {
            flight?.conflicts += 1
        }
        reconcile(stored, &turn)
        let isContested = flight.map { $0.conflicts >= Self.mostConflicts } ?? false
        if isContested || !writer.isBehind(latestVersion) { written(latestVersion, &turn) }
    }

    private mutating func reconcile(_ stored: SessionRecord, _ turn: inout SessionTurn) {
        kept = stored.tokens
        guard stored.signIn == record.signIn else {
            // Neither dates nor versions tell which is later: clocks are set, and a sign-in may not have seen the other.
            if wasStored { return takeOver(stored, &turn) }
            changeAll { $0.raise(above: stored) }
            return writer.forgetWritten()
        }
        wasStored = true
        // Changed here and there at once: neither is the newer one, and the last write wins.
        if stored.revision == latest.revision, !stored.hasSameUserData(as: latest),
            writer.lacksRevision(of: latestVersion)
        {
            changeAll { $0.revision = stored.revision + 1 }
        }
        writer.holds(stored.version)
        var merged = latest.merged(with: stored)
        // A token that renews itself is of no use once it has ended, and the one in the store may still be.
        if means == .liveToken, merged.tokens.hasEnded(at: turn.now.wall), !stored.tokens.hasEnded(at: turn.now.wall) {
            merged.adoptTokens(from: stored)
            merged.raiseTokens(above: latest)
        }
        if let flight, case .saving(let pending, _) = flight.stage, !flight.isBehind(stored, with: pending) {
            // The provider has just given what is on its way: nobody has anything newer.
            if stored.hasNewerTokens(than: pending) || !stored.tokens.areSame(as: pending.tokens) {
                changePending { $0.raiseTokens(above: stored) }
            }
            if stored.revision >= pending.revision { changeAll { $0.adoptUserData(from: stored) } }
            return
        }
        if case .saving = flight?.stage { merged.adoptTokens(from: stored) }
        let isNewToken = !merged.tokens.areSame(as: record.tokens)
        record = merged
        if isNewToken { useStoredTokens(&turn) }
    }

    /// Goes on with another sign-in, which somebody has put in the place of this one.
    private mutating func takeOver(_ stored: SessionRecord, _ turn: inout SessionTurn) {
        record = stored
        // What another sign-in brought is compared with the profile when it is used.
        originChange = nil
        writer.holds(stored.version)
        discardTargetedTokens()
        flight = nil
        useStoredTokens(&turn)
    }

    /// The tokens in use were found in the store.
    private mutating func useStoredTokens(_ turn: inout SessionTurn) {
        if case .asking = flight?.stage {
            // There is one renewal at a time, also where its answer is of little use.
            flight?.isOutdated = true
        } else if !isProbingStore {
            flight = nil
        }
        readAt = turn.now.boot
        applyNewTokens(sentAt: turn.now, now: turn.now)
        guard isLive(turn.now) else { return }
        // Nothing was asked yet, and the callers of that renewal have what they want.
        if isProbingStore, flight?.aim == nil { flight = nil }
        answerRenewed(&turn)
    }
}

extension SessionMachine.RenewalRequest {
    /// Whether the tokens that the store holds come from a later renewal than those that this flight brought.
    ///
    /// The generation of `pending` says nothing of that: it is raised to write over another renewal of the same tokens. Nor does
    /// that of the store if it holds the refresh token that this flight has used up, or if there is none: then each access
    /// token stands for itself, and the later one is better.
    fileprivate func isBehind(_ stored: SessionRecord, with pending: SessionRecord) -> Bool {
        guard stored.generation > generation + 1, !stored.tokens.areSame(as: pending.tokens) else { return false }
        guard let refreshToken = stored.tokens.refreshToken else {
            return stored.tokens.issuedAt > pending.tokens.issuedAt
        }
        return refreshToken != spent
    }
}

extension TokenSet {
    fileprivate func hasEnded(at now: WallTime) -> Bool { expiresAt.map { $0 <= now } ?? false }
}
