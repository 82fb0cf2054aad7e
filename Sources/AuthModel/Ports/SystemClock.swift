/// The machine's clocks. Model and machines never read a clock themselves.
package protocol SystemClock: Sendable {
    func now() -> Moment

    /// The boot clock, without the date.
    var bootInstant: BootInstant { get }

    /// Returns at the deadline, or at once if it has passed; time asleep counts (CLOCK_BOOTTIME).
    /// - Throws: `CancellationError` if the waiting task is cancelled.
    func sleep(until deadline: BootInstant) async throws
}

extension SystemClock {
    package var bootInstant: BootInstant { now().boot }
}
