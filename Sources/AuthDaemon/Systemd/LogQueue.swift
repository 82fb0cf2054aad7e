import AuthConcurrency
import AuthModel
import Logging
import Synchronization

/// A line as bytes, ready to be written.
struct LogEntry: Sendable, Equatable {
    let bytes: [UInt8]
    /// Where the fields of a journal entry end.
    let ends: [Int]

    init(fields: [[UInt8]]) {
        bytes = Array(fields.joined())
        ends = fields.reduce(into: []) { ends, field in ends.append((ends.last ?? 0) + field.count) }
    }
}

/// Where lines are written.
struct LogOutput: Sendable {
    let format: @Sendable (LogLine) -> LogEntry
    /// It may block.
    let write: @Sendable (LogEntry) -> Void
}

/// Writes log lines on a separate thread. If neither journald nor the reader of stderr receives them, only that thread
/// blocks.
///
/// Invariant: lines are written in the order of the calls. Lines that do not fit are dropped, and one line reports how many.
final class LogQueue: Sendable {
    /// Lines that wait, including the one that is being written, but not those of the audit log. One event causes far
    /// fewer.
    static let mostLines = 1024
    /// The bytes of these lines. Most lines have a few hundred.
    static let mostBytes = 1 << 20
    /// How long the agent waits at its end for a log that accepts no line.
    static let longestPause = Duration.seconds(1)
    /// How long it waits for a slow log. Then the lines that still wait are dropped, and the log has ``longestPause``
    /// to accept a line with their number. With requests in progress (5 s) and the store (4 s), the total is below the
    /// units' `TimeoutStopSec=` (15 s).
    static let longestFinish = Duration.seconds(3)
    /// The time between two attempts to create a thread. They fail while memory or `TasksMax=` is used up.
    static let threadPause = Duration.milliseconds(250)

    private struct State {
        struct Waiting {
            let entry: LogEntry
            let isLimited: Bool
            /// How many lines are lost if this one is dropped: a report stands for those that it counts.
            let number: Int
        }

        /// The first one is being written, if there is a thread.
        private(set) var lines: [Waiting] = []
        /// How many of them are limited, and the bytes of these.
        private var (limited, bytes) = (0, 0)
        /// Lines since the last report.
        var dropped = 0
        /// All lines so far, including reports.
        private(set) var added = 0
        /// When the log last accepted a line.
        private(set) var accepted: BootInstant?
        var isOpen = false
        var isWriting = false

        var needsThread: Bool { isOpen && !isWriting && !lines.isEmpty }

        /// After lines were dropped, half of the room must be free: otherwise a slow log would get a report between any two
        /// lines.
        func hasRoom(for entry: LogEntry) -> Bool {
            let share = dropped == 0 ? 1 : 2
            return limited < LogQueue.mostLines / share
                && bytes + entry.bytes.count <= LogQueue.mostBytes / share
        }

        mutating func append(_ entry: LogEntry, isLimited: Bool = true, number: Int = 1) {
            lines.append(Waiting(entry: entry, isLimited: isLimited, number: number))
            count(1, lines.count - 1)
            added += 1
        }

        mutating func removeFirst(at now: BootInstant) {
            count(-1, 0)
            lines.removeFirst()
            accepted = now
        }

        /// Drops all lines but the one that is being written.
        /// - Returns: how many.
        mutating func dropWaiting() -> Int {
            let first = isWriting ? 1 : 0
            for index in lines.indices.dropFirst(first) {
                count(-1, index)
                dropped += lines[index].number
            }
            let number = lines.count - first
            lines.removeLast(number)
            return number
        }

        private mutating func count(_ sign: Int, _ index: Int) {
            guard lines[index].isLimited else { return }
            limited += sign
            bytes += sign * lines[index].entry.bytes.count
        }
    }

    private let state = Mutex(State())
    private let output: LogOutput
    private let clock: any SystemClock
    private let makeThread: @Sendable (@escaping @Sendable () -> Void) -> Bool
    /// How many lines have been written, or dropped after they were added.
    private let done = StateBroadcast(0)

