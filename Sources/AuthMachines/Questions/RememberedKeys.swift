import AuthModel

/// Keys that count until a moment, such as those of questions that were answered; a limited number of them.
struct RememberedKeys<Key: Hashable & Sendable>: Sendable {
    private let limit: Int
    private var ends: [Key: BootInstant] = [:]

    init(limit: Int) { self.limit = limit }

    /// For how long the key still counts; `nil`: it does not.
    func remaining(_ key: Key, at now: BootInstant) -> Duration? {
        guard let end = ends[key], now < end else { return nil }
        return end - now
    }

    /// Without room, the key is not remembered.
    mutating func remember(_ key: Key, for time: Duration, at now: BootInstant) {
        ends = ends.filter { now < $0.value }
        if ends.count < limit { ends[key] = now + time }
    }

    mutating func removeAll() { ends = [:] }
}
