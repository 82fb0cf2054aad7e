internal import Synchronization

/// A value that one task waits for. The wait ends once: with the value, or because the task was cancelled.
///
/// Value and cancellation may each come before, during or after the wait: the first one counts.
package final class OneShot<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case waiting(CheckedContinuation<Value?, Never>)
        /// `nil`: cancelled.
        case ended(Value?)
    }

    private let state = Mutex(State.pending)

    package init() {}

    /// - Returns: whether the wait ends with this value; `false` if it had ended before.
    @discardableResult
    package func send(_ value: Value) -> Bool { end(value) }

    /// For one task. `nil`: the task was cancelled first.
    package func value() async -> Value? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let ended = state.withLock { state -> Value?? in
                    if case .ended(let value) = state { return .some(value) }
                    state = .waiting(continuation)
                    return .none
                }
                if let ended { continuation.resume(returning: ended) }
            }
        } onCancel: {
            _ = end(nil)
        }
    }

    private func end(_ value: Value?) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value?, Never>?) in
            switch state {
            case .pending:
                state = .ended(value)
                return (true, nil)
            case .waiting(let continuation):
                state = .ended(value)
                return (true, continuation)
            case .ended: return (false, nil)
            }
        }
        waiting?.resume(returning: value)
        return isFirst
    }
}

/// Completes the work even if the waiting task is cancelled: for work that must not be interrupted when the agent stops.
package func withoutCancellation<Value: Sendable>(_ work: @escaping @Sendable () async -> Value) async -> Value {
    // A child task would be cancelled with its parent. This one ends before the caller continues.
    await Task(executorPreference: TaskExecution.executor) { await work() }.value
}

/// The executor of tasks that are not child tasks.
package enum TaskExecution {
    /// Child tasks inherit the executor of their parent; other tasks do not. `nil`: Swift's pool. A simulation runs all
    /// tasks of a process on one thread.
    @TaskLocal package static var executor: (any TaskExecutor)?
}
