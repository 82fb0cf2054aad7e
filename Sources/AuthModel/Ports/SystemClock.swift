/// The machine's clocks. The core never reads one by itself.
package protocol SystemClock: Sendable {
    func now() -> Moment

    /// Returns at the deadline, or at once when it has passed; time asleep counts (CLOCK_BOOTTIME).
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    func sleep(until deadline: BootInstant) async throws
}
