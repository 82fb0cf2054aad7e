import AuthMachines
import AuthModel
import AuthWire

/// What a ``StateBoard`` knows about every session, the store and the network.
struct BoardContents {
    private(set) var snapshots: [SessionName: SessionSnapshot] = [:]
    /// Rendered when a session changes, because each request reads it.
    private(set) var tokens: [SessionName: LiveToken] = [:]
    private var lastToken: UInt64 = 0
    /// Each request reads it, so it is computed at each change.
    private(set) var standard = DefaultSession()
    private(set) var defaultToken: LiveToken?
    var defaultSession: SessionName? { standard.name }
    /// The status of sessions that are known only by name: locked in the store, or being signed in to.
    var placeholders: [SessionName: SessionStatus] = [:]
    var store: StoreInfo
    var isStoreRequested = false
    /// The store is locked, and the names of its sessions could not be read.
    var lacksNames = false
    /// Whether renewals leave the end of a session where it is; only for sessions that were renewed.
    private var fixedEnds: [SessionName: Bool] = [:]
    /// The scopes that sessions lacked for a call.
    private(set) var missingScopes: [SessionName: (signIn: SignInID, MissingScopes)] = [:]
    var network: NetworkStatus
    var waitsIfMetered = false
    /// `nil`: the agent is not locked.
    var lock: LockStatus?
    var watchers: [UInt64: AsyncStream<Void>.Continuation] = [:]
    var lastWatcher: UInt64 = 0
    /// How many groups of changes are in progress. Watchers get one element at the end of them.
    var notificationHolds = 0
    /// The watchers that get an element now.
    var watched: [AsyncStream<Void>.Continuation] { notificationHolds > 0 ? [] : Array(watchers.values) }
    var renewals: [SessionName: Int] = [:]
    /// The events of changes that are not published yet.
    var events: [AgentEvent] = []
    /// A thread is publishing events, until there are none left.
    var isPublishing = false

    init(store: StoreInfo, network: NetworkStatus) {
        self.store = store
        self.network = network
    }

    /// - Returns: the former snapshot.
    mutating func put(_ snapshot: SessionSnapshot?, of session: SessionName) -> SessionSnapshot? {
        let former = snapshots[session]
        if let former, let snapshot, former.signIn == snapshot.signIn {
            fixedEnds[session] = SessionEnd.isFixed(from: former.status, to: snapshot.status) ?? fixedEnds[session]
        } else {
            fixedEnds[session] = nil
        }
        if missingScopes[session]?.signIn != snapshot?.signIn { missingScopes[session] = nil }
        snapshots[session] = snapshot
        tokens[session] = snapshot.flatMap { live($0, after: tokens[session]) }
        if DefaultSession.mayChange(from: former, to: snapshot) {
            findDefault()
        } else if session == defaultSession {
            defaultToken = tokens[session]
        }
        return former
    }

    private mutating func live(_ snapshot: SessionSnapshot, after former: LiveToken?) -> LiveToken? {
        if let former, former.token == snapshot.token { return LiveToken(snapshot, number: former.number) }
        lastToken += 1
        return LiveToken(snapshot, number: lastToken)
    }

    /// - Returns: whether that is new.
    mutating func put(_ missing: MissingScopes, of session: SessionName, signIn: SignInID) -> Bool {
        guard snapshots[session]?.signIn == signIn, missingScopes[session]?.1 != missing else { return false }
        missingScopes[session] = (signIn, missing)
        return true
    }

    mutating func findDefault(_ change: (inout DefaultSession) -> Void = { _ in }) {
        change(&standard)
        standard.update(snapshots)
        defaultToken = defaultSession.flatMap { tokens[$0] }
    }

    /// - Returns: the change, if there is one.
    mutating func changeNetwork(_ change: (inout NetworkStatus) -> Void) -> [BoardChange] {
        var new = network
        change(&new)
        guard new != network else { return [] }
        network = new
        return [BoardChange(topic: .network, name: "changed")]
    }

    func status(_ session: SessionName) -> SessionStatus? {
        snapshots[session].map { whole($0.status) } ?? placeholders[session]
    }

    /// The status with the members that the session's machine does not know.
    func whole(_ status: SessionStatus) -> SessionStatus {
        var status = status
        status.isDefault = status.session == defaultSession
        status.clockSkew = network.clockSkews[status.provider]
        status.store = store.kind
        status.lockedSince = lock?.since
        status.isEndFixed = fixedEnds[status.session] ?? false
        return status
    }
}

/// One event.
struct BoardChange {
    var topic: Topic
    var name: String
    var session: SessionName?
    var status: SessionStatus?
    var lock: LockStatus?
}
