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
        inside.withLock { inside in
            guard state != inside.state else { return }
            inside.state = state
            for listener in inside.listeners.values { listener.yield(state) }
        }
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
