package import AuthWire

/// Carries out what its ``SessionMachine`` decides, and feeds the results back.
///
/// Invariant: the machine is touched only between two awaits, so each event meets a settled state.
package actor Session {
    package nonisolated let name: SessionName
    private var machine: SessionMachine
    private let world: SessionWorld
    private var callers: [CallerID: CheckedContinuation<SessionAnswer, Never>] = [:]
    private var lastCaller: UInt64 = 0
    private var closed = false

    package init(name: SessionName, machine: SessionMachine, world: SessionWorld) {
        self.name = name
        self.machine = machine
        self.world = world
    }

    package func begin() {
        carryOut(machine.begin(at: world.clock.now()))
    }

    package func handle(_ event: SessionEvent) {
        carryOut(machine.handle(event, at: world.clock.now()))
    }

    package var record: SessionRecord { machine.record }

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

    package func signOut() async throws(AgentError) {
        try await finish { .signOutWanted($0) }
    }

    /// Returns when the newest record is in the store, or the store has refused it.
    package func write() async throws(AgentError) {
        try await finish { .writeWanted($0) }
    }

    /// Everybody who still waits is told that the agent is going.
    package func close() {
        closed = true
        let waiting = callers
        callers = [:]
        for continuation in waiting.values { continuation.resume(returning: .failure(.stopping)) }
    }

    private func finish(_ event: (CallerID) -> SessionEvent) async throws(AgentError) {
        if case .failure(let error) = await ask(event) { throw error }
    }

    /// Waits for the machine's answer. A cancelled caller is forgotten; what it began goes on for the others.
    private func ask(_ event: (CallerID) -> SessionEvent) async -> SessionAnswer {
        guard !closed else { return .failure(.stopping) }
        lastCaller += 1
        let caller = CallerID(lastCaller)
        let asking = event(caller)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                callers[caller] = continuation
                handle(asking)
            }
        } onCancel: {
            world.workshop.order { await self.forget(caller) }
        }
    }

    private func forget(_ caller: CallerID) {
        guard let continuation = callers.removeValue(forKey: caller) else { return }
        continuation.resume(returning: .failure(AgentError(.timeout, "The caller has gone.")))
        handle(.callerGone(caller))
    }

    private func carryOut(_ actions: [SessionAction]) {
        for action in actions {
            switch action {
            case .answer(let caller, let answer):
                callers.removeValue(forKey: caller)?.resume(returning: answer)
            case .publish(let snapshot): world.publish(snapshot)
            case .wakeAt(let deadline): world.alarms.set(deadline, for: name)
            case .forget: world.forget(self)
            case .renew(let flight, let record): fly(flight, record, to: nil)
            case .obtain(let flight, let record, let aim): fly(flight, record, to: aim)
            case .reread(let flight): reread(flight)
            case .save(let record, let replacesOther): save(record, replacesOther: replacesOther)
            case .rewrite(let record): save(record, replacesOther: false)
            case .delete(let session): delete(session)
            case .compare: compare()
            case .handOver(let session): handOver(session)
            }
        }
    }

    // MARK: Doing, each in a task of the workshop

    private func fly(_ flight: FlightID, _ record: SessionRecord, to aim: TokenAim?) {
        let urgency = machine.end ?? world.clock.now().boot
        world.workshop.order { [world] in
            let held = await world.gate.turn(at: record.asked, urgency: urgency)
            let sentAt = world.clock.now()
            if let held {
                return await self.handle(.flightEnded(flight, .failure(.held(for: held)), sentAt: sentAt))
            }
            if let obstacle = await self.obstacle(to: flight) {
                return await self.handle(.flightEnded(flight, .failure(obstacle), sentAt: sentAt))
            }
            let result =
                if let aim {
                    await world.provider.obtain(aim, record, sentAt: sentAt)
                } else {
                    await world.provider.renew(record, sentAt: sentAt)
                }
            if case .failure(.temporary(_, let wait?)) = result { world.gate.hold(record.asked, for: wait) }
            await self.handle(.flightEnded(flight, result, sentAt: sentAt))
            // Who has answered where nobody was known to be is known from here on.
            if case .success = result, let origins = await world.provider.completedOrigins(of: record, at: sentAt) {
                await self.handle(.originsTrusted(origins))
            }
        }
    }

    private func obstacle(to flight: FlightID) -> ProviderFailure? { machine.obstacle(to: flight) }

    private func reread(_ flight: FlightID) {
        world.workshop.order { [world, name] in
            await self.handle(.storeReread(flight, await world.read(name)))
        }
    }

    /// Soon: many may change at once, and go together.
    private func handOver(_ session: HandedOver?) {
        guard world.handovers.set(session, named: name) else { return }
        world.workshop.order { [world] in world.handovers.flush(of: world.store.kind) }
    }

    private func compare() {
        world.workshop.order { [world, name] in
            world.handovers.flush(of: world.store.kind)
            let found = await world.read(name)
            var isLost = false
            if case .success(nil) = found { isLost = await world.store.hasLost(name) }
            await self.handle(.compared(found, isLost: isLost))
        }
    }

    private func save(_ record: SessionRecord, replacesOther: Bool) {
        world.workshop.order { [world] in
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

    private func delete(_ session: SessionName) {
        world.workshop.order { [world] in
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
