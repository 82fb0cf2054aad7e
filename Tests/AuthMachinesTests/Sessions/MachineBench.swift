import AuthMachines
import AuthModel
import AuthWire
import Testing

/// A session machine on a table: events in, actions out, and a clock that only the test turns.
struct MachineBench {
    static let t0 = 1_800_000_000.0
    private(set) var machine: SessionMachine
    private(set) var elapsed = Duration.zero
    /// How far the wall clock was set from where it was at first.
    private(set) var wallShift = Duration.zero
    private(set) var actions: [SessionAction] = []
    private var replies: [(caller: CallerID, reply: SessionReply)] = []
    private(set) var wakeAt: BootInstant?
    private(set) var snapshot: SessionSnapshot?
    /// Whether the store accepts each ``SessionAction/rewrite`` at once.
    var acceptsRewrites = true

    /// A session whose token began now and lives `life`.
    init(
        life: Duration? = .seconds(1000), canRenew: Bool = true, fresh: Bool = false, seed: UInt64 = 1,
        clockOff shift: Duration = .zero, means: RenewalMeans? = nil
    ) {
        let means = means ?? (canRenew ? .lasting : .none)
        wallShift = shift
        let now = Moment(boot: Self.moment(.zero).boot, wall: Self.moment(.zero).wall + shift)
        let record = Self.record(token: "token-1", life: life)
        if fresh {
            machine = SessionMachine(signedIn: record, sentAt: now, means: means, now: now, seed: seed)
        } else {
            machine = SessionMachine(stored: record, means: means, now: now, seed: seed)
        }
        keep(machine.handle(.begun, at: now))
    }

    /// A session that the run before handed over.
    init(handedOver: HandedOverSession, means: RenewalMeans = .lasting) {
        machine = SessionMachine(handedOver: handedOver, means: means, now: Self.moment(.zero), seed: 1)
        keep(machine.handle(.begun, at: Self.moment(.zero)))
    }

    static func moment(_ elapsed: Duration) -> Moment {
        Moment(
            boot: BootInstant(sinceBoot: .seconds(5000) + elapsed), wall: WallTime(unixSeconds: t0 + elapsed.seconds))
    }

    /// - Parameter revision: of both its parts.
    static func record(
        token: String, life: Duration?, at elapsed: Duration = .zero, revision: UInt64 = 1,
        refresh: String = "refresh-1"
    ) -> SessionRecord {
        let issued = moment(elapsed).wall
        return SessionRecord(
            session: name, provider: "example", environment: "production", method: "password",
            tokens: TokenSet(
                accessToken: Secret(token), refreshToken: Secret(refresh), issuedAt: issued,
                expiresAt: life.map { issued + $0 }),
            user: UserSummary(id: "7", email: "ada@example.org"), rawUser: nil, signedInAt: moment(.zero).wall,
            generation: revision, revision: revision)
    }

    /// The record of another sign-in to the same session.
    static func otherSignIn(token: String, life: Duration?, at elapsed: Duration) -> SessionRecord {
        var record = record(token: token, life: life, at: elapsed, refresh: "refresh of \(token)")
        record.signedInAt = record.tokens.issuedAt
        record.signIn = .random()
        return record
    }

    static var name: SessionName {
        do { return try SessionName("example") } catch { preconditionFailure("a valid name is refused") }
    }

    var now: Moment {
        let now = Self.moment(elapsed)
        return Moment(boot: now.boot, wall: now.wall + wallShift)
    }

    /// Sets the wall clock by hand, and says so.
    mutating func setClock(by shift: Duration) {
        wallShift += shift
        send(.clockSet)
    }

    mutating func advance(_ duration: Duration) {
        elapsed += duration
    }

    /// Goes to the next deadline the machine asked for and wakes it there.
    mutating func sleepUntilWake() throws -> Duration {
        let deadline = try #require(wakeAt)
        elapsed = max(elapsed, deadline - Self.moment(.zero).boot)
        send(.wake)
        return elapsed
    }

    mutating func send(_ event: SessionEvent) {
        keep(machine.handle(event, at: now))
    }

    mutating func tokenRequested(_ caller: UInt64, minValid: Duration? = nil) {
        send(.tokenRequested(CallerID(caller), minValid: minValid))
    }

