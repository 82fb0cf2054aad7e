import AuthConcurrency
import Synchronization

/// What has happened in a test, in its order.
final class RecordedNotes: Sendable {
    private let notes = Mutex<[String]>([])

    var all: [String] { notes.withLock { $0 } }

    func add(_ note: String) { notes.withLock { $0.append(note) } }
}

/// A place in a test's stand-in where everybody stops until the test lets them go on.
final class Hold: Sendable {
    private struct State {
        var isReached = false
        var isReleased = false
        var waitingForReach: [OneShot<Void>] = []
        var passing: [OneShot<Void>] = []
    }

    private let state = Mutex(State())

    /// Returns when somebody is there, or was.
    func isReached() async {
        let wait = OneShot<Void>()
        state.withLock { state in
            if state.isReached { wait.send(()) } else { state.waitingForReach.append(wait) }
        }
        _ = await wait.value()
    }

    func release() {
        let passing = state.withLock { state in
            state.isReleased = true
            return state.passing
        }
        for wait in passing { wait.send(()) }
    }

    /// Returns when it is released, or the task is cancelled.
    /// - Returns: whether it was released.
    @discardableResult
    func pass() async -> Bool {
        let wait = OneShot<Void>()
        let waiting = state.withLock { state in
            state.isReached = true
            if state.isReleased { wait.send(()) } else { state.passing.append(wait) }
            defer { state.waitingForReach = [] }
            return state.waitingForReach
        }
        for waiter in waiting { waiter.send(()) }
        return await wait.value() != nil
    }
}
