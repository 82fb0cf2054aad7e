import AuthCore
import AuthWire
import NIOCore

/// A request that memory could not answer.
struct Job: Sendable {
    typealias Work = @Sendable () async throws(AgentError) -> Payload

    /// Names the request on its connection.
    let ticket: Int
    let kind: Kind

    enum Kind {
        case once(within: Duration, Work)
        /// It answers by itself, and ends later.
        case stream(@Sendable () async -> Void)
    }

    /// Answers once, at the deadline at the latest, and returns when the work has ended: what does not stop when it is
    /// cancelled goes on counting against its connection.
    ///
    /// The deadline is the loop's: it goes when the answer comes, where a cancelled sleep of a task would stay in memory
    /// until it is over.
    func carryOut(on loop: any EventLoop, answer: @Sendable (Result<Payload, AgentError>) -> Void) async {
        guard case .once(let limit, let work) = kind else {
            if case .stream(let life) = kind { await life() }
            return
        }
        let deadline = loop.scheduleTask(in: TimeAmount(limit)) {}
        defer { deadline.cancel() }
        await withTaskGroup(of: Result<Payload, AgentError>?.self) { group in
            group.addTask { await Self.outcome(of: work) }
            group.addTask {
                await withTaskCancellationHandler {
                    _ = try? await deadline.futureResult.get()
                } onCancel: {
                    deadline.cancel()
                }
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            var outcome = first ?? .failure(.late(after: limit))
            // Cut off by the agent's end, whatever the work says of that.
            if Task.isCancelled, case .failure = outcome { outcome = .failure(.stopping) }
            answer(outcome)
        }
    }

    private static func outcome(of work: Work) async -> Result<Payload, AgentError> {
        do throws(AgentError) {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }
}

/// The requests of one connection that wait for something: a child of the listener's task, cancelled when the client
/// has gone.
struct Crew: Sendable {
    /// Ends when the connection does.
    let jobs: AsyncStream<Job>
    let loop: any EventLoop
    let answer: @Sendable (_ ticket: Int, Result<Payload, AgentError>) -> Void
    let ended: @Sendable (_ ticket: Int) -> Void

    func run() async {
        await withDiscardingTaskGroup { group in
            for await job in jobs {
                group.addTask {
                    await job.carryOut(on: loop) { answer(job.ticket, $0) }
                    ended(job.ticket)
                }
            }
            group.cancelAll()
        }
    }
}

extension AgentError {
    static func late(after limit: Duration) -> AgentError {
        AgentError(.timeout, "There was no result within \(limit.formatted) s; ask again, or allow more time.")
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
