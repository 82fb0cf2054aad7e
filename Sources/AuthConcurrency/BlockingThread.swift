internal import Synchronization

/// A thread for blocking work, so that Swift's pool is not blocked. It exists while there is work.
///
/// Invariant: all submitted work is done, in order.
package final class BlockingThread: Sendable {
    package typealias Work = @Sendable () -> Void

    private struct State {
        var work: [Work] = []
        var hasThread = false
    }

    private let state = Mutex(State())

    package init() {}

    /// Does not wait for the work.
    package func submit(_ work: @escaping Work) {
        let needsThread = state.withLock { state in
            state.work.append(work)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if needsThread { start() }
    }

    /// Returns the result of the work. `nil`: the task was cancelled first; the work is done anyway.
    package func run<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value? {
        let result = OneShot<Value>()
        submit { result.send(work()) }
        return await result.value()
    }

    /// The same for a caller that must know the result: it waits even if the task is cancelled.
    package func complete<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            submit { continuation.resume(returning: work()) }
        }
    }

    private func start() {
        // Without a thread, the work runs here: that is slow, but better than not at all.
        if !SystemThread.start({ self.runAll() }) { runAll() }
    }

    private func runAll() {
        while let work = next() { work() }
    }

    private func next() -> Work? {
        state.withLock { state in
            state.hasThread = !state.work.isEmpty
            return state.hasThread ? state.work.removeFirst() : nil
        }
    }
}
