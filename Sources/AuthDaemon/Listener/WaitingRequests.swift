import AuthConcurrency
import AuthModel
import AuthWire

/// The requests in progress of one connection, or of one client of the message bus: their tasks and deadlines. Only the
/// sockets' thread uses it.
///
/// The owner chooses the tickets, and calls ``ended(_:)`` once for each request that began.
final class WaitingRequests {
    private let registry: ConnectionRegistry
    /// By ticket.
    private var deadlines: [Int: TimerID] = [:]
    /// Requests that a lock of the agent ends.
    private var endAtLock: [Int: OneShot<AgentError>] = [:]
    /// Requests that the end of the client's input ends.
    private var endWithInput: [Int: OneShot<AgentError>] = [:]
    private lazy var departure = Departure()
    /// `nil`: no request of the owner has begun, or the owner has gone.
    private var tasks: AsyncStream<RequestTask>.Continuation?

    init(registry: ConnectionRegistry) { self.registry = registry }

    func begin(_ request: WaitingRequest, as ticket: Int, for owner: some RequestOwner) {
        let limit = registry.limits.answerLimit(request.limit, isConfined: owner.isConfined)
        let late = OneShot<AgentError>()
        if request.endsAtLock { endAtLock[ticket] = late }
        if request.endsWithInput { endWithInput[ticket] = late }
        let work = registry.afterStart(request.work, within: limit)
        deadlines[ticket] = registry.executor.schedule(in: limit) { late.send(.late(after: limit)) }
        start(
            RequestTask(
                ticket: ticket, kind: .once(within: limit, late: late, work, request.trail), departure: departure),
            for: owner)
    }

    /// Begins a call that sends its own response.
    func begin(stream life: @escaping @Sendable () async -> Void, as ticket: Int, for owner: some RequestOwner) {
        start(RequestTask(ticket: ticket, kind: .stream(life)), for: owner)
    }

    private func start(_ task: RequestTask, for owner: some RequestOwner) {
        registry.counters.began()
        (tasks ?? openTasks(of: owner)).yield(task)
    }

    private func openTasks(of owner: some RequestOwner) -> AsyncStream<RequestTask>.Continuation {
        let (stream, continuation) = AsyncStream<RequestTask>.makeStream()
        tasks = continuation
        registry.start(ConnectionTasks(number: owner.number, requests: stream), of: owner)
        return continuation
    }

    func endsAtLock(_ ticket: Int) -> Bool { endAtLock[ticket] != nil }

    func agentLocked(_ owner: some RequestOwner) {
        for (ticket, late) in endAtLock {
            owner.answered(ticket, .failure(.agentLocked))
            late.send(.agentLocked)
        }
    }

    /// The client sends nothing more.
    func inputEnded() {
        for late in endWithInput.values { late.send(.clientLeft) }
    }

    func ended(_ ticket: Int) {
        registry.counters.ended()
        (endAtLock[ticket], endWithInput[ticket]) = (nil, nil)
        if let deadline = deadlines.removeValue(forKey: ticket) { registry.executor.cancel(deadline) }
    }

    /// The owner has gone: its requests are cancelled.
    func end() {
        guard let tasks else { return }
        departure.happen()
        tasks.finish()
        self.tasks = nil
    }
}

extension AgentError {
    static let clientLeft = AgentError(.denied, "The client has left, so its request has ended.", cause: "client_left")
}
