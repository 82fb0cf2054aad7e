import AuthMachines
import AuthModel
import AuthWire
import Synchronization

/// Carries out what a ``SessionMachine`` decides.
final class SessionPerformer: ActionPerformer {
    /// The services that all sessions share.
    final class Services: Sendable {
        let context: AgentContext
        let storage: SessionStorage
        let renewals: Runner<RenewalQueue>
        let holds: RenewalHolds
        let gate: MoveGate
        let publish: @Sendable (SessionSnapshot) -> Void
        /// Called when nothing is left of the session. Removes it, if this runner still runs it.
        let forget: @Sendable (SessionName, Runner<SessionMachine>) -> Void
        /// A token for a session that shares another one's sign-in.
        let sharedGrant: @Sendable (SessionRecord, Moment) async throws(ProviderFailure) -> Grant

        init(
            context: AgentContext, storage: SessionStorage, renewals: Runner<RenewalQueue>, holds: RenewalHolds,
            gate: MoveGate, publish: @escaping @Sendable (SessionSnapshot) -> Void,
            forget: @escaping @Sendable (SessionName, Runner<SessionMachine>) -> Void,
            sharedGrant: @escaping @Sendable (SessionRecord, Moment) async throws(ProviderFailure) -> Grant
        ) {
            self.context = context
            self.storage = storage
            self.renewals = renewals
            self.holds = holds
            self.gate = gate
            self.publish = publish
            self.forget = forget
            self.sharedGrant = sharedGrant
        }
    }

    let name: SessionName
    let cookies = RecentCookies()
    private let services: Services
    /// The moves after which its record was read.
    private let knownMoves: Mutex<Int>

    init(name: SessionName, services: Services) {
        self.name = name
        self.services = services
        knownMoves = Mutex(services.gate.moves)
    }

    var context: AgentContext { services.context }
    private var storage: SessionStorage { services.storage }
    private var renewals: Runner<RenewalQueue> { services.renewals }
    private var holds: RenewalHolds { services.holds }

    func perform(_ action: SessionAction, on runner: isolated Runner<SessionMachine>) {
        switch action {
        case .publish(let snapshot):
            let former = context.board.snapshot(name)
            services.publish(snapshot)
            if let former, former.signIn != snapshot.signIn { updateMeans(on: runner) }
        case .forget: services.forget(name, runner)
        case .renew(let id, let record): send(id, record, for: nil, runner)
        case .requestTargeted(let id, let record, let target): send(id, record, for: target, runner)
        case .reread(let id): runner.start { [self] in .storeReread(id, await read()) }
        case .save(let record, let replacesOther): save(record, replacesOther: replacesOther, runner)
        case .rewrite(let record): save(record, replacesOther: false, runner)
        case .delete: delete(runner)
        case .revoke(let record): revoke(record)
        case .compare: compare(runner)
        case .handOver(let session): handOver(session, runner)
        }
    }

    /// Another program's sign-in may be renewed in another way, or not at all. For a session that shares a sign-in, the
    /// registry determines how it is renewed.
    private func updateMeans(on runner: isolated Runner<SessionMachine>) {
        let (record, former) = runner.read { ($0.record, $0.means) }
        let means = context.providers.means(of: record)
        if record.resource?.sharedSession == nil, means != former { runner.send(.renewable(means)) }
    }

    // MARK: The provider

    private func send(
        _ id: RenewalRequestID, _ record: SessionRecord, for target: TokenTarget?,
        _ runner: isolated Runner<SessionMachine>
    ) {
        let (urgency, isStored) = runner.read { ($0.end, $0.isStored) }
        // A session that shares a sign-in sends no tokens itself.
        let isShared = record.resource?.sharedSession != nil
        let gate = isShared ? nil : services.gate
        runner.start { [self, runner] () async -> SessionEvent? in
            if let gate, await !gate.enter() { return stopped(id) }
            defer { gate?.leave() }
            if let gate, let event = await movedRecord(instead: record, of: id, after: gate.moves) { return event }
            let permission: RenewalHolds.Permission =
                isShared
                ? .granted(nil)
                : await holds.permission(
                    for: record, isStored: isStored, mayRenewApart: { context.providers.mayRenewApart(record) })
            switch permission {
            case .overtaken(let stored): return .overtaken(id, stored)
            case .refused(let error): return .notSent(id, error)
            case .stopping: return stopped(id)
            case .granted(let hold):
                // After the wait for the hold, so that many sessions that get theirs at once do not all begin.
                var obstacle = await turnFailure(for: record, urgency: urgency ?? context.clock.now().boot)
                let isCurrent = await runner.read { $0.isCurrent(id) }
                if obstacle == nil, !isCurrent { obstacle = .temporary(.offline, retryAfter: nil) }
                let now = context.clock.now()
                if let obstacle {
                    if let hold { await holds.end(hold, of: name, leaving: hold.unsent) }
                    return .requestEnded(id, .failure(obstacle), sentAt: now)
                }
                await renew(id, record, for: target, under: hold, runner)
                return nil
            }
        }
    }

