import AuthModel

/// A limited set of keys that expire, such as those of answered questions.
struct RememberedKeys<Key: Hashable & Sendable>: Sendable {
    private let limit: Int
    private var ends: [Key: BootInstant] = [:]

    init(limit: Int) { self.limit = limit }

    /// The time until the key expires; `nil` if it is not remembered.
    func remaining(_ key: Key, at now: BootInstant) -> Duration? {
        guard let end = ends[key], now < end else { return nil }
        return end - now
    }

    /// If the set is full, the key is not remembered.
    mutating func remember(_ key: Key, for time: Duration, at now: BootInstant) {
        ends = ends.filter { now < $0.value }
        if ends.count < limit { ends[key] = now + time }
    }

    mutating func removeAll() { ends = [:] }
}
