import Synchronization

/// A value that is set once. Waiters get it before and after that.
package final class Signal<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiting: [@Sendable (Value) -> Void] = []
    }
    private let state = Mutex(State())

    package init() {}

    package func send(_ value: Value) {
        let waiting = state.withLock { state -> [@Sendable (Value) -> Void] in
            guard state.value == nil else { return [] }
            state.value = value
            defer { state.waiting = [] }
            return state.waiting
        }
        for callback in waiting { callback(value) }
    }

    package var isSent: Bool { state.withLock { $0.value != nil } }

    package func whenSent(_ callback: @escaping @Sendable (Value) -> Void) {
        let value = state.withLock { state in
            if state.value == nil { state.waiting.append(callback) }
            return state.value
        }
        if let value { callback(value) }
    }

    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            whenSent { continuation.resume(returning: $0) }
        }
    }
}
