import AuthWire

/// Tokens of a sign-in, by the number of the refresh token.
struct WrittenTokens: Equatable {
    let account: Int
    let number: Int
}

/// The data of etcd: keys, their changes, and leases. A copy is a backup.
struct EtcdDatabase {
    struct Entry {
        let value: [UInt8]
        let revision: Int64
        /// 0: none.
        let lease: Int64
    }

    struct Change {
        let key: String
        let revision: Int64
        /// `nil`: it was deleted.
        let entry: Entry?
    }

    struct Lease {
        let life: Duration
        var end: Duration
    }

    enum Failure: Error {
        case leaseNotFound
    }

    /// Differs after a restore with new members.
    var clusterID = 1
    private(set) var revision: Int64 = 1
    private(set) var entries: [String: Entry] = [:]
    private(set) var leases: [Int64: Lease] = [:]
    private(set) var history: [Change] = []
    /// The last change of a session or of the list of hosts.
    private(set) var lastRecordChange: Int64 = 0
    /// The newest tokens of the session that were written.
    var newestWritten: WrittenTokens?
    /// Accounts whose sign-ins the last sign-out lists as ended.
    var endedAccounts: Set<Int> = []
    private var lastLease: Int64 = 0

    // MARK: Keys

    func keys(from start: String, to end: [UInt8]) -> [String] {
        entries.keys.filter { $0 >= start && $0.utf8.lexicographicallyPrecedes(end) }.sorted()
    }

    /// - Parameter isFirst: whether the change is the first one of its transaction.
    mutating func put(_ value: [UInt8], to key: String, lease: Int64, isFirst: Bool) throws(Failure) {
        guard lease == 0 || leases[lease] != nil else { throw .leaseNotFound }
        change(key, value: value, lease: lease, isFirst: isFirst)
    }

    /// - Returns: whether the key existed.
    mutating func delete(_ key: String, isFirst: Bool) -> Bool {
        guard entries[key] != nil else { return false }
        change(key, value: nil, lease: 0, isFirst: isFirst)
        return true
    }

    private mutating func change(_ key: String, value: [UInt8]?, lease: Int64, isFirst: Bool) {
        if isFirst { revision += 1 }
        let entry = value.map { Entry(value: $0, revision: revision, lease: lease) }
        entries[key] = entry
        history.append(Change(key: key, revision: revision, entry: entry))
        if Self.isSession(key) || Self.isHostList(key) { lastRecordChange = revision }
    }

    static func isSession(_ key: String) -> Bool { key.contains("/sessions/") }
    static func isHolder(_ key: String) -> Bool { key.contains("/holders/") }
    static func isSignOut(_ key: String) -> Bool { key.contains("/signouts/") }
    static func isLifetime(_ key: String) -> Bool { key.contains("/lifetimes/") }
    static func isMark(_ key: String) -> Bool { key.hasSuffix("/history") }
    /// The cluster's record, with its hosts.
    static func isHostList(_ key: String) -> Bool { key.hasSuffix("/cluster") }

    var hasSession: Bool { entries.keys.contains(where: Self.isSession) }

    /// The value that the first host that notices a restore replaces; empty if there is none yet.
    var mark: [UInt8] { entries.first { Self.isMark($0.key) }?.value.value ?? [] }

    /// A copy with another value for each of these keys.
    /// - Parameter entry: `nil`: removes the keys.
    func replacing(_ isReplaced: (String) -> Bool, by entry: Entry?) -> EtcdDatabase {
        var other = self
        for key in entries.keys where isReplaced(key) { other.entries[key] = entry }
        return other
    }

    // MARK: Leases

    mutating func grant(_ life: Duration, at now: Duration) -> Int64 {
        lastLease += 1
        leases[lastLease] = Lease(life: life, end: now + life)
        return lastLease
    }

    /// - Returns: the life of the lease; `nil`: it has ended.
    mutating func keep(_ lease: Int64, at now: Duration) -> Duration? {
        guard let life = leases[lease]?.life else { return nil }
        leases[lease]?.end = now + life
        return life
    }

    /// Makes this backup the state of etcd after a restore: leases begin again, and no lease number is used twice.
    mutating func restored(instead former: EtcdDatabase, isNew: Bool, at now: Duration) {
        clusterID = former.clusterID + (isNew ? 1 : 0)
        lastLease = former.lastLease
        for (lease, known) in leases { leases[lease]?.end = now + known.life }
    }

    /// Without a majority, and with a new leader, leases last longer.
    mutating func prolongLeases(to end: Duration) {
        for (lease, known) in leases { leases[lease]?.end = max(known.end, end + known.life) }
    }

    var nextLeaseEnd: Duration? { leases.values.map(\.end).min() }

    /// - Parameter keepsHolds: an injected fault.
    mutating func endLeases(at now: Duration, keepsHolds: Bool) {
        for lease in leases.filter({ $0.value.end <= now }).keys.sorted() {
            leases[lease] = nil
            var isFirst = true
            for key in entries.filter({ $0.value.lease == lease }).keys.sorted() {
                if keepsHolds, Self.isHolder(key) { continue }
                if delete(key, isFirst: isFirst) { isFirst = false }
            }
        }
    }
}
