package import AuthMachines
package import AuthModel
package import AuthWire

/// Carries out what a ``SessionMachine`` decides.
final class SessionPerformer: ActionPerformer {
    let name: SessionName
    let world: SessionDependencies

    init(name: SessionName, world: SessionDependencies) {
        self.name = name
        self.world = world
    }

    func perform(_ action: SessionAction, on runner: isolated Runner<SessionMachine>) {
        switch action {
        case .publish(let snapshot): world.publish(snapshot)
        case .forget: world.forget(name, runner)
        case .renew(let flight, let record): send(flight, record, for: nil, runner)
        case .requestTargeted(let flight, let record, let target): send(flight, record, for: target, runner)
        case .reread(let flight): runner.start { [self] in .storeReread(flight, await read()) }
        case .save(let record, let replacesOther): save(record, replacesOther: replacesOther, runner)
        case .rewrite(let record): save(record, replacesOther: false, runner)
        case .delete: delete(runner)
        case .revoke(let record): revoke(record)
        case .compare: compare(runner)
        case .handOver(let session): handOver(session, runner)
        }
    }

    // MARK: The provider

    private func send(
        _ flight: RenewalRequestID, _ record: SessionRecord, for target: TokenTarget?,
        _ runner: isolated Runner<SessionMachine>
    ) {
        let urgency = runner.read { $0.end } ?? world.tasks.clock.now().boot
        runner.start { [self, world, runner] () async -> SessionEvent? in
            var obstacle = await world.turnFailure(for: record, urgency: urgency)
            let sentAt = world.tasks.clock.now()
            if obstacle == nil { obstacle = await runner.read { $0.obstacle(to: flight) } }
            if let obstacle { return .requestEnded(flight, .failure(obstacle), sentAt: sentAt) }
            var result: Result<Grant, ProviderFailure> =
                if let target {
                    await Result(of: try await world.provider.obtain(target, record, sentAt: sentAt))
                } else {
                    await Result(of: try await world.provider.renew(record, sentAt: sentAt))
                }
            // Cut off by the agent's end, and not by anything of the provider's.
            if case .failure = result, Task.isCancelled { result = .failure(.temporary(.stopping, retryAfter: nil)) }
            if case .failure(.temporary(_, let wait?)) = result {
                await world.renewals.send(.held(RenewalQueue.Provider(record), for: wait))
            }
            await runner.send(.requestEnded(flight, result, sentAt: sentAt))
            // The first server that has answered for the issuer is trusted from now on.
            if case .success = result, let origins = await world.provider.completedOrigins(of: record, at: sentAt) {
                _ = await trust(origins, of: record, on: runner)
            }
            return nil
        }
    }

    /// Has tokens revoked that no session uses any more. No caller waits for it, so it is tried more than once.
    private func revoke(_ record: SessionRecord) {
        let clock = world.tasks.clock
        world.tasks.pool.order { [world] in
            for pause in Self.revocationPauses {
                if (try? await world.provider.signOut(record, sentAt: clock.now())) != nil { return }
                // Cancelled only when the agent stops.
                guard (try? await clock.sleep(until: clock.now().boot + pause)) != nil else { return }
            }
        }
    }

    /// After each try: a provider that has just given tokens is there, as a rule.
    private static let revocationPauses: [Duration] = [.seconds(1), .seconds(5), .seconds(30), .seconds(120), .zero]

    // MARK: The store

    /// Soon: many may change at once, and go together.
    private func handOver(_ session: HandedOverSession?, _ runner: isolated Runner<SessionMachine>) {
        guard world.handovers.set(session, named: name) else { return }
        runner.start { [self] in
            flushHandovers()
            return nil
        }
    }

    private func flushHandovers() { world.handovers.flush(of: world.store.kind) }

    private func compare(_ runner: isolated Runner<SessionMachine>) {
        runner.start { [self] in
            flushHandovers()
            let found = await read()
            var isLost = false
            if case .success(nil) = found { isLost = await world.store.hasLost(name) }
            return .compared(found, isLost: isLost)
        }
    }

    private func read() async -> Result<SessionRecord?, StoreError> {
        await Result(of: try await world.store.load(name))
    }

