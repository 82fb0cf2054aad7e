package import AuthModel
package import AuthWire

/// Decides what happens to one session; it never waits, logs or reads a clock.
///
/// Invariants, whatever the order of events (Docs/architecture.md, "What always holds"):
/// 1. At most one renewal is in progress; all waiting callers get its result.
/// 2. A renewed token is in the store, or the store has refused it, before any caller gets it.
/// 3. A token known to have ended is never returned; a valid one is, even while renewal, store or network fail.
/// 4. Only a final refusal, after the store was read again, or a changed origin leads to `sign_in_required`; while the access
///    token is valid, a refusal is not final yet.
/// 5. Only sign-out deletes; it, and a removal by another program, revoke the tokens of a renewal that was sent before.
/// 6. When the cause of a failure goes away, renewal happens without a request, with jitter.
/// 7. A result of an earlier request or an earlier sign-in is dropped.
/// 8. A refresh token in the store is spent only after the store has accepted a write in this run.
package struct SessionMachine: Machine {
    /// The current record: callers get its access token.
    @Shared package internal(set) var record: SessionRecord
    @Boxed package internal(set) var currentRequest: RenewalRequest?
    @Boxed package internal(set) var finalRefusal: AgentError?
    /// The tokens that the provider has refused because their renewal had been interrupted.
    @Boxed var interrupted: RecordVersion?
    /// The profile names a different origin than the session was signed in at: nothing is sent, and no token is returned.
    @Boxed package internal(set) var originChange: AgentError?
    /// Why renewing has failed so far.
    @Boxed package internal(set) var lastFailure: AgentError?
    package internal(set) var signedOut = false
    /// Signed out, and removed from the store. A new sign-in has its own machine.
    package internal(set) var isGone = false
    /// By another program.
    var endedElsewhere = false

    package internal(set) var means: RenewalMeans
    var canRenew: Bool { means != .none }
    var life: MeasuredLife
    package var end: BootInstant? { life.end }
    /// When the current token was read, if its dates come from the store and were not measured in this run: deadlines then
    /// follow the dates, but it is older than this.
    var readAt: BootInstant?
    /// When the current token was issued by the dates that it had before each correction. Another agent may store it with any
    /// of them.
    var correctedIssues: [WallTime] = []
    /// A clock is rarely set more often while a token lives.
    static let maxCorrections = 16
    /// The access token that a program last got a 401 with. It stays rejected, whatever else the store has with it, until the
    /// provider itself returns it again.
    var rejectedToken: Secret?
    /// When a 401 last led to a renewal.
    var lastRejection: BootInstant?
    var plan: RenewalPlan?
    /// Refusals, one after the other, of tokens that another writer had replaced.
    var outdatedRefusals = 0
    var backoff = Backoff()
    /// Since the last failed try; the next run continues it.
    var pause: RenewalPause?
    /// When the last try failed.
    var failedAt: BootInstant?
    /// Until then the provider asked clients to wait (Retry-After).
    var pausedUntil: BootInstant?
    var earlyTries = RetryBudget()
    var network = NetworkState.online
    var writer = RecordWriter()
    /// Since the last write that succeeded, because another program wrote first.
    var refusedWrites = 0
    /// The tokens that the store is known to have, and those that are being written.
    var storedTokens: TokenPair?
    /// The store has had this sign-in.
    var wasStored = false
    var comparison = Comparison.done
    /// Since when the store reports it as missing.
    var absentSince: BootInstant?
    /// The store has accepted a write of this session in this run, and its service has not changed since.
    var storeAccepts = false
    /// A write of this sign-in got no reply: the store may have it.
    var mayBeStored = false
    /// It has refused a write that a renewal waited for, and has not replied since.
    var storeProbeFailed = false
    private var handedOver: HandedOverSession?
    private(set) var writing: TokenPair?
    /// At the last sign-out: the current tokens and others that the provider had issued, the newest first. To be revoked.
    package internal(set) var signedOutTokens: [SessionRecord] = []
    /// The same for targeted tokens: records without a refresh token.
    package internal(set) var signedOutTargets: [SessionRecord] = []
    /// Renewals in progress at a sign-out: their record, and whether their tokens are revoked.
    var lateRequests: [RenewalRequestID: (asked: SessionRecord, isRevoked: Bool)] = [:]
    /// Requests in progress of sign-ins that another program has replaced in the store: one of them may come back.
    var replacedRequests: [SignInID: RenewalRequest] = [:]
    var waiters: [CallerID: Wait] = [:]
    /// Requests to the provider in progress.
    var requests: Set<RenewalRequestID> = []
    /// Only in memory.
    var targetedTokens: [TokenTarget: TargetedToken] = [:]
    var targetFailures: [TokenTarget: TargetFailure] = [:]
    /// How often the refresh token was replaced here.
    var rotations: UInt64 = 0
    /// Other hosts renew this session too, one at a time.
    var sharesRenewals = false
    /// How often in a row etcd has refused to decide which host renews.
    var holdRefusals = 0
    /// Its record was missing when a renewal began.
    var mayBeGone = false
    /// The provider was seen to revoke targeted tokens when it replaced the refresh token.
    var revokesFormerTokens = false
    var random: SeededRandom

    private var lastRequest: UInt64 = 0
    private var published: SessionSnapshot?

    /// A renewal in progress and its stage.
    package struct RenewalRequest: Sendable {
        package enum Stage: Sendable {
            /// Waits for the store to accept a write.
            case probingStore
            case requesting
            indirect case rereading(AgentError, sentAt: Moment)
            /// The result waits for the store before callers are answered.
            indirect case saving(Shared<SessionRecord>, sentAt: Moment)
        }
        package let id: RenewalRequestID
        /// The generation of the tokens that it was sent with.
        package var generation: UInt64
        /// The tokens that it was sent with.
        var sent: TokenPair
        /// `nil`: the session itself is renewed.
        package let target: TokenTarget?
        package var stage: Stage
        /// Another writer has replaced the tokens that it was sent with.
        var isOutdated = false
        /// How often the store had something newer than its result.
        var conflicts = 0
        /// The result for its target, while a new refresh token is being written.
        @Boxed var outcome: Result<TargetedToken, AgentError>?
    }

    /// What a caller waits for.
    enum Wait: Hashable {
        case token, renewal, signOut, requestsEnd
        /// What was to be written when it asked. Later versions do not make it wait longer.
        case writing(RecordVersion)
        case targeted(TokenTarget)
    }

    /// When the next renewal begins, with its date for users.
    struct RenewalPlan {
        let at: BootInstant
        let date: WallTime

        init(at deadline: BootInstant, now: Moment) {
            at = deadline
            date = now.date(of: deadline)
        }
    }

    /// A session read from the store.
    package init(
        stored record: SessionRecord, means: RenewalMeans, pause: RenewalPause? = nil, now: Moment, seed: UInt64
    ) {
        self.init(record: record, means: means, sentAt: now, now: now, seed: seed, readAt: now.boot)
        writer.holds(record.version)
        storedTokens = record.tokens.pair
        wasStored = true
        if let pause { resume(pause, now) }
    }

    /// A session that the previous run handed over; the store is yet to be read.
    package init(
        handedOver: HandedOverSession, means: RenewalMeans, pause: RenewalPause? = nil, now: Moment, seed: UInt64
    ) {
        let record = handedOver.record
        self.init(record: record, means: means, sentAt: now, now: now, seed: seed, readAt: now.boot)
        wasStored = handedOver.isStored
        mayBeStored = handedOver.mayBeStored
        if handedOver.isStored, !handedOver.isUnsaved { writer.holds(record.version) }
        comparison = .requested
        if let pause { resume(pause, now) }
    }

    /// A session just signed in with a request sent at `sentAt`; it is yet to be written.
    package init(signedIn record: SessionRecord, sentAt: Moment, means: RenewalMeans, now: Moment, seed: UInt64) {
        self.init(record: record, means: means, sentAt: sentAt, now: now, seed: seed)
    }

    private init(
        record: SessionRecord, means: RenewalMeans, sentAt: Moment, now: Moment, seed: UInt64,
        readAt: BootInstant? = nil
    ) {
        self.record = record
        self.readAt = readAt
        self.means = means
        life = MeasuredLife(start: now.boot)
        random = SeededRandom(seed: seed)
        applyLifetime(sentAt: sentAt, now: now)
    }

    package static let wake = SessionEvent.wake
    package static func callerGone(_ caller: CallerID) -> SessionEvent { .callerGone(caller) }

    package mutating func handle(_ event: SessionEvent, in turn: inout SessionTurn) {
        let now = turn.now
        switch event {
        case .begun, .wake: break
        case .tokenRequested(let caller, let minValid): tokenRequested(caller, minValid, &turn)
        case .targetedTokenRequested(let caller, let target, let minValid, let isNew):
            targetedTokenRequested(caller, target, minValid, isNew: isNew, &turn)
        case .renewalRequested(let caller): renewalRequested(caller, &turn)
        case .rejected(let caller, let token, let isFinal): rejected(caller, token, isFinal: isFinal, &turn)
        case .signOutRequested(let caller, let revokes): signOut(caller, revokes: revokes, &turn)
        case .writeRequested(let caller): writeRequested(caller, &turn)
        case .requestsEndRequested(let caller): waiters[caller] = .requestsEnd
        case .callerGone(let caller): waiters[caller] = nil

        case .replaced(let record, let sentAt, let revokesFormer):
            let former = revokesFormer ? abandonTokens(now) : []
            replace(with: record, sentAt: sentAt, &turn)
            for record in former { turn.act(.revoke(record)) }
        case .userReceived(let user, let raw):
            update {
                $0.merge(user: user, raw: raw)
                $0.userReceivedAt = now.wall
            }
        case .passwordSet(let password, let field):
            update {
                $0.needsPassword = false
                if let field { $0.remembered?[field] = password }
            }
        case .defaultChosen(let former): chooseAsDefault(after: former, at: now.wall)
        case .defaultImplied: if record.defaultSince == nil { markDefault(since: now.wall, isImplied: true) }
        case .defaultEnded(let date): if record.defaultSince == date { markDefault(since: nil, isImplied: false) }
        case .renewable(let means): self.means = means
        case .shared(let isShared): shared(isShared, now)
        case .originsChecked(let change): originsChecked(change, &turn)
        case .originsTrusted(let origins):
            originsChecked(nil, &turn)
            if record.origins != origins { update { $0.origins = origins } }
        case .targetedTokensDropped: discardTargetedTokens()
        case .requestEnded(let id, let result, let sentAt):
            requests.remove(id)
            requestEnded(id, result, sentAt, &turn)
        case .overtaken(let id, let stored):
            requests.remove(id)
            overtaken(id, stored, &turn)
        case .notSent(let id, let error):
            requests.remove(id)
            notSent(id, error, &turn)
        case .storeReread(let id, let result): storeReread(id, result, &turn)
        case .saved(let version):
            writer.ended()
            writer.holds(version)
            if comparison == .skipped { comparison = .done }
            storeAccepts = true
            storeProbeFailed = false
            refusedWrites = 0
            storedTokens = writing
            if version.signIn == record.signIn { wasStored = true }
            written(version, &turn)
            redateUnwritten(now)
        case .saveRefused(let version, let stored):
            writer.ended()
            saveRefused(version, stored, &turn)
            redateUnwritten(now)
        case .saveOvertaken(let version, let stored):
            writer.ended()
            saveOvertaken(version, stored, &turn)
            redateUnwritten(now)
        case .saveFailed(let version, let error):
            writer.failed(error, at: now.boot, using: &random)
            if error.mayBeWritten { mayBeStored = true }
            // It was stored, perhaps by an earlier attempt whose response was lost: a missing record counts.
            if error == .cluster(.removed), version.signIn == record.signIn { wasStored = true }
            if error == .cluster(.removed) || isReadAgain(after: error) { storeChanged() }
            // The removal that waited for this write need not wait any longer.
            if signedOut { writer.tryAgain() }
            written(version, &turn)
            redateUnwritten(now)
        case .deleted(let removed): deleted(removed, &turn)
        case .deleteFailed(let error): deleteFailed(error, &turn)
        case .checkDue:
            if canRenew, currentRequest == nil, backoff.failures == 0 { planSoon(now) }
        case .storeReady: storeIsReady(now)
        case .storeReplaced: storeAccepts = false
        case .storeChanged: storeChanged()
        case .compared(let result, absence: let absence): compared(result, absence, &turn)
        case .networkChanged(let state): networkChanged(to: state, now)
        case .clockSet: clockSet(now)
        }
        settle(&turn)
        // Their results are known here: the next write includes them.
        if requests.isEmpty { answer(.requestsEnd, .done, &turn) }
    }

    /// Joins the request in progress, or begins one.
    mutating func startRequest(for target: TokenTarget? = nil, _ turn: inout SessionTurn) {
        guard currentRequest == nil, !signedOut, finalRefusal == nil, originChange == nil, !mayBeGone else { return }
        lastRequest += 1
        currentRequest = RenewalRequest(
            id: RenewalRequestID(number: lastRequest), generation: record.generation, sent: record.tokens.pair,
            target: target, stage: .probingStore)
        if needsStoreProbe { writer.tryAgain() } else { sendToProvider(&turn) }
    }

    /// Changes the user data, both in the current record and in the one that is being written, and writes it.
    mutating func update(_ change: (inout SessionRecord) -> Void) {
        let revision = latest.revision + 1
        changeAll {
            change(&$0)
            $0.revision = revision
        }
    }

    /// Changes the current record, and the one that is being written.
    mutating func changeAll(_ change: (inout SessionRecord) -> Void) {
        change(&record)
        changePending(change)
    }

    mutating func changePending(_ change: (inout SessionRecord) -> Void) {
        guard case .saving(var pending, let sentAt) = currentRequest?.stage else { return }
        change(&pending.wrappedValue)
        currentRequest?.stage = .saving(pending, sentAt: sentAt)
    }

    /// The result of a renewal that is being written.
    var pending: SessionRecord? {
        if case .saving(let pending, _) = currentRequest?.stage { pending.wrappedValue } else { nil }
    }

    /// The newest record of this session: what the store should have.
    var latest: SessionRecord { sharedLatest.wrappedValue }
    var latestVersion: RecordVersion { sharedLatest.wrappedValue.version }
    private var sharedLatest: Shared<SessionRecord> {
        if case .saving(let pending, _) = currentRequest?.stage { pending } else { $record }
    }

    /// Applies everything that follows from the current state; called after each event.
    private mutating func settle(_ turn: inout SessionTurn) {
        guard !isGone else { return }
        if signedOut {
            if handedOver != nil { turn.act(.handOver(nil)) }
            handedOver = nil
            if writer.begin(.deleting, at: turn.now.boot) { turn.act(.delete(record.session)) }
        } else {
            expedite(turn.now)
            if let plan, plan.at <= turn.now.boot, mayRenew(turn.now), network == .online { startRequest(&turn) }
            startNextRequest(&turn)
            let storeCall = nextStoreCall(turn.now)
            // Before the write: the agent may end during it.
            handOver(&turn)
            if let storeCall { turn.act(storeCall) }
        }
        let snapshot = snapshot(turn.now)
        if snapshot != published {
            published = snapshot
            turn.act(.publish(snapshot))
        }
        turn.wakeUp = nextWake(turn.now)
        assert(snapshot.token == nil || isLive(turn.now), "invariant 3")
    }

    private mutating func nextStoreCall(_ now: Moment) -> SessionAction? {
        if needsComparison(now), writer.begin(.reading, at: now.boot) {
            comparison = .inProgress
            return .compare
        }
        guard comparison == .done || comparison == .skipped else { return nil }
        let isBehind = writer.isBehind(latestVersion)
        guard isBehind || isProbingStore, writer.begin(.saving, at: now.boot) else { return nil }
        writing = latest.tokens.pair
        return isBehind ? .save(latest, replacesOther: !wasStored) : .rewrite(latest)
    }

    /// Most events do not change what is handed over.
    private mutating func handOver(_ turn: inout SessionTurn) {
        let mayBeStored = !wasStored && (mayBeStored || writer.isSaving)
        // What an earlier run could not write stays unsaved until the store has been read.
        let isUnsaved = isUnsaved || comparison != .done && writer.isBehind(latestVersion)
        if let handedOver, handedOver.isStored == wasStored, handedOver.mayBeStored == mayBeStored,
            handedOver.isUnsaved == isUnsaved, handedOver.$record == sharedLatest
        {
            return
        }
        let new = HandedOverSession(
            sharedLatest, isStored: wasStored, mayBeStored: mayBeStored, isUnsaved: isUnsaved)
        handedOver = new
        turn.act(.handOver(new))
    }

    /// If there is no valid token, the renewal comes soon, whatever was planned before.
    private mutating func expedite(_ now: Moment) {
        guard canRenew, finalRefusal == nil, originChange == nil, currentRequest == nil,
            backoff.failures == 0 || isRefusedForNow, !storeProbeFailed, !isLive(now)
        else { return }
        let spread = RenewalPolicy.recoverySpread(left: .zero)
        var soon = max(now.boot, life.start + RenewalPolicy.minInterval) + spread.upperBound
        if isRefusedForNow, !isRejected, let recheck = RenewalPolicy.recheck(life, after: now.boot) {
            soon = max(soon, recheck + spread.upperBound)
        }
        if let plan, plan.at <= soon { return }
        plan = RenewalPlan(at: soon - random.duration(in: spread), now: now)
    }
}
