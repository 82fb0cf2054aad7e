internal import Synchronization

/// Runs work that is begun without waiting for it: every task is a child of ``run()``.
///
/// Invariants: accepted work is done, in a cancelled task if ``run()`` has been cancelled; other work is refused to its
/// caller; nothing is done any more when ``run()`` has returned.
package final class TaskPool: Sendable {
    package typealias Work = @Sendable () async -> Void

    private enum Step: Sendable {
        case begin([Work])
        case close
    }

    private struct ResumedRun {
        let idle: CheckedContinuation<Step, Never>
        let step: Step

        func goOn() { idle.resume(returning: step) }
    }

    private struct State {
        /// Accepted, and not begun.
        var accepted: [Work] = []
        /// Begun, and not ended.
        var begun = 0
        var isStopping = false
        var isClosed = false
        /// ``run()``, while there is nothing for it to do.
        var idle: CheckedContinuation<Step, Never>?

        /// `nil`: there is nothing to do now.
        mutating func nextStep() -> Step? {
            if !accepted.isEmpty {
                begun += accepted.count
                defer { accepted = [] }
                return .begin(accepted)
            }
            guard isStopping, begun == 0 else { return nil }
            isClosed = true
            return .close
        }

        /// What ``run()`` does next, if it waits for that.
        mutating func wake() -> ResumedRun? {
            guard let idle, let step = nextStep() else { return nil }
            self.idle = nil
            return ResumedRun(idle: idle, step: step)
        }
    }

    private let state = Mutex(State())

    package init() {}

    /// Accepts work that is done soon. Any thread may call it; it does not wait.
    /// - Returns: whether the work is accepted; `false` once ``run()`` has ended.
    @discardableResult
    package func order(_ work: @escaping Work) -> Bool {
        let (isAccepted, woken) = state.withLock { state -> (Bool, ResumedRun?) in
            guard !state.isClosed else { return (false, nil) }
            state.accepted.append(work)
            return (true, state.wake())
        }
        woken?.goOn()
        return isAccepted
    }

    /// Whether all accepted work has been done.
    package var isIdle: Bool { state.withLock { $0.accepted.isEmpty && $0.begun == 0 } }

    /// Does accepted work, each piece in a separate task, until it is cancelled; then it completes what was accepted, and
    /// refuses more.
    package func run() async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                while case .begin(let works) = await step() {
                    for work in works {
                        group.addTask {
                            await work()
                            self.ended()
                        }
                    }
                }
            }
        } onCancel: {
            state.withLock { state -> ResumedRun? in
                state.isStopping = true
                return state.wake()
            }?.goOn()
        }
    }

    /// Not to be cancelled: ``order(_:)``, the end of a piece of work and the cancellation of ``run()`` end it.
    private func step() async -> Step {
        await withCheckedContinuation { continuation in
            let step = state.withLock { state -> Step? in
                if let step = state.nextStep() { return step }
                state.idle = continuation
                return nil
            }
            if let step { continuation.resume(returning: step) }
        }
    }

    private func ended() {
        state.withLock { state -> ResumedRun? in
            state.begun -= 1
            return state.wake()
        }?.goOn()
    }
}
