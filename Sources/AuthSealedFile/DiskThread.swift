import AuthConcurrency
import AuthModel
import Synchronization

/// One thread that may wait for a disk, and callers that wait for it no longer than a limit.
///
/// Invariant: work is done in the order of submission. If its caller got an error before the work began, it is not done.
final class DiskThread: Sendable {
    /// Returns after that time. Time asleep does not count: the disk sleeps too.
    typealias Wait = @Sendable (Duration) async throws -> Void

    private struct State {
        /// Later calls fail at once, until the disk does something.
        var isSilent = false
        /// How often the disk did something.
        var answers = 0
    }

    private let thread = BlockingThread()
    private let limit: Duration
    private let wait: Wait
    private let state = Mutex(State())
    private let reportSilence: @Sendable () -> Void

    /// - Parameter reportSilence: called when the disk has not answered within the limit. It must not call this type.
    init(limit: Duration, wait: @escaping Wait, reportSilence: @escaping @Sendable () -> Void) {
        self.limit = limit
        self.wait = wait
        self.reportSilence = reportSilence
    }

    /// Begins work without waiting for it.
    func begin(_ work: @escaping @Sendable () -> Void) {
        thread.submit(work)
    }

    func run<Value: Sendable>(
        within longer: Duration? = nil, _ work: @escaping @Sendable () throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        let limit = longer ?? limit
        let former = state.withLock { $0.isSilent ? nil : $0.answers }
        guard let former else { throw .notAnswering(after: limit) }
        // Sent once: when the work begins, or when its caller stops waiting.
        let claim = OneShot<Void>()
        let result = OneShot<Result<Value, StoreError>>()
        thread.submit {
            guard claim.send(()) else { return self.answered() }
            result.send(Result { () throws(StoreError) in try work() })
        }
        let found = await withTaskGroup(of: Void.self) { group in
            group.addTask { [wait] in
                guard (try? await wait(limit)) != nil else { return }
                claim.send(())
                // First: the next call of this caller must not wait.
                self.markSilent(ifStill: former)
                result.send(.failure(.notAnswering(after: limit)))
            }
            defer { group.cancelAll() }
            return await result.value()
        }
        claim.send(())
        guard let found else { throw .failed(reason: "the call was cancelled") }
        return try found.get()
    }

    /// The disk has done something.
    func answered() {
        state.withLock { state in
            state.isSilent = false
            state.answers += 1
        }
    }

    /// Not if the disk has done something since: nothing might follow that would end the silence. The report is under the
    /// lock, so that it never follows that of an answer.
    private func markSilent(ifStill answers: Int) {
        state.withLock { state in
            guard state.answers == answers else { return }
            state.isSilent = true
            reportSilence()
        }
    }
}
