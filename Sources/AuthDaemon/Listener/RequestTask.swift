import AuthConcurrency
import AuthModel
import AuthWire
import Synchronization

/// A request that waits.
struct RequestTask: Sendable {
    /// Gets the deadline, so that it can end its own wait before it and say why.
    typealias Work = @Sendable (BootInstant) async throws(AgentError) -> Payload
    typealias BoundedWork = @Sendable () async throws(AgentError) -> Payload

    /// Identifies the request on its connection.
    let ticket: Int
    let kind: Kind
    /// Whether the task was cancelled because the client has left.
    var departure = Departure()

    enum Kind {
        /// `late` sends the error at the deadline, or when the agent is locked. The trail records the result that is sent.
        case once(within: Duration, late: OneShot<AgentError>, BoundedWork, AuditTrail?)
        /// It sends its own response, and ends later.
        case stream(@Sendable () async -> Void)
    }

    /// Answers once, at the deadline at the latest, and returns when the work has ended. Work that ignores its cancellation
    /// still counts for its connection.
    func run(answer: @Sendable (Result<Payload, AgentError>) -> Void) async {
        guard case .once(let limit, let late, let work, let trail) = kind else {
            if case .stream(let life) = kind { await life() }
            return
        }
        await withTaskGroup(of: Result<Payload, AgentError>?.self) { group in
            group.addTask { await Self.outcome(of: work) }
            group.addTask { await late.value().map(Result.failure) }
            let first = await group.next() ?? nil
            group.cancelAll()
            var outcome = first ?? .failure(.late(after: limit))
            // The client has left, or the agent is stopping, whatever error the work reports. What ended the wait before that
            // may have been sent already.
            if Task.isCancelled, case .failure = outcome {
                outcome = .failure(await late.value() ?? (departure.hasHappened ? .callerGone : .stopping))
            }
            trail?.record(outcome)
            answer(outcome.map(\.rendered))
        }
    }

    private static func outcome(of work: BoundedWork) async -> Result<Payload, AgentError> {
        do throws(AgentError) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}

/// Whether a client has left. Safe to use from any thread.
final class Departure: Sendable {
    private let state = Atomic(false)

    var hasHappened: Bool { state.load(ordering: .acquiring) }

    func happen() { state.store(true, ordering: .releasing) }
}

extension AgentError {
    static func late(after limit: Duration) -> AgentError {
        AgentError(.timeout, "The request took longer than \(limit.formatted) s.")
    }
}

extension Duration {
    /// Seconds with at most three decimals.
    fileprivate var formatted: String {
        let milliseconds = wholeMilliseconds
        let fraction = milliseconds % 1000
        return fraction == 0 ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
    }
}
