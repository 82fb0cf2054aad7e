import Synchronization

/// Sends a state and its changes to any number of listeners: the current state first, then every change. Without an initial
/// state, listeners receive nothing until there is one.
package final class StateBroadcast<State: Sendable & Equatable>: Sendable {
    private struct Contents {
        var state: State?
        var listeners: [UInt64: AsyncStream<State>.Continuation] = [:]
        var nextListener: UInt64 = 0
    }

    private let inside: Mutex<Contents>

    /// A slower listener loses the oldest changes, never the newest.
    private let backlog = 64

    package init(_ state: State?) {
        inside = Mutex(Contents(state: state))
    }

    package var current: State? {
        inside.withLock { $0.state }
    }

    /// Does nothing if the state has not changed.
    package func set(_ state: State) {
        update { $0 = state }
    }

    /// Changes the state with no other change in between. Listeners receive it if it is another one then.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout State?) -> Result) -> Result {
        inside.withLock { inside in
            let former = inside.state
            defer {
                if let state = inside.state, state != former {
                    for listener in inside.listeners.values { listener.yield(state) }
                }
            }
            return change(&inside.state)
        }
    }

    /// Returns when the state meets the condition.
    /// - Returns: `false`: the task was cancelled first.
    package func wait(until condition: (State) -> Bool) async -> Bool {
        for await state in states() where condition(state) { return true }
        return false
    }

    package func states() -> AsyncStream<State> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: State.self, bufferingPolicy: .bufferingNewest(backlog))
        let number = inside.withLock { inside in
            let number = inside.nextListener
            inside.nextListener += 1
            inside.listeners[number] = continuation
            if let state = inside.state { continuation.yield(state) }
            return number
        }
        continuation.onTermination = { [weak self] _ in
            self?.inside.withLock { $0.listeners[number] = nil }
        }
        return stream
    }

    deinit {
        inside.withLock { inside in
            for listener in inside.listeners.values { listener.finish() }
        }
    }
}
