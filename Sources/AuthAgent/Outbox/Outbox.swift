import AuthMachines
package import AuthModel
package import AuthWire
internal import Synchronization

/// Accepts writes that may wait, and sends them as ``OutboxMachine`` decides.
///
/// Invariants: what is not in the store is not sent; after the end of ``run()`` nothing new is sent, and no caller waits.
package final class Outbox: Sendable {
    package typealias Decide = @Sendable (OutboxRequest, AccessFacts) -> WriteDecision?
    package typealias Record = @Sendable (WriteAttempt) -> Void

    private let performer: OutboxPerformer
    private let runner: Runner<OutboxMachine>

    /// - Parameters:
    ///   - seed: of jitter.
    ///   - decide: applies the access rules to a write that this caller has queued.
    ///   - record: called for each try; tries of a write with the same error are recorded once.
    ///   - publish: called at each change; it must not wait.
    package init(
        context: AgentContext, api: APIClient, store: any OutboxStore, seed: UInt64,
        decide: @escaping Decide = { _, _ in nil }, record: @escaping Record = { _ in },
        publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        performer = OutboxPerformer(
            context: context, api: api, store: store, decide: decide, record: record, publish: publish)
        runner = Runner(OutboxMachine(seed: seed), performer: performer, tasks: context.tasks)
    }

    /// Sends what waits until it is cancelled. What is in progress then is cut off at the end of the agent's tasks, or recorded
    /// if the provider answers before that.
    package func run() async {
        for await _ in performer.context.board.changes() { await performer.lookIfNeeded(runner) }
        await runner.send(.stopping)
    }

    /// Returns when its actor has handled what it was sent before.
    package func answers() async { await runner.read { _ in } }

    /// Returns with the provider's answer, or when it is certain that the write waits. A lock of the agent ends the
    /// wait for the answer, not the write.
    /// - Parameter caller: who queues it.
    package func post(
        _ request: OutboxRequest, by caller: AccessFacts? = nil
    ) async throws(AgentError) -> APIResponse {
        let (entry, write) = try await performer.api.prepare(request, by: caller)
        switch try await askUntilLocked(.post(entry, write)) {
        case .sent(let response): return response
        // The outbox was not read yet, so the write is not in it.
        case .refused(let error): throw error == .callerGone && performer.context.board.isLocked ? .agentLocked : error
        case .queued, .list: return APIResponse(status: 202, queued: entry.id)
        }
    }

    package func list(_ params: OutboxParams) async throws(AgentError) -> OutboxList { try await list(.list(params)) }

    /// Tries what waits, and what was given up too if it is named; on a metered network, too. Returns when that has been tried.
    package func flush(_ params: OutboxParams) async throws(AgentError) -> OutboxList {
        // The entries after one that is named still wait.
        guard params.id == nil else { return try await list(.flush(params)) }
        let number = performer.metered.allow(params.session)
        let list: Result<OutboxList, AgentError> = await Result(of: try await list(.flush(params)))
        performer.metered.end(number)
        await performer.look(runner)
        return try list.get()
    }

    package func drop(_ params: OutboxParams) async throws(AgentError) -> OutboxList { try await list(.drop(params)) }

    private func list(_ command: OutboxCommand) async throws(AgentError) -> OutboxList {
        switch try await ask(command) {
        case .list(let items): return OutboxList(entries: items.map(performer.explained))
        case .refused(let error): throw error
        case .sent, .queued: throw AgentError(.internal_, "A list was requested, and none was returned.")
        }
    }

    private func askUntilLocked(_ command: OutboxCommand) async throws(AgentError) -> OutboxReply {
        let board = performer.context.board
        let reply = await withTaskGroup(of: Result<OutboxReply, AgentError>?.self) { group in
            group.addTask { () async -> Result<OutboxReply, AgentError>? in
                await Result(of: try await self.ask(command))
            }
            group.addTask {
                for await _ in board.changes() where board.isLocked { break }
                return nil
            }
            for await reply in group {
                // The lock: the machine then replies whether the write waits.
                group.cancelAll()
                if let reply { return reply }
            }
            return .failure(.callerGone)
        }
        return try reply.get()
    }

    /// The machine replies to a caller that was cancelled, too: it knows whether the write is in the store.
    private func ask(_ command: OutboxCommand) async throws(AgentError) -> OutboxReply {
        try await converting(WaitEnd.self, try await performer.ask(command, on: runner))
    }
}

/// Carries out what the machine decides, with the store, the provider and the board.
private final class OutboxPerformer: ActionPerformer {
    let context: AgentContext
    let api: APIClient
    let store: any OutboxStore
    let decide: Outbox.Decide
    let publish: @Sendable (AgentEvent) -> Void
    let metered = MeteredGate()
    private let record: Outbox.Record
    /// The last recorded error of each write that waits: it may be tried for weeks.
    private let recorded = Mutex<[String: ErrorKind]>([:])

    init(
        context: AgentContext, api: APIClient, store: any OutboxStore, decide: @escaping Outbox.Decide,
        record: @escaping Outbox.Record, publish: @escaping @Sendable (AgentEvent) -> Void
    ) {
        (self.context, self.api, self.store, self.publish) = (context, api, store, publish)
        (self.decide, self.record) = (decide, record)
    }

