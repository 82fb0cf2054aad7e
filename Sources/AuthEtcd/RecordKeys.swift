import AuthSealedFile

/// The record keys that a host finds in the cluster's record, even if the key was changed several times since it last read that.
///
/// A host knows the members of its time. The roster before each change is sealed with the key before, so with a key and its
/// roster the host knows who may have wrapped the next one, and so on up to the newest.
///
/// Invariant: a key is accepted only from this host, from a host that it knows as a member by then, or with the code of its
/// admission; never one that it has seen replaced.
struct RecordKeys: Sendable {
    /// Where former rosters are sealed.
    static func formerPlace(_ place: String) -> String { place + " former" }

    /// New to this host.
    private(set) var keys: [SealingKey] = []

    private let host: HostState
    private let record: ClusterRecord
    private let place: String
    private var known: [String: [UInt8]]
    /// The epoch of the roster that ``known`` is from.
    private var epoch: UInt64
    private var unread: [[UInt8]]

    /// - Parameter place: ``EtcdPlaces/cluster``.
    init(of record: ClusterRecord, for host: HostState, place: String) {
        (self.host, self.record, self.place) = (host, record, place)
        known = [:]
        epoch = host.accepted?.roster.epoch ?? 0
        unread = record.formerRosters
        know(host.accepted?.roster.hosts ?? [])
        while readRoster() || unwrapKeys() {}
    }

    /// Continues with the hosts of the record itself, which one of the keys has opened.
    mutating func trust(_ roster: ClusterRoster) {
        know(roster.hosts)
        _ = unwrapKeys()
    }

    /// Whether the record was made by a host that had this key.
    func continues(_ newest: [SealingKey]) -> Bool {
        ClusterRoster(opening: record.roster, at: place, with: newest) != nil
            || record.formerRosters.contains {
                ClusterRoster(opening: $0, at: Self.formerPlace(place), with: newest) != nil
            }
    }

    private mutating func know(_ hosts: [ClusterHost]) {
        known = [host.key.id: host.key.publicKey]
        for host in hosts { known[host.id] = host.publicKey }
    }

    /// - Returns: whether there was a later one than before.
    private mutating func readRoster() -> Bool {
        let usable = keys + (host.accepted?.currentKeys.prefix(1) ?? [])
        for (index, sealed) in unread.enumerated() {
            guard let roster = ClusterRoster(opening: sealed, at: Self.formerPlace(place), with: usable),
                roster.cluster == record.cluster, roster.epoch >= epoch
            else { continue }
            unread.remove(at: index)
            epoch = roster.epoch
            know(roster.hosts)
            return true
        }
        return false
    }

    /// - Returns: whether there are more keys than before.
    private mutating func unwrapKeys() -> Bool {
        let before = keys.count
        for wrapped in record.wrapped where wrapped.host == host.key.id && !hasKey(wrapped.key) {
            if let key = unwrapped(wrapped) { keys.append(key) }
        }
        return keys.count > before
    }

    /// A host that was removed has the keys of its time, and what was wrapped then. So none of those makes a new record.
    private func hasKey(_ id: String) -> Bool {
        ((host.accepted?.keys ?? []) + keys).contains { SealedBytes.hex($0.id) == id }
    }

    private func unwrapped(_ wrapped: WrappedKey) -> SealingKey? {
        if let sender = known[wrapped.by], !wrapped.isAdmission {
            return host.key.unwrap(wrapped, by: sender, of: record.cluster)
        }
        // Nobody else knows the code.
        guard wrapped.isAdmission, let code = host.code else { return nil }
        return host.key.unwrap(wrapped, by: wrapped.byPublicKey, of: record.cluster, code: code)
    }
}
