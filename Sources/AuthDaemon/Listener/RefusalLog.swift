/// Decides which refusals are logged: a client that connects in a loop must not fill the log.
///
/// Invariant: there is at most one line in each ``interval``, and it covers every refusal.
struct RefusalLog {
    static let interval = Duration.seconds(60)

    enum Decision: Equatable {
        /// It gets its own line.
        case log
        /// It is counted. The first one says when the count is to be logged.
        case count(until: ExecutorInstant?)
    }

    /// Until then refusals are counted.
    private var quietUntil: ExecutorInstant?
    private var counted = 0

    mutating func refused(at now: ExecutorInstant) -> Decision {
        guard counted == 0 else {
            counted += 1
            return .count(until: nil)
        }
        if let quietUntil, now < quietUntil {
            counted = 1
            return .count(until: quietUntil)
        }
        quietUntil = now + Self.interval
        return .log
    }

    /// Begins a new count.
    /// - Returns: the former one, to be logged now.
    mutating func resetCount(at now: ExecutorInstant) -> Int {
        defer { counted = 0 }
        quietUntil = now + Self.interval
        return counted
    }
}
