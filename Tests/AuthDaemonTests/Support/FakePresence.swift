import AuthConcurrency
import AuthModel
import Dispatch
import Synchronization

/// There is no polkit.
struct NoPresence: PresenceCheck {
    func ask(_ question: PresenceQuestion, number: UInt64) async -> PresenceAnswer {
        .unavailable("there is no polkit")
    }
    func withdraw(_ number: UInt64) {}
}

/// A user whose answers the test gives.
final class FakePresence: PresenceCheck {
    private struct State {
        var answer: PresenceAnswer? = .passed
        var asked: [PresenceQuestion] = []
        var open: [UInt64: OneShot<PresenceAnswer>] = [:]
    }

    private let state = Mutex(State())
    private let arrivals = DispatchSemaphore(value: 0)

    /// The questions since the last time.
    func questions() -> [PresenceQuestion] {
        state.withLock { state in
            defer { state.asked = [] }
            return state.asked
        }
    }

    /// From now on; `nil`: the user waits.
    func set(_ answer: PresenceAnswer?) { state.withLock { $0.answer = answer } }

    func ask(_ question: PresenceQuestion, number: UInt64) async -> PresenceAnswer {
        let wait = OneShot<PresenceAnswer>()
        let answer = state.withLock { state in
            state.asked.append(question)
            if state.answer == nil { state.open[number] = wait }
            return state.answer
        }
        arrivals.signal()
        if let answer { return answer }
        return await wait.value() ?? .withdrawn
    }

    func withdraw(_ number: UInt64) { state.withLock { $0.open.removeValue(forKey: number) }?.send(.withdrawn) }

    /// Returns when something is asked.
    func waitForQuestion() { arrivals.wait() }

    /// The answer to what is asked now.
    func answer(_ answer: PresenceAnswer) {
        let open = state.withLock { state in
            defer { state.open = [:] }
            return Array(state.open.values)
        }
        for wait in open { wait.send(answer) }
    }
}
