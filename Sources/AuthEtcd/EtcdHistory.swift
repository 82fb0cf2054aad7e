/// What this host knows of the value of ``EtcdPlaces/history``.
///
/// After etcd went back, other changes may bring it to the revision that a host knows, so that this host cannot notice
/// it by itself. The first host that notices writes another value. Each host that finds an unexpected value reads
/// everything again, whatever the revisions are.
struct EtcdHistory: Sendable, Equatable {
    /// Values that are remembered: a backup may have a former one.
    private static let maxValues = 8
    /// Bytes of a value that count; hosts write 34 at most.
    static let valueBytes = 64
    /// Digits of the largest cluster ID.
    private static let clusterDigits = 20

    /// What this host has found or written, the present one last. It is empty if etcd had none.
    private var values: [[UInt8]] = []

    var isRead: Bool { !values.isEmpty }

    /// Whether etcd has a different value than this host expects.
    func isOther(_ entry: EtcdEntry?) -> Bool { values.last.map { $0 != Self.value(entry) } ?? false }

    /// Whether a host has written this value since this one has read the last one.
    func isNew(_ entry: EtcdEntry?) -> Bool { entry != nil && !values.contains(Self.value(entry)) }

    /// Whether it is the mark of the restore that this host has noticed: another host has written it in this cluster,
    /// since this host read the last mark. One from another cluster is that of a former restore, which the backup has.
    /// - Parameter cluster: the present ID of etcd's cluster; empty if it is unknown.
    func isOfThisRestore(_ entry: EtcdEntry?, in cluster: String) -> Bool {
        guard let entry, isNew(entry) else { return false }
        // Former versions of authd write no cluster ID.
        guard !cluster.isEmpty, let written = Self.cluster(of: entry) else { return true }
        return written == cluster.prefix(Self.clusterDigits)
    }

    /// A new value, for a restore that this host has noticed.
    static func mark(_ random: UInt64, in cluster: String) -> [UInt8] {
        let suffix = cluster.isEmpty ? "" : "@" + cluster.prefix(clusterDigits)
        return Array((String(random, radix: 36) + suffix).utf8)
    }

    private static func cluster(of entry: EtcdEntry) -> Substring? {
        let parts = String(decoding: entry.value, as: UTF8.self).split(separator: "@", maxSplits: 1)
        return parts.count == 2 ? parts[1] : nil
    }

    /// Conditions that hold as long as etcd has the value that this host expects, so that the revisions which the host
    /// knows are of the same history.
    /// - Parameter place: ``EtcdPlaces/history``.
    func conditions(at place: String) -> [EtcdRequest.Condition] {
        guard let value = values.last else { return [] }
        guard !value.isEmpty else { return [.changed(key: place, at: 0)] }
        // Hosts write shorter values. The rest of a longer one is not stored, so it cannot be compared.
        return value.count < Self.valueBytes ? [.has(key: place, value: value)] : []
    }

    mutating func accept(_ entry: EtcdEntry?) {
        let value = Self.value(entry)
        guard value != values.last else { return }
        values = (values + [value]).suffix(Self.maxValues)
    }

    private static func value(_ entry: EtcdEntry?) -> [UInt8] { Array((entry?.value ?? []).prefix(valueBytes)) }
}
