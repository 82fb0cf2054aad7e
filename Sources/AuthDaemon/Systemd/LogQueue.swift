import AuthConcurrency
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
    /// Lines that wait, including the one that is being written. One event causes far fewer.
    static let mostLines = 1024
    /// The bytes of these lines. Most lines have a few hundred.
    static let mostBytes = 1 << 20
    /// How long the agent waits at its end for a log that does not receive the last lines.
    static let longestFinish = Duration.seconds(1)

    private struct State {
        /// The first one is being written.
        var entries: [LogEntry] = []
        var bytes = 0
        /// Lines since the last report.
        var dropped = 0
        /// All lines so far, including reports.
        var added = 0
        var isOpen = false
        var isWriting = false

        /// After lines were dropped, half of the room must be free: otherwise a slow log would get a report between any two
        /// lines.
        func hasRoom(for entry: LogEntry) -> Bool {
            let share = dropped == 0 ? 1 : 2
            return entries.count < LogQueue.mostLines / share
                && bytes + entry.bytes.count <= LogQueue.mostBytes / share
        }

        mutating func append(_ entry: LogEntry) {
            entries.append(entry)
            bytes += entry.bytes.count
            added += 1
        }

        mutating func removeFirst() { bytes -= entries.removeFirst().bytes.count }
    }

    private let state = Mutex(State())
    private let output: LogOutput
    private let thread = BlockingThread()
    /// How many lines have been written.
    private let written = StateBroadcast(0)

    init(to output: LogOutput) {
        self.output = output
    }

    /// Until this call, lines are kept, and there is no thread.
    func start() {
        startThread { $0.isOpen = true }
    }

    /// It does not block.
    /// - Parameter isLimited: `false`: the line is accepted even if there is no room. The caller limits their number.
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
            state.append(entry)
        }
    }

    /// Returns when all lines that were added before are written, or when the task is cancelled.
    func flush() async {
        let last = state.withLock { $0.added }
        _ = await written.wait { $0 >= last }
    }

    /// Returns when all lines are written, or after that time. No line may be added meanwhile.
    func finish(within limit: Duration = longestFinish) async {
        startThread { state in
            state.isOpen = true
            report(&state)
        }
        guard state.withLock({ !$0.entries.isEmpty }) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { [self] in await flush() }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func report(_ state: inout State) {
        guard state.dropped > 0 else { return }
        let lines = state.dropped == 1 ? "1 line is" : "\(state.dropped) lines are"
        state.append(
            output.format(
                LogLine(
                    level: .warning, message: "\(lines) missing here: the log did not accept lines fast enough.",
                    fields: ["dropped": "\(state.dropped)"])))
        state.dropped = 0
    }

    // MARK: The thread

    private func startThread(after change: (inout State) -> Void) {
        let isNeeded = state.withLock { state in
            change(&state)
            guard state.isOpen, !state.isWriting, !state.entries.isEmpty else { return false }
            state.isWriting = true
            return true
        }
        // Without the lock: if no thread can be created, the work is done here.
        if isNeeded { thread.submit { [self] in writeAll() } }
    }

    private func writeAll() {
        while let entry = next() {
            output.write(entry)
            state.withLock { $0.removeFirst() }
            written.update { $0 = ($0 ?? 0) + 1 }
        }
    }

    private func next() -> LogEntry? {
        state.withLock { state in
            if state.entries.isEmpty { report(&state) }
            state.isWriting = !state.entries.isEmpty
            return state.entries.first
        }
    }
}
