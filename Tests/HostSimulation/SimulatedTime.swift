import AuthConcurrency
import AuthModel

/// The time of a simulation, and its future events.
///
/// Not shared: a simulation, with all jobs of its processes, runs on one thread.
final class SimulatedTime: @unchecked Sendable {
    private(set) var now = Duration.zero
    private(set) var eventCount = 0
    /// The last element is the next event. If two are due at the same time, the one added first comes first.
    private var events: [(at: Duration, happen: () -> Void)] = []
    /// The clock that stands still while a machine sleeps had this time at the beginning. These machines do not sleep.
    private let base = SuspendingClock.now

    /// The date of the beginning.
    static let begin = WallTime(unixSeconds: 1_800_000_000)

    var uptime: SuspendingClock.Instant { base.advanced(by: now) }

    func after(_ wait: Duration, _ happen: @escaping () -> Void) {
        let at = now + max(.zero, wait)
        var (low, high) = (0, events.count)
        while low < high {
            let middle = (low + high) / 2
            if events[middle].at > at { low = middle + 1 } else { high = middle }
        }
        events.insert((at, happen), at: low)
    }

    /// Runs the next event.
    /// - Returns: `false` if nothing is due by then.
    func happen(before end: Duration) -> Bool {
        guard let next = events.last, next.at <= end else { return false }
        events.removeLast()
        now = next.at
        eventCount += 1
        next.happen()
        return true
    }

    func pass(to end: Duration) { now = max(now, end) }

    /// Removes all events.
    func clear() { events = [] }
}

/// Whether a process runs. After its end, its remaining tasks have no effect.
///
/// Not shared, as ``SimulatedTime``.
final class ProcessLife: @unchecked Sendable {
    private(set) var isAlive = true
    private let time: SimulatedTime

    init(_ time: SimulatedTime) {
        self.time = time
    }

    func end() { isAlive = false }

    /// Returns after this time.
    func wait(for duration: Duration) async throws {
        try Task.checkCancellation()
        guard isAlive else { throw CancellationError() }
        guard duration > .zero else { return }
        let end = OneShot<Void>()
        time.after(duration) { end.send(()) }
        guard await end.value() != nil else { throw CancellationError() }
    }
}

/// The clocks of a host, whose date may be wrong.
struct SimulatedClock: SystemClock {
    let time: SimulatedTime
    let life: ProcessLife
    let host: SimulatedHost

    func now() -> Moment {
        let date = SimulatedTime.begin + (time.now + host.clockError)
        return Moment(boot: BootInstant(sinceBoot: time.now + .seconds(5000)), wall: date)
    }

    func sleep(until deadline: BootInstant) async throws { try await life.wait(for: deadline - now().boot) }
}

/// Reports to a process that the clock of its host was set. These machines do not sleep.
struct SimulatedSleepWatch: SleepWatch {
    private let reports: AsyncStream<SleepEvent>
    private let report: AsyncStream<SleepEvent>.Continuation

    init() {
        (reports, report) = AsyncStream.makeStream(of: SleepEvent.self)
    }

    /// For one listener.
    func events() -> AsyncStream<SleepEvent> { reports }

    func clockWasSet() { report.yield(.clockSet) }
}
