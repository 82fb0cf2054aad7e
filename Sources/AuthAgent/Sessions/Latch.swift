internal import AuthConcurrency
internal import AuthModel
internal import AuthWire
internal import Synchronization

/// Closed at first. Once it is open it stays open, and every wait ends.
final class Latch: Sendable {
    private enum State {
        case closed([ObjectIdentifier: OneShot<Bool>])
        case open
        /// It will not be opened any more.
        case stopped
    }

    private let state = Mutex(State.closed([:]))

    func open() { end(.open) }

    /// Every wait, present and future, fails with `stopping`, unless the latch is open.
    func stop() { end(.stopped) }

    /// Returns when it is open.
    /// - Throws: `stopping` after ``stop()``; ``AuthWire/AgentError/callerGone`` if the task is cancelled.
    func wait() async throws(AgentError) {
        let wait = OneShot<Bool>()
        state.withLock { state in
            switch state {
            case .closed(var waiting):
                waiting[ObjectIdentifier(wait)] = wait
                state = .closed(waiting)
            case .open: wait.send(true)
            case .stopped: wait.send(false)
            }
        }
        guard let isOpen = await wait.value() else {
            state.withLock { state in
                guard case .closed(var waiting) = state else { return }
                waiting[ObjectIdentifier(wait)] = nil
                state = .closed(waiting)
            }
            throw .callerGone
        }
        if !isOpen { throw .stopping }
    }

    private func end(_ end: State) {
        let waiting = state.withLock { state -> [OneShot<Bool>] in
            guard case .closed(let waiting) = state else { return [] }
            state = end
            return Array(waiting.values)
        }
        let isOpen = if case .open = end { true } else { false }
        for wait in waiting { wait.send(isOpen) }
    }
}
