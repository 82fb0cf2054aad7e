/// A point on the clock of a ``SocketExecutor``.
///
/// Not a `SuspendingClock.Instant`: the compiler does not know the layout of that type, so that each use of an optional
/// one calls functions of the runtime, several times in each turn of the loop.
struct ExecutorInstant: Comparable {
    /// Since the executor was created.
    let sinceStart: Duration

    static func < (left: ExecutorInstant, right: ExecutorInstant) -> Bool { left.sinceStart < right.sinceStart }
    static func + (left: ExecutorInstant, right: Duration) -> ExecutorInstant {
        ExecutorInstant(sinceStart: left.sinceStart + right)
    }
    static func - (left: ExecutorInstant, right: ExecutorInstant) -> Duration { left.sinceStart - right.sinceStart }
}
