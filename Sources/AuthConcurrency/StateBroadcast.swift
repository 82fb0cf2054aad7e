import Synchronization

/// Sends a state and its changes to any number of listeners: the current state first, then every change. Without an initial
/// state, listeners receive nothing until there is one.
///
/// No listener resumes under the lock: the task of a listener has a lock, too, which is held while its cancellation ends the
/// listener here.
package final class StateBroadcast<State: Sendable & Equatable>: Sendable {
    private typealias Listener = AsyncStream<State>.Continuation

    private struct Contents {
        var state: State?
        var listeners: [UInt64: Listener] = [:]
        var nextListener: UInt64 = 0
        /// Changes that are to be sent, and to whom, in their order.
        var unsent: [(state: State, listeners: [Listener])] = []
        /// A thread is sending them.
        var isSending = false
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

    /// Changes the state atomically. If it is different then, listeners receive it, from this thread or from one that
    /// is still sending an earlier change.
    @discardableResult
    package func update<Result: Sendable>(_ change: (inout State?) -> Result) -> Result {
        let (result, sends) = inside.withLock { inside in
            let former = inside.state
            let result = change(&inside.state)
            guard let state = inside.state, state != former, !inside.listeners.isEmpty else { return (result, false) }
            inside.unsent.append((state, Array(inside.listeners.values)))
            defer { inside.isSending = true }
            return (result, !inside.isSending)
        }
        if sends { send() }
        return result
    }

    private func send() {
        while let (state, listeners) = nextUnsent() {
            for listener in listeners { listener.yield(state) }
        }
    }

    private func nextUnsent() -> (state: State, listeners: [Listener])? {
        inside.withLock { inside in
            inside.isSending = !inside.unsent.isEmpty
            return inside.isSending ? inside.unsent.removeFirst() : nil
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
