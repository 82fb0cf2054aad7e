import AuthConcurrency
package import AuthMachines
package import AuthModel
package import AuthWire

/// Carries out what its ``SessionMachine`` decides, and feeds the results back.
///
/// Invariants: the machine is touched only between two awaits, so each event meets a settled state; what a caller waits for
/// is being done, or the session is closed and the caller is told so.
package actor Session {
    package nonisolated let name: SessionName
    private var machine: SessionMachine
    private let world: SessionWorld
    private var callers: [CallerID: OneShot<SessionAnswer>] = [:]
    private var lastCaller: UInt64 = 0
    private var closed = false
    /// Of what was last heard of the network.
    private var networkVersion: UInt64 = 0
    /// Requests to the provider that have begun and not ended.
    private var flights = 0
    private var landings: [OneShot<Void>] = []
    private var wakeUp: BootInstant?

    package init(name: SessionName, machine: SessionMachine, world: SessionWorld) {
        self.name = name
        self.machine = machine
        self.world = world
    }

    package func begin() {
        handle(.begun)
    }

    package func handle(_ event: SessionEvent) {
        let turn = machine.handle(event, at: world.clock.now())
        for action in turn.actions { carryOut(action) }
        for (caller, answer) in turn.replies { callers.removeValue(forKey: caller)?.send(answer) }
        guard turn.wakeUp != wakeUp, !machine.isGone else { return }
        wakeUp = turn.wakeUp
        world.alarms.set(wakeUp, for: name)
    }

    /// The same for what was learned with this record. It is dropped if the session has another sign-in by now.
    package func handle(_ event: SessionEvent, learnedWith record: SessionRecord) {
        if machine.record.signIn == record.signIn { handle(event) }
    }

    package var record: SessionRecord { machine.record }

    /// Of its provider, as the profile stands now; `nil`: the profile is gone.
    package var origin: ProviderOrigin? { world.provider.probe(machine.record)?.origin }

    // MARK: News

    /// Records what the network is like for the provider at `origin`. Older news than the last is dropped.
    /// - Returns: `false` if the provider is at another origin by now: then this says nothing of it.
    package func networkChanged(_ news: NetworkNews, at origin: ProviderOrigin?) -> Bool {
        guard origin == self.origin else { return false }
        guard news.version > networkVersion else { return true }
        networkVersion = news.version
        handle(.networkChanged(news.state))
        return true
    }

    /// The profiles were replaced: whether anything renews this session is decided by those of now.
    package func profilesChanged() {
        handle(.renewable(world.provider.means(of: machine.record)))
    }

    /// A new sign-in to this session.
    /// - Parameter revokesFormer: another account had it, whose tokens are of no more use here.
    package func replace(with record: SessionRecord, sentAt: Moment, revokesFormer: Bool = false) {
        let former = revokesFormer ? machine.abandonTokens() : []
        handle(.renewable(world.provider.means(of: record)))
        handle(.replaced(record, sentAt: sentAt))
        for record in former { revoke(record) }
    }

    /// Compares where the profile, as it stands now, has tokens sent with where the session was signed in. For a record from
    /// before origins were recorded the profile's are adopted.
    package func checkOrigins() {
        let record = machine.record
        if record.origins != nil {
            handle(.originsChecked(world.provider.originChange(of: record)))
        } else if let named = world.provider.namedOrigins(of: record) {
            handle(.originsTrusted(named))
        }
    }

    /// Lets the tokens of this record be sent to these places.
    /// - Returns: whether they may be; `false` if the session has another sign-in or other places by now, or the profile
    ///   names others.
    package func trust(_ origins: TokenOrigins, of record: SessionRecord) -> Bool {
        guard machine.record.signIn == record.signIn, machine.record.origins == record.origins else { return false }
        var trusting = machine.record
        trusting.origins = origins
        guard world.provider.originChange(of: trusting) == nil else { return false }
        handle(.originsTrusted(origins))
        return true
    }

    /// A request with the tokens of this record was not sent because of where it would have gone.
    package func noteOriginChange(_ error: AgentError, of record: SessionRecord) {
        // Another place may be trusted since.
        guard machine.record.origins == record.origins else { return }
        handle(.originsChecked(error), learnedWith: record)
    }

    // MARK: What callers ask

    package func token(minValid: Duration?) async throws(AgentError) -> TokenResult {
        try await token { .tokenWanted($0, minValid: minValid) }
    }

    package func token(for aim: TokenAim, minValid: Duration?) async throws(AgentError) -> TokenResult {
        try await token { .aimedTokenWanted($0, aim, minValid: minValid) }
    }

    private func token(_ event: (CallerID) -> SessionEvent) async throws(AgentError) -> TokenResult {
        switch await ask(event) {
        case .token(var result):
            result.valid = machine.validity(of: result, at: world.clock.now())
            return result
        case .failure(let error): throw error
        case .done: throw AgentError(.internal_, "A token was asked for and none was answered.")
        }
    }

    /// The record with a token that is good now.
    package func liveRecord() async throws(AgentError) -> SessionRecord {
        _ = try await token(minValid: nil)
        return machine.record
    }

    package func renew() async throws(AgentError) {
        try await finish { .renewalWanted($0) }
    }

    package func reject(_ token: Secret) async throws(AgentError) {
        try await finish { .rejected($0, token) }
    }

    /// - Returns: what the provider is to be told of, and how the removal from the store ended.
    package func signOut(revokes: Bool) async -> (tokens: [SessionRecord], removed: Result<Void, AgentError>) {
        let removed: Result<Void, AgentError>
        do throws(AgentError) {
            removed = .success(try await finish { .signOutWanted($0, revokes: revokes) })
        } catch {
            removed = .failure(error)
        }
        return (machine.signedOutTokens, removed)
    }

    /// Returns when the newest record is in the store, or the store has refused it.
    package func write() async throws(AgentError) {
        try await finish { .writeWanted($0) }
    }

    /// Returns when no request to the provider is in flight, or when the session is closed.
    package func landed() async {
        while flights > 0, !closed {
            let landing = OneShot<Void>()
            landings.append(landing)
            if await landing.value() == nil { return }
        }
    }

    /// Every wait ends with `stopping`, now and later: the agent is going.
    package func close() {
        closed = true
        let waiting = callers
        callers = [:]
        for caller in waiting.values { caller.send(.failure(.stopping)) }
        endLandings()
    }

    private func endLandings() {
        for landing in landings { landing.send(()) }
        landings = []
    }

    private func finish(_ event: (CallerID) -> SessionEvent) async throws(AgentError) {
        if case .failure(let error) = await ask(event) { throw error }
    }

    /// Waits for the machine's answer. A cancelled caller is forgotten; what it began goes on for the others.
    private func ask(_ event: (CallerID) -> SessionEvent) async -> SessionAnswer {
        guard !closed else { return .failure(.stopping) }
        lastCaller += 1
        let caller = CallerID(lastCaller)
        let answer = OneShot<SessionAnswer>()
        callers[caller] = answer
        handle(event(caller))
        if let answer = await answer.value() { return answer }
        callers[caller] = nil
        handle(.callerGone(caller))
        return .failure(.callerGone)
    }

    private func carryOut(_ action: SessionAction) {
        switch action {
        case .publish(let snapshot): world.publish(snapshot)
        case .forget: world.forget(self)
        case .renew(let flight, let record): fly(flight, record, to: nil)
        case .obtain(let flight, let record, let aim): fly(flight, record, to: aim)
        case .reread(let flight): reread(flight)
        case .save(let record, let replacesOther): save(record, replacesOther: replacesOther)
        case .rewrite(let record): save(record, replacesOther: false)
        case .delete(let session): delete(session)
        case .revoke(let record): revoke(record)
        case .compare: compare()
        case .handOver(let session): handOver(session)
        }
    }

    // MARK: Doing, each in a task of the workshop

    /// A workshop that refuses work has ended with the agent: no result would come, so nobody may wait for one.
    private func order(_ work: @escaping Workshop.Work) {
        if !world.workshop.order(work) { close() }
    }

    private func fly(_ flight: FlightID, _ record: SessionRecord, to aim: TokenAim?) {
        let urgency = machine.end ?? world.clock.now().boot
        flights += 1
        order { [world] in
            let turn = await world.gate.turn(at: record.asked, urgency: urgency)
            let sentAt = world.clock.now()
            var obstacle = turn.failure
            if obstacle == nil { obstacle = await self.obstacle(to: flight) }
            if let obstacle { return await self.ended(flight, .failure(obstacle), sentAt: sentAt) }
            var result =
                if let aim {
                    await world.provider.obtain(aim, record, sentAt: sentAt)
                } else {
                    await world.provider.renew(record, sentAt: sentAt)
                }
            // Cut off by the agent's end, and not by anything of the provider's.
            if case .failure = result, Task.isCancelled { result = .failure(.temporary(.stopping, retryAfter: nil)) }
            if case .failure(.temporary(_, let wait?)) = result { world.gate.hold(record.asked, for: wait) }
            await self.ended(flight, result, sentAt: sentAt)
            // The first server that has answered for the issuer is trusted from now on.
            if case .success = result, let origins = await world.provider.completedOrigins(of: record, at: sentAt) {
                _ = await self.trust(origins, of: record)
            }
        }
    }

    private func ended(_ flight: FlightID, _ result: Result<Grant, ProviderFailure>, sentAt: Moment) {
        flights -= 1
        handle(.flightEnded(flight, result, sentAt: sentAt))
        // What it brought is known here: a write that follows takes it along.
        if flights == 0 { endLandings() }
    }

    private func obstacle(to flight: FlightID) -> ProviderFailure? { machine.obstacle(to: flight) }

    private func reread(_ flight: FlightID) {
        order { [world, name] in
            await self.handle(.storeReread(flight, await world.read(name)))
        }
    }

    /// Soon: many may change at once, and go together.
    private func handOver(_ session: HandedOver?) {
        guard world.handovers.set(session, named: name) else { return }
        order { [world] in world.handovers.flush(of: world.store.kind) }
    }

    private func compare() {
        order { [world, name] in
            world.handovers.flush(of: world.store.kind)
            let found = await world.read(name)
            var isLost = false
            if case .success(nil) = found { isLost = await world.store.hasLost(name) }
            await self.handle(.compared(found, isLost: isLost))
        }
    }

    private func save(_ record: SessionRecord, replacesOther: Bool) {
        order { [world] in
            world.handovers.flush(of: world.store.kind)
            do throws(StoreError) {
                if let stored = try await world.store.update(record, replacesOther: replacesOther) {
                    await self.handle(.saveRefused(record.version, stored))
                } else {
                    await self.handle(.saved(record.version))
                }
            } catch {
                await self.handle(.saveFailed(record.version, error))
            }
        }
    }

    /// Has tokens revoked that no session uses any more. No caller waits for it, so it is tried more than once.
    private func revoke(_ record: SessionRecord) {
        world.workshop.order { [world] in
            for pause in Self.revocationPauses {
                guard await world.provider.signOut(record, sentAt: world.clock.now()) != nil else { return }
                // Cancelled only when the agent stops.
                guard (try? await world.clock.sleep(until: world.clock.now().boot + pause)) != nil else { return }
            }
        }
    }

    /// After each try: a provider that has just given tokens is there, as a rule.
    private static let revocationPauses: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .zero]

    private func delete(_ session: SessionName) {
        order { [world] in
            world.handovers.flush(of: world.store.kind)
            do throws(StoreError) {
                try await world.store.delete(session)
                await self.handle(.deleted)
            } catch {
                await self.handle(.deleteFailed(error))
            }
        }
    }
}

extension RenewalGate.Turn {
    /// Why the request is not sent; `nil`: it is.
    fileprivate var failure: ProviderFailure? {
        switch self {
        case .begin: nil
        case .held(let wait): .held(for: wait)
        case .stopping: .temporary(.stopping, retryAfter: nil)
        }
    }
}

/// What a session needs of the world.
package struct SessionWorld: Sendable {
    package let store: any SessionStore
    package let provider: ProviderCalls
    package let clock: any SystemClock
    package let workshop: Workshop
    package let alarms: Alarms<SessionName>
    package let gate: RenewalGate
    package let handovers: Handovers
    package let publish: @Sendable (SessionSnapshot) -> Void
    package let forget: @Sendable (Session) -> Void

    fileprivate func read(_ session: SessionName) async -> Result<SessionRecord?, StoreError> {
        do throws(StoreError) {
            return .success(try await store.load(session))
        } catch {
            return .failure(error)
        }
    }
}
