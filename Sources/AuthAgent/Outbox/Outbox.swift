import AuthMachines
package import AuthModel
package import AuthWire

/// Accepts writes that may wait, and sends them as ``OutboxMachine`` decides.
///
/// Invariants: what is not in the store is not sent; after the end of ``run()`` nothing new is sent, and no caller waits.
package final class Outbox: Sendable {
    private let performer: OutboxPerformer
    private let runner: Runner<OutboxMachine>

    /// - Parameters:
    ///   - seed: of jitter.
    ///   - publish: called at each change; it must not wait.
    package init(
        context: AgentContext, api: APIClient, store: any OutboxStore, seed: UInt64,
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        performer = OutboxPerformer(context: context, api: api, store: store, publish: publish)
        runner = Runner(OutboxMachine(seed: seed), performer: performer, tasks: context.tasks)
    }

    /// Sends what waits until it is cancelled. What is in progress then is cut off at the end of the agent's tasks, or recorded
    /// if the provider answers before that.
    package func run() async {
        for await _ in performer.context.board.changes() { await performer.look(runner) }
        await runner.send(.stopping)
    }

    /// Returns with the provider's answer, or when it is certain that the write waits.
    package func post(_ request: OutboxRequest) async throws(AgentError) -> APIResponse {
        let (entry, write) = try await performer.api.prepare(request)
        // A session that was just signed in is seen here at the latest.
        await performer.look(runner)
        switch try await ask(.post(entry, write)) {
        case .sent(let response): return response
        case .refused(let error): throw error
        case .queued, .list: return APIResponse(status: 202, queued: entry.id)
        }
    }

    package func list(_ params: OutboxParams) async throws(AgentError) -> OutboxList { try await list(.list(params)) }

    /// Tries what waits, and what was given up too if it is named. Returns when that has been tried.
    package func flush(_ params: OutboxParams) async throws(AgentError) -> OutboxList { try await list(.flush(params)) }

    package func drop(_ params: OutboxParams) async throws(AgentError) -> OutboxList { try await list(.drop(params)) }

    private func list(_ command: OutboxCommand) async throws(AgentError) -> OutboxList {
        switch try await ask(command) {
        case .list(let items): return OutboxList(entries: items)
        case .refused(let error): throw error
        case .sent, .queued: throw AgentError(.internal_, "A list was requested, and none was returned.")
        }
    }

    /// The machine replies to a caller that was cancelled, too: it knows whether the write is in the store.
    private func ask(_ command: OutboxCommand) async throws(AgentError) -> OutboxReply {
        try await converting(WaitEnd.self, try await runner.askToEnd { .requested($0, command) })
    }
}

/// Carries out what the machine decides, with the store, the provider and the board.
private final class OutboxPerformer: ActionPerformer {
    let context: AgentContext
    let api: APIClient
    let store: any OutboxStore
    let publish: @Sendable (AgentEvent) -> Void

    init(
        context: AgentContext, api: APIClient, store: any OutboxStore,
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        (self.context, self.api, self.store, self.publish) = (context, api, store, publish)
    }

    func perform(_ action: OutboxAction, on runner: isolated Runner<OutboxMachine>) {
        switch action {
        // If a call is cut off after the provider has answered, the next run sends the write again.
        case .store(let call):
            runner.startToEnd { [self] () async -> OutboxEvent? in
                .stored(await Result(of: try await carryOut(call)))
            }
        case .send(let entry, let write, let inAnySignIn):
            runner.start { [self] () async -> OutboxEvent? in
                let result: Result<APIResponse, AgentError> = await Result(
                    of: try await send(entry, write, inAnySignIn: inAnySignIn))
                // Cut off by the agent's end: that is not an answer.
                return Task.isCancelled ? nil : .answered(entry.id, result)
            }
        case .publish(let name, let item):
            publish(
                AgentEvent(
                    topic: .outbox, name: name, at: context.clock.now().wall.unixSeconds, session: item.session,
                    outbox: item))
        }
    }

    private func carryOut(_ call: OutboxStoreCall) async throws(OutboxError) -> [OutboxEntry] {
        switch call {
        case .load: return store.mayHoldEntries ? try await store.all() : []
        case .add(let entry, let request): try await store.add(entry, request)
        case .record(let refusal, let id): try await store.record(refusal, for: id)
        case .remove(let id): try await store.remove(id)
        case .release: await store.close()
        }
        return []
    }

    private func send(
        _ entry: OutboxEntry, _ write: OutboxWrite?, inAnySignIn: Bool
    ) async throws(AgentError) -> APIResponse {
        guard !context.board.isLocked else { throw .agentLocked }
        if let write { return try await api.send(write.request, entry, as: write.call, inAnySignIn: inAnySignIn) }
        guard let request = try await converting(OutboxError.self, try await store.request(of: entry.id)) else {
            throw .noRequest
        }
        return try await api.send(request, entry, inAnySignIn: inAnySignIn)
    }

    /// Reports how each session is. It is read on the runner, so that an older state never follows a newer one.
    func look(_ runner: isolated Runner<OutboxMachine>) {
        let (network, isLocked) = (context.board.network, context.board.isLocked)
        var sessions: [SessionName: Deliverability] = [:]
        for status in context.board.statuses() {
            let reachability = network.providers[status.provider]
            let isOut = [.online, .limited].contains(network.state) || !context.providers.needsNetwork(status)
            sessions[status.session] = Deliverability(
                // Writes wait while the agent is locked.
                maySend: !isLocked && [.active, .stale].contains(status.state) && isOut
                    && reachability != ErrorKind.captivePortal.rawValue,
                isReached: reachability == nil || reachability == "reachable", since: network.since)
        }
        runner.send(.statusChanged(sessions, mayLoad: context.board.store.state == .ready))
    }
}

extension AgentError {
    fileprivate static let noRequest = AgentError(
        .internal_, "The queued request can no longer be read.", cause: "unreadable")
}