    /// The provider's response to the request in progress.
    mutating func provider(gives token: String, life: Duration? = .seconds(1000), sentAt: Moment? = nil) throws {
        let sentAt = sentAt ?? now
        let issued = sentAt.wall
        let grant = Grant(
            accessToken: Secret(token), refreshToken: Secret("refresh of \(token)"), issuedAt: issued,
            expiresAt: life.map { issued + $0 })
        send(.requestEnded(try #require(requestsInFlight.last), .success(grant), sentAt: sentAt))
    }

    mutating func provider(fails failure: ProviderFailure) throws {
        send(.requestEnded(try #require(requestsInFlight.last), .failure(failure), sentAt: now))
    }

    mutating func storeTakesIt() throws {
        send(.saved(try #require(saves.last).version))
    }

    mutating func storeRefusesIt(_ error: StoreError = .locked) throws {
        send(.saveFailed(try #require(saves.last).version, error))
    }

    /// It holds this instead, which is newer in a part.
    mutating func storeHolds(_ stored: SessionRecord) throws {
        send(.saveRefused(try #require(saves.last).version, stored))
    }

    /// What it was to write once more.
    mutating func storeTakesRewrite() throws {
        send(.saved(try #require(rewrites.last).version))
    }

    mutating func storeRefusesRewrite(_ error: StoreError) throws {
        send(.saveFailed(try #require(rewrites.last).version, error))
    }

    private mutating func keep(_ turn: SessionTurn) {
        let new = turn.actions
        actions += new
        replies += turn.replies
        wakeAt = turn.wakeUp
        for case .publish(let snapshot) in new { self.snapshot = snapshot }
        for case .rewrite(let record) in new where acceptsRewrites { send(.saved(record.version)) }
    }

    mutating func forgetActions() {
        actions = []
        replies = []
    }

    // MARK: What was asked for

    var requestsInFlight: [RenewalRequestID] {
        actions.compactMap { if case .renew(let id, _) = $0 { id } else { nil } }
    }

    /// With what each renewal was asked for.
    var renewals: [SessionRecord] {
        actions.compactMap { if case .renew(_, let record) = $0 { record } else { nil } }
    }

    var targetedRequests: [RenewalRequestID] {
        actions.compactMap { if case .requestTargeted(let id, _, _) = $0 { id } else { nil } }
    }

    var rereads: Int {
        actions.count { if case .reread = $0 { true } else { false } }
    }

    var saves: [SessionRecord] {
        actions.compactMap { if case .save(let record, _) = $0 { record } else { nil } }
    }

    var rewrites: [SessionRecord] {
        actions.compactMap { if case .rewrite(let record) = $0 { record } else { nil } }
    }

    var comparisons: Int {
        actions.count { if case .compare = $0 { true } else { false } }
    }

    var handovers: Int {
        actions.count { if case .handOver = $0 { true } else { false } }
    }

    /// What the next run would get.
    var handedOver: HandedOverSession? {
        var last: HandedOverSession?
        for case .handOver(let session) in actions { last = session }
        return last
    }

    var deletes: Int {
        actions.count { if case .delete = $0 { true } else { false } }
    }

    /// What is to be revoked of what came after a sign-out.
    var revocations: [SessionRecord] {
        actions.compactMap { if case .revoke(let record) = $0 { record } else { nil } }
    }

    var forgotten: Bool {
        actions.contains { if case .forget = $0 { true } else { false } }
    }

    func answer(to caller: UInt64) -> SessionReply? {
        replies.first { $0.caller == CallerID(caller) }?.reply
    }

    func token(for caller: UInt64) -> String? {
        if case .token(let result) = answer(to: caller) { return result.accessToken }
        return nil
    }

    func failure(for caller: UInt64) -> AgentError? {
        if case .failure(let error) = answer(to: caller) { return error }
        return nil
    }
}

extension ProviderFailure {
    static let unreachable = ProviderFailure.temporary(
        AgentError(.providerUnreachable, "connection refused"), retryAfter: nil)
    static let invalidGrant = ProviderFailure.final(
        AgentError(.refused, "no", httpStatus: 401, providerMessage: "token revoked"))
}