    /// The first time after a move, what was moved is read: other hosts may have renewed it before, unknown to this session.
    /// - Returns: `nil`: this record may be renewed.
    private func movedRecord(
        instead record: SessionRecord, of id: RenewalRequestID, after moves: Int
    ) async -> SessionEvent? {
        guard knownMoves.withLock({ $0 }) < moves else { return nil }
        switch await read() {
        case .success(let stored):
            knownMoves.withLock { $0 = max($0, moves) }
            guard let stored, !stored.allowsRenewal(of: record) else { return nil }
            return .overtaken(id, stored)
        case .failure(let error): return .notSent(id, error)
        }
    }

    private func stopped(_ id: RenewalRequestID) -> SessionEvent {
        .requestEnded(id, .failure(.temporary(.stopping, retryAfter: nil)), sentAt: context.clock.now())
    }

    private func renew(
        _ id: RenewalRequestID, _ record: SessionRecord, for target: TokenTarget?, under hold: RenewalHolds.Hold?,
        _ runner: Runner<SessionMachine>
    ) async {
        let sentAt = context.clock.now()
        let requests = hold.map { hold in
            HeldRequests { [holds, name] in await holds.mayBegin(hold, of: name) }
        }
        var result = await limited(requests) { [self] in await request(record, for: target, sentAt) }
        if let hold, case .failure(.temporary(.holdLost, _)) = result {
            // The requests before, if any, have been answered.
            await holds.end(hold, of: name, leaving: hold.unsent)
            _ = await runner.send(.notSent(id, .cluster(.leaseLost)))
            return
        }
        // The agent's end has cut it off, not the provider.
        if case .failure = result, Task.isCancelled { result = .failure(.temporary(.stopping, retryAfter: nil)) }
        if let hold, hold.isInterrupted, case .failure(.final(let error)) = result {
            var interrupted = error
            interrupted.cause = AgentError.renewalInterruption
            result = .failure(.final(interrupted))
        }
        context.tokenRequests.record(record.provider, result, duration: context.clock.now().boot - sentAt.boot)
        if case .failure(.temporary(_, let wait?)) = result {
            await renewals.send(.held(RenewalQueue.Provider(record), for: wait))
        }
        await runner.send(.requestEnded(id, result, sentAt: sentAt))
        if let hold, let requests { await end(hold, after: result, requests, runner) }
        // The first server that has answered for the issuer is trusted from now on.
        if case .success = result, let origins = await context.providers.completedOrigins(of: record, at: sentAt) {
            _ = await trust(origins, of: record, on: runner)
        }
    }

    private func request(
        _ record: SessionRecord, for target: TokenTarget?, _ sentAt: Moment
    ) async -> Result<Grant, ProviderFailure> {
        if let target {
            await Result(of: try await context.providers.obtain(target, record, sentAt: sentAt))
        } else if record.resource?.sharedSession != nil {
            await Result(of: try await services.sharedGrant(record, sentAt))
        } else {
            await Result(of: try await context.providers.renew(cookies.added(to: record), sentAt: sentAt))
        }
    }

    /// If a timer fires this late, the process was stopped, or the machine is very busy.
    private static let noticeableStop = Duration.milliseconds(100)
    /// Time to read a response that arrived meanwhile.
    private static let lateResponse = Duration.seconds(1)

    /// Under a hold, all requests of a renewal together have one limit, which the next holder waits for, and none
    /// begins after the hold has ended.
    private func limited(
        _ requests: HeldRequests?, _ request: @escaping @Sendable () async -> Result<Grant, ProviderFailure>
    ) async -> Result<Grant, ProviderFailure> {
        guard let requests else { return await request() }
        let end = context.clock.now().boot + LeaseMachine.requestLimit
        return await withTaskGroup(of: Result<Grant, ProviderFailure>.self) { [context] group in
            group.addTask { await ProviderClient.$held.withValue(requests) { await request() } }
            group.addTask {
                try? await context.clock.sleep(until: end)
                // A response that arrived in time counts, even if this process was stopped then.
                let now = context.clock.now().boot
                if now - end > Self.noticeableStop { try? await context.clock.sleep(until: now + Self.lateResponse) }
                let error = AgentError(.timeout, "The provider did not respond in time.")
                return .failure(.temporary(error, retryAfter: nil))
            }
            defer { group.cancelAll() }
            return await group.next() ?? .failure(.temporary(.stopping, retryAfter: nil))
        }
    }

    /// Newer tokens that are to be written keep the hold until they are.
    private func end(
        _ hold: RenewalHolds.Hold, after result: Result<Grant, ProviderFailure>, _ requests: HeldRequests,
        _ runner: Runner<SessionMachine>
    ) async {
        switch result {
        case .success:
            guard await runner.read({ $0.hasUnwrittenTokens }) else { break }
            await holds.renewed(hold, of: name)
            // The write may have ended meanwhile.
            if await !runner.read({ $0.hasUnwrittenTokens }) { await holds.nothingToWrite(hold.caller, of: name) }
            return
        case .failure(.temporary):
            return await holds.end(hold, of: name, leaving: requests.mayHaveArrived ? .unanswered : hold.unsent)
        case .failure(.final), .failure(.refused): return await holds.end(hold, of: name, leaving: hold.unsent)
        }
        await holds.end(hold, of: name, leaving: .answered)
    }

