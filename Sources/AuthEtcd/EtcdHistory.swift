/// What this host knows of the value of ``EtcdPlaces/history``.
///
/// After etcd went back, other changes may bring it to the revision that a host knows, so that this host cannot notice
/// it by itself. The first host that notices writes another value. Each host that finds an unexpected value reads
/// everything again, whatever the revisions are.
struct EtcdHistory: Sendable, Equatable {
    /// Values that are remembered: a backup may have a former one.
    private static let maxValues = 8
    /// Bytes of a value that count; hosts write 13 at most.
    static let valueBytes = 64

    /// What this host has found or written, the present one last. It is empty if etcd had none.
    private var values: [[UInt8]] = []

    var isRead: Bool { !values.isEmpty }

    /// Whether etcd has another value than this host expects.
    func isOther(_ entry: EtcdEntry?) -> Bool { values.last.map { $0 != Self.value(entry) } ?? false }

    /// Whether a host has written this value since this one has read the last one.
    func isNew(_ entry: EtcdEntry?) -> Bool { entry != nil && !values.contains(Self.value(entry)) }

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
