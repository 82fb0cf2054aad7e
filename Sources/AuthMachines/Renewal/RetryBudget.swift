import AuthModel

/// How often a change of the network may end a back-off: ten times at once, then once a minute.
struct RetryBudget: Sendable {
    private static let most = 10
    private static let interval = Duration.seconds(60)

    private var left = most
    private var refilledAt: BootInstant?

    mutating func spend(at now: BootInstant) -> Bool {
        let since = now - (refilledAt ?? now)
        let earned = Int(since.seconds / Self.interval.seconds)
        if refilledAt == nil || earned > 0 { refilledAt = now }
        left = min(Self.most, left + earned)
        guard left > 0 else { return false }
        left -= 1
        return true
    }
}