    private func save(
        _ record: SessionRecord, replacesOther: Bool, _ runner: isolated Runner<SessionMachine>
    ) {
        runner.start { [self] in
            flushHandovers()
            do throws(StoreError) {
                let stored = try await world.store.update(record, replacesOther: replacesOther)
                return stored.map { .saveRefused(record.version, $0) } ?? .saved(record.version)
            } catch {
                return .saveFailed(record.version, error)
            }
        }
    }

    private func delete(_ runner: isolated Runner<SessionMachine>) {
        runner.start { [self] in
            flushHandovers()
            do throws(StoreError) {
                try await world.store.delete(name)
                return .deleted
            } catch {
                return .deleteFailed(error)
            }
        }
    }

    // MARK: Events that depend on the present record

    func origin(of record: SessionRecord) -> Origin? { world.provider.probe(record)?.origin }

    func send(
        _ event: SessionEvent, learnedWith record: SessionRecord, to runner: isolated Runner<SessionMachine>
    ) {
        if runner.read({ $0.record }).signIn == record.signIn { runner.send(event) }
    }

    func networkChanged(
        _ news: VersionedNetworkState, at origin: Origin?, to runner: isolated Runner<SessionMachine>
    ) -> Bool {
        guard origin == self.origin(of: runner.read { $0.record }) else { return false }
        runner.send(.networkChanged(news.state), version: news.version, from: .network)
        return true
    }

    func profilesChanged(_ runner: isolated Runner<SessionMachine>) {
        runner.send(.renewable(world.provider.means(of: runner.read { $0.record })))
    }

    func replace(
        with record: SessionRecord, sentAt: Moment, revokesFormer: Bool, on runner: isolated Runner<SessionMachine>
    ) {
        runner.send(.renewable(world.provider.means(of: record)))
        runner.send(.replaced(record, sentAt: sentAt, revokesFormer: revokesFormer))
    }

    func checkOrigins(_ runner: isolated Runner<SessionMachine>) {
        let record = runner.read { $0.record }
        if record.origins != nil {
            runner.send(.originsChecked(world.provider.originChange(of: record)))
        } else if let named = world.provider.namedOrigins(of: record) {
            runner.send(.originsTrusted(named))
        }
    }

    func trust(
        _ origins: TokenOrigins, of record: SessionRecord, on runner: isolated Runner<SessionMachine>
    ) -> Bool {
        var trusting = runner.read { $0.record }
        guard trusting.signIn == record.signIn, trusting.origins == record.origins else { return false }
        trusting.origins = origins
        guard world.provider.originChange(of: trusting) == nil else { return false }
        return runner.send(.originsTrusted(origins))
    }

    func noteOriginChange(
        _ error: AgentError, of record: SessionRecord, to runner: isolated Runner<SessionMachine>
    ) {
        // Another place may be trusted since.
        guard runner.read({ $0.record }).origins == record.origins else { return }
        send(.originsChecked(error), learnedWith: record, to: runner)
    }
}

/// What a session needs of the agent.
package struct SessionDependencies: Sendable {
    package let store: any SessionStore
    package let provider: ProviderClient
    package let tasks: AgentTasks
    package let renewals: Runner<RenewalQueue>
    package let handovers: PendingHandover
    package let publish: @Sendable (SessionSnapshot) -> Void
    /// Nothing is left of the session of that name, if this runner still runs it.
    package let forget: @Sendable (SessionName, Runner<SessionMachine>) -> Void

    /// Waits until a renewal of this record may begin.
    /// - Returns: why it may not; `nil`: it may.
    fileprivate func turnFailure(for record: SessionRecord, urgency: BootInstant) async -> ProviderFailure? {
        do throws(WaitEnd) {
            let provider = RenewalQueue.Provider(record)
            let reply = try await renewals.ask { .entered($0, provider, urgency: urgency) }
            return if case .held(let wait) = reply { .askedToWait(for: wait) } else { nil }
        } catch {
            return .temporary(.stopping, retryAfter: nil)
        }
    }
}

extension RenewalQueue.Provider {
    fileprivate init(_ record: SessionRecord) {
        self.init(name: record.provider, environment: record.environment)
    }
}