    func perform(_ action: OutboxAction, on runner: isolated Runner<OutboxMachine>) {
        switch action {
        // If a call is cut off after the provider has answered, the next run sends the write again.
        case .store(let call):
            // The machine may send the next entry after this call, so it must know first that writes wait.
            if context.board.network.transfersWait { look(runner) }
            runner.startToEnd { [self] () async -> OutboxEvent? in
                .stored(await Result(of: try await carryOut(call)))
            }
        case .send(let entry, let write, let inAnySignIn):
            runner.start { [self] () async -> OutboxEvent? in
                let result: Result<APIResponse, AgentError> = await Result(
                    of: try await send(entry, write, inAnySignIn: inAnySignIn))
                // A failure while the agent ends may be only the cut-off.
                if case .failure = result, Task.isCancelled { return nil }
                return .answered(entry.id, result)
            }
        case .publish(let name, let item):
            let item = explained(item)
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
        case .record(let refusal, let id):
            recorded.withLock { $0[id] = nil }
            try await store.record(refusal, for: id)
        case .remove(let id):
            recorded.withLock { $0[id] = nil }
            try await store.remove(id)
        case .release: await store.close()
        }
        return []
    }

    private func send(
        _ entry: OutboxEntry, _ write: OutboxWrite?, inAnySignIn: Bool
    ) async throws(AgentError) -> APIResponse {
        guard !context.board.isLocked else { throw .agentLocked }
        if let write { return try await send(write.request, entry, as: write.call, inAnySignIn: inAnySignIn) }
        guard let request = try await converting(OutboxError.self, try await store.request(of: entry.id)) else {
            throw .noRequest
        }
        return try await send(request, entry, inAnySignIn: inAnySignIn)
    }

    private func send(
        _ request: OutboxRequest, _ entry: OutboxEntry, as call: PreparedCall? = nil, inAnySignIn: Bool
    ) async throws(AgentError) -> APIResponse {
        // The rules may have changed since it was queued.
        let decision = entry.caller.flatMap { decide(request, $0) }
        do throws(AgentError) {
            if let refusal = decision?.refusal { throw refusal }
            let response = try await api.send(request, entry, as: call, inAnySignIn: inAnySignIn)
            record(WriteAttempt(request: request, entry: entry, decision: decision, error: nil))
            return response
        } catch {
            // Cut off by the agent's end: that is not an answer.
            if !Task.isCancelled { recordFailure(of: request, entry, decision, error) }
            throw error
        }
    }

    private func recordFailure(
        of request: OutboxRequest, _ entry: OutboxEntry, _ decision: WriteDecision?, _ error: AgentError
    ) {
        let kind = error.kind ?? .internal_
        let isNew = recorded.withLock { $0.updateValue(kind, forKey: entry.id) != kind }
        if isNew { record(WriteAttempt(request: request, entry: entry, decision: decision, error: error)) }
    }

    /// Reads the state of the sessions first, and begins at once: a session may have just signed in.
    func ask(
        _ command: OutboxCommand, on runner: isolated Runner<OutboxMachine>
    ) async throws(WaitEnd) -> OutboxReply {
        look(runner)
        return try await runner.askToEnd { .requested($0, command) }
    }

    /// Called at each change. An outbox without writes needs no copy of the state of all sessions.
    func lookIfNeeded(_ runner: isolated Runner<OutboxMachine>) {
        if runner.read({ $0.needsStatus }) { look(runner) }
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
                maySend: !isLocked && [.active, .stale].contains(status.state) && isOut && !isHeld(status)
                    && reachability != ErrorKind.captivePortal.rawValue,
                isReached: reachability == nil || reachability == "reachable", since: network.since)
        }
        runner.send(.statusChanged(sessions, mayLoad: context.board.store.state == .ready))
    }

    /// Whether its writes wait for a network that is not metered.
    private func isHeld(_ status: SessionStatus) -> Bool {
        context.board.network.transfersWait && context.providers.needsNetwork(status)
            && !metered.isOpen(for: status.session)
    }

    /// The entry with what it waits for, which the machine does not know.
    func explained(_ item: OutboxItem) -> OutboxItem {
        guard item.state == .waiting, let status = context.board.status(item.session), isHeld(status) else {
            return item
        }
        var item = item
        item.waitsFor = OutboxItem.unmeteredNetwork
        return item
    }
}

/// Sessions whose writes the user sends now, although the network is metered.
private final class MeteredGate: Sendable {
    private struct State {
        /// `nil`: all sessions.
        var open: [UInt64: SessionName?] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// - Returns: the number for ``end(_:)``.
    func allow(_ session: SessionName?) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.open.updateValue(session, forKey: state.last)
            return state.last
        }
    }

    func end(_ number: UInt64) { state.withLock { _ = $0.open.removeValue(forKey: number) } }

    func isOpen(for session: SessionName) -> Bool {
        state.withLock { $0.open.values.contains { $0 == nil || $0 == session } }
    }
}

extension AgentError {
    fileprivate static let noRequest = AgentError(
        .internal_, "The queued request can no longer be read.", cause: "unreadable")
}
