import AuthConcurrency
import AuthModel
import NIOCore
import Synchronization

/// One thread that may wait for a disk, and callers that do not wait for it longer than a limit.
///
/// Invariant: work is done in the order in which it was given. Work whose caller was told that it has failed before it
/// was begun is not done any more.
final class DiskThread: Sendable {
    private enum State {
        case waiting, begun, over
    }

    private let thread = BlockingThread()
    /// Only for the limit's clock.
    private let loop: any EventLoop
    private let limit: Duration
    private let isSilent = Mutex(false)
    private let reportSilence: @Sendable () -> Void

    /// - Parameter reportSilence: called when the disk has not answered within the limit.
    init(loop: any EventLoop, limit: Duration, reportSilence: @escaping @Sendable () -> Void) {
        self.loop = loop
        self.limit = limit
        self.reportSilence = reportSilence
    }

    /// Has work done that nobody waits for.
    func begin(_ work: @escaping @Sendable () -> Void) {
        thread.submit(work)
    }

    func run<Value: Sendable>(
        within longer: Duration? = nil, _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let limit = longer ?? limit
        guard !isSilent.withLock({ $0 }) else { throw .notAnswering(after: limit) }
        let promise = loop.makePromise(of: Result<Value, StoreError>.self)
        let turn = WorkClaim()
        let alarm = loop.scheduleTask(in: TimeAmount(limit)) {
            if turn.give(up: .waiting) || turn.give(up: .begun) { self.markSilent() }
            promise.succeed(.failure(.notAnswering(after: limit)))
        }
        thread.submit {
            guard turn.begin() else { return }
            promise.succeed(Result { () throws(StoreError) in try work() })
        }
        defer { alarm.cancel() }
        let result: Result<Value, StoreError>
        do {
            result = try await withTaskCancellationHandler {
                try await promise.futureResult.get()
            } onCancel: {
                _ = turn.give(up: .waiting)
                promise.succeed(.failure(.failed(reason: "the call was cancelled")))
            }
        } catch {
            throw .failed(reason: "\(error)")
        }
        return try result.get()
    }

    /// The disk has done something.
    func answered() {
        isSilent.withLock { $0 = false }
    }

    private func markSilent() {
        isSilent.withLock { $0 = true }
        reportSilence()
    }

    private final class WorkClaim: Sendable {
        private let turn = Mutex(State.waiting)

        /// Whether it is still to be done.
        func begin() -> Bool {
            turn.withLock { turn in
                guard turn == .waiting else { return false }
                turn = .begun
                return true
            }
        }

        /// Whether it stood like that.
        func give(up stage: State) -> Bool {
            turn.withLock { turn in
                guard turn == stage else { return false }
                turn = .over
                return true
            }
        }
    }
}
