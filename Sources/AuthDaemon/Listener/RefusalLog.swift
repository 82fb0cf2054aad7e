/// Decides what of many refusals becomes a line of the log: a client that connects in a loop must not fill it.
///
/// Invariant: in each ``interval`` there is at most one line, and every refusal is in one.
struct RefusalLog {
    static let interval = Duration.seconds(60)

    enum Decision: Equatable {
        /// It has a line of its own.
        case log
        /// It is counted. The first that is names when the count is to be logged.
        case count(until: SuspendingClock.Instant?)
    }

    /// Until then further refusals are counted.
    private var quietUntil: SuspendingClock.Instant?
    private var counted = 0

    mutating func refused(at now: SuspendingClock.Instant) -> Decision {
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

    /// How many were counted, which is logged now.
    mutating func taken(at now: SuspendingClock.Instant) -> Int {
        defer { counted = 0 }
        quietUntil = now + Self.interval
        return counted
    }
}
