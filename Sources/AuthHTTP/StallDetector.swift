import AuthModel
import Synchronization

/// When something of a streamed exchange moved last, so that a provider that stands still is told from a client that
/// does.
final class StallDetector: Sendable {
    private struct State {
        var last = ContinuousClock.now
        /// How many wait for the client now.
        var pauses = 0
        /// The body is out, and the provider thinks about it.
        var isAnswering = false
    }

    private let state = Mutex(State())

    func recordProgress() {
        state.withLock { $0.last = .now }
    }

    func bodySent() {
        state.withLock { ($0.last, $0.isAnswering) = (.now, true) }
    }

    /// While `work` waits for the client, the provider is not to blame.
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

    /// Returns when the provider has stood still for longer than it may, with how long that is, or when cancelled.
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
    /// Its time is counted from the last movement, not from its start.
    var streams: Bool { source != nil || sink != nil }
}
