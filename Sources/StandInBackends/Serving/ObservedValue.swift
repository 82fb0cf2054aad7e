import Synchronization

/// A value that tasks can wait for.
///
/// Invariant: a waiter is resumed exactly once, by a change that matches or by its cancellation.
final class ObservedValue<Value: Sendable>: Sendable {
    private struct Waiter {
        let matches: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var lastWaiter: UInt64 = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock { $0.value } }

    func update(_ change: (inout Value) -> Void) {
        let matching = state.withLock { state in
            change(&state.value)
            let value = state.value
            let matching = state.waiters.filter { $0.value.matches(value) }
            for id in matching.keys { state.waiters[id] = nil }
            return matching.values.map(\.continuation)
        }
        for continuation in matching { continuation.resume() }
    }

    /// Returns when the value matches.
    /// - Throws: `CancellationError` if the task is cancelled.
    func wait(until matches: @escaping @Sendable (Value) -> Bool) async throws {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let isOver = state.withLock { state in
                    guard !matches(state.value), !Task.isCancelled else { return true }
                    state.waiters[id] = Waiter(matches: matches, continuation: continuation)
                    return false
                }
                if isOver { continuation.resume() }
            }
            try Task.checkCancellation()
        } onCancel: {
            let waiter = state.withLock { $0.waiters.removeValue(forKey: id) }
            waiter?.continuation.resume(throwing: CancellationError())
        }
    }
}