    /// Waits until a renewal of this record may begin.
    /// - Returns: why it may not; `nil`: it may.
    private func turnFailure(for record: SessionRecord, urgency: BootInstant) async -> ProviderFailure? {
        do throws(WaitEnd) {
            let provider = RenewalQueue.Provider(record)
            let reply = try await renewals.ask { .entered($0, provider, urgency: urgency) }
            return if case .held(let wait) = reply { .askedToWait(for: wait) } else { nil }
        } catch {
            return .temporary(.stopping, retryAfter: nil)
        }
    }

    /// Revokes tokens that no session uses any more. No caller waits for it, so it is tried more than once.
    private func revoke(_ record: SessionRecord) {
        let clock = context.clock
        context.tasks.pool.order { [context] in
            for pause in Self.revocationPauses {
                if (try? await context.providers.signOut(record, sentAt: clock.now())) != nil { return }
                // Cancelled only when the agent stops.
                guard (try? await clock.sleep(until: clock.now().boot + pause)) != nil else { return }
            }
        }
    }

    /// After each attempt: a provider that has just issued tokens is usually there.
    private static let revocationPauses: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .zero]

    // MARK: The store

    /// Soon: many may change at once, and go together.
    private func handOver(_ session: HandedOverSession?, _ runner: isolated Runner<SessionMachine>) {
        guard storage.handovers.set(session, named: name) else { return }
        runner.start { [self] in
            storage.flushHandovers()
            return nil
        }
    }

    private func compare(_ runner: isolated Runner<SessionMachine>) {
        let work: TaskPool.Work = { [self, runner] in
            storage.flushHandovers()
            await report(await compared(), to: runner)
        }
        guard !storage.clientsServed.hasOpened else {
            runner.start {
                await work()
                return nil
            }
            return
        }
        // At a start there may be many sessions: one task waits for all of them.
        guard storage.pendingComparisons.add(work) else { return }
        context.tasks.pool.order { [storage, pool = context.tasks.pool] in
            try? await storage.clientsServed.wait()
            for work in storage.pendingComparisons.removeAll() { pool.order(work) }
        }
    }

    private func compared() async -> SessionEvent {
        let found: Result<SessionRecord?, StoreError> = await Result(
            of: try await storage.store.loadReported(name))
        guard case .success(nil) = found else { return .compared(found) }
        do throws(StoreError) {
            let isLost = try await storage.store.hasLost(name)
            return .compared(found, absence: isLost ? .lost : storage.store.showsEverything ? .removed : .unsure)
        } catch {
            return .compared(.failure(error))
        }
    }

    /// Sends an event after which the session may have no unwritten tokens. If so, ends a hold that waited for the
    /// write.
    private func report(_ event: SessionEvent, to runner: Runner<SessionMachine>) async {
        await runner.send(event)
        // In this order: the tokens of a renewal that begins to wait for its write later are not seen here.
        guard storage.store.leases != nil, let writer = await holds.writer(of: name),
            await !runner.read({ $0.hasUnwrittenTokens })
        else { return }
        await holds.nothingToWrite(writer, of: name)
    }

    private func read() async -> Result<SessionRecord?, StoreError> {
        await Result(of: try await storage.store.load(name))
    }

    private func save(
        _ record: SessionRecord, replacesOther: Bool, _ runner: isolated Runner<SessionMachine>
    ) {
        runner.start { [self, runner] in
            storage.flushHandovers()
            do throws(StoreError) {
                switch try await storage.store.update(record, replacesOther: replacesOther) {
                case .written(let endsHold):
                    if endsHold { await holds.written(name) }
                    await report(.saved(record.version), to: runner)
                case .refused(let stored): await report(.saveRefused(record.version, stored), to: runner)
                case .overtaken(let stored):
                    await holds.written(name)
                    return .saveOvertaken(record.version, stored)
                }
            } catch {
                await report(.saveFailed(record.version, error), to: runner)
            }
            return nil
        }
    }

    private func delete(_ runner: isolated Runner<SessionMachine>) {
        let signIn = runner.read { $0.record.signIn }
        runner.start { [self, runner] in
            storage.flushHandovers()
            do throws(StoreError) {
                await report(.deleted(try await storage.store.delete(name, of: signIn)), to: runner)
                return nil
            } catch {
                return .deleteFailed(error)
            }
        }
    }

    // MARK: Origins

    /// See ``Session/trust(_:of:)``.
    func trust(
        _ origins: TokenOrigins, of record: SessionRecord, on runner: isolated Runner<SessionMachine>
    ) -> Bool {
        var trusting = runner.read { $0.record }
        guard trusting.signIn == record.signIn, trusting.origins == record.origins else { return false }
        trusting.origins = origins
        guard context.providers.originChange(of: trusting) == nil else { return false }
        return runner.send(.originsTrusted(origins))
    }
}

extension RenewalQueue.Provider {
    fileprivate init(_ record: SessionRecord) {
        self.init(name: record.provider, environment: record.environment)
    }
}