    /// - Parameter makeThread: runs the work on another thread; `false` if there is none.
    init(
        to output: LogOutput, clock: any SystemClock = BootClock(),
        makeThread: @escaping @Sendable (@escaping @Sendable () -> Void) -> Bool = SystemThread.start
    ) {
        self.output = output
        self.clock = clock
        self.makeThread = makeThread
    }

    /// Until this call, lines are kept, and there is no thread.
    func start() {
        startThread { $0.isOpen = true }
    }

    /// It does not block. If no thread can be created, the line waits for the next call.
    /// - Parameter isLimited: `false`: the line is accepted even if there is no room, and does not count. The caller
    ///   limits the number of these lines.
    func add(_ line: LogLine, isLimited: Bool = true) {
        let entry = output.format(line)
        startThread { state in
            if isLimited {
                guard state.hasRoom(for: entry) else {
                    state.dropped += 1
                    return
                }
                report(&state)
            }
            state.append(entry, isLimited: isLimited)
        }
    }

    /// Returns when all lines that were added before are written, or when the task is cancelled.
    func flush() async {
        let last = state.withLock { $0.added }
        while state.withLock({ $0.needsThread }) {
            guard (try? await clock.sleep(until: clock.bootInstant + Self.threadPause)) != nil else { return }
            startThread { _ in }
        }
        _ = await done.wait { $0 >= last }
    }

    /// Returns when all lines are written, when the log has accepted none for `pause`, or soon after the limit: then
    /// the lines that wait are dropped, and a last line reports how many. No line may be added meanwhile.
    func finish(pause: Duration = longestPause, within limit: Duration = longestFinish) async {
        startThread { state in
            state.isOpen = true
            report(&state)
        }
        let end = clock.bootInstant + limit
        guard await !isFinished(pausing: pause, until: end), clock.bootInstant >= end else { return }
        startThread { state in
            let number = state.dropWaiting()
            done.update { $0 = ($0 ?? 0) + number }
            report(&state)
        }
        _ = await isFinished(pausing: pause, until: end + pause)
    }

    /// Waits while lines are written.
    private func isFinished(pausing pause: Duration, until end: BootInstant) async -> Bool {
        let begin = clock.bootInstant
        var deadline = min(begin + pause, end)
        repeat {
            if await isEmpty(by: deadline) { return true }
            // A line that was accepted meanwhile extends the deadline.
            deadline = min((state.withLock { $0.accepted } ?? begin) + pause, end)
        } while clock.bootInstant < deadline
        return false
    }

    private func isEmpty(by deadline: BootInstant) async -> Bool {
        guard state.withLock({ !$0.lines.isEmpty }) else { return true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await flush() }
            group.addTask { [clock] in try? await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
        return state.withLock { $0.lines.isEmpty }
    }

    private func report(_ state: inout State) {
        guard state.dropped > 0 else { return }
        let lines = state.dropped == 1 ? "1 line is" : "\(state.dropped) lines are"
        state.append(
            output.format(
                LogLine(
                    level: .warning, message: "\(lines) missing here: the log did not accept lines fast enough.",
                    fields: ["dropped": "\(state.dropped)"])), number: state.dropped)
        state.dropped = 0
    }

    // MARK: The thread

    private func startThread(after change: (inout State) -> Void) {
        let isNeeded = state.withLock { state in
            change(&state)
            guard state.needsThread else { return false }
            state.isWriting = true
            return true
        }
        // The caller must not write the lines: it may be the thread of the sockets.
        if isNeeded, !makeThread({ [self] in writeAll() }) { state.withLock { $0.isWriting = false } }
    }

    private func writeAll() {
        while let entry = next() {
            output.write(entry)
            let now = clock.bootInstant
            state.withLock { $0.removeFirst(at: now) }
            done.update { $0 = ($0 ?? 0) + 1 }
        }
    }

    private func next() -> LogEntry? {
        state.withLock { state in
            if state.lines.isEmpty { report(&state) }
            state.isWriting = !state.lines.isEmpty
            return state.lines.first?.entry
        }
    }
}
