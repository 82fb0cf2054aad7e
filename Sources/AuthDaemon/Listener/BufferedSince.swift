/// How many bytes are buffered for one client, and since when none of them have moved.
struct BufferedSince {
    private(set) var bytes = 0
    private var since: ExecutorInstant?

    /// - Returns: the former number.
    mutating func change(to bytes: Int, at now: ExecutorInstant) -> Int {
        defer { self.bytes = bytes }
        if bytes < self.bytes || self.bytes == 0 { since = now }
        return self.bytes
    }

    func age(at now: ExecutorInstant) -> Duration { since.map { now - $0 } ?? .zero }
}
