/// How many bytes are kept for one client, and since when nothing of them has moved.
struct BufferedSince {
    private(set) var bytes = 0
    private var since: SuspendingClock.Instant?

    /// - Returns: how many they were.
    mutating func change(to bytes: Int, at now: SuspendingClock.Instant) -> Int {
        defer { self.bytes = bytes }
        if bytes < self.bytes || self.bytes == 0 { since = now }
        return self.bytes
    }

    func age(at now: SuspendingClock.Instant) -> Duration { since.map { now - $0 } ?? .zero }
}
