import AuthModel
import Synchronization

/// Records the last progress of a streamed exchange, to distinguish a stalled provider from a slow client.
final class StallDetector: Sendable {
    private struct State {
        var last = ContinuousClock.now
        /// The number of waits for the client.
        var pauses = 0
        /// The body is sent, and the response has not begun.
        var isAnswering = false
    }

    private let state = Mutex(State())

    func recordProgress() {
        state.withLock { $0.last = .now }
    }

    func bodySent() {
        state.withLock { ($0.last, $0.isAnswering) = (.now, true) }
    }

    /// Stops the time while `work` waits for the client.
    func pausing<Value>(
        _ work: () async throws(TransportError) -> Value
    ) async throws(TransportError) -> Value {
        state.withLock { $0.pauses += 1 }
        defer {
            state.withLock { state in
                state.pauses -= 1
                state.last = .now
            }
        }
        return try await work()
    }

    /// Returns the limit when the provider has exceeded it without progress, or when cancelled.
    func stopped(beyond limits: TransportLimits) async -> Duration {
        while true {
            let (end, limit) = state.withLock { state in
                let limit = state.isAnswering ? limits.total : limits.silence
                return (state.pauses > 0 ? .now + limit : state.last + limit, limit)
            }
            if Task.isCancelled || end <= .now { return limit }
            try? await Task.sleep(until: end, clock: .continuous)
        }
    }
}

extension HTTPRequest {
    /// Whether its time limit starts at the last progress.
    var streams: Bool { source != nil || sink != nil }
}
