internal import Glibc
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
        // Signals are handled by other threads.
        var (all, before) = (sigset_t(), sigset_t())
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { _ = unsafe pthread_sigmask(SIG_SETMASK, &before, nil) }
        var made = pthread_t()
        let failure = unsafe pthread_create(
            &made, nil,
            { thread in
                if let thread = unsafe thread {
                    unsafe Unmanaged<BlockingThread>.fromOpaque(thread).takeRetainedValue().runAll()
                }
                return nil
            }, Unmanaged.passRetained(self).toOpaque())
        guard failure == 0 else {
            unsafe Unmanaged.passUnretained(self).release()
            // There is no thread: running the work here is slow, but better than not at all.
            return runAll()
        }
        pthread_detach(made)
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
