package import AuthConcurrency
import AuthMachines
package import AuthModel
package import AuthWire

/// The agent's lock: runs ``LockMachine``, and carries out what it decides.
///
/// Invariant: while the agent is locked, the board has its lock, and no session is handed over to the next run.
package final class LockService: Sendable {
    /// The parts of the agent that it uses.
    package struct Dependencies: Sendable {
        let context: AgentContext
        let registry: SessionRegistry
        let storage: SessionStorage
        let signIns: SignInService
        /// `nil`: there is no folder for the state, so the agent does not lock.
        let store: (any LockStore)?
        let endAccepted: @Sendable () async -> Void
        let log: @Sendable (String) -> Void
        let record: @Sendable (LockRecord.Reason) -> Void

        /// - Parameters:
        ///   - endAccepted: ends requests that were accepted before. After it returns, none of their tokens is sent.
        ///   - log: writes a message for the user.
        ///   - record: called with the reason when the agent has locked itself.
        package init(
            context: AgentContext, registry: SessionRegistry, storage: SessionStorage, signIns: SignInService,
            store: (any LockStore)?, endAccepted: @escaping @Sendable () async -> Void,
            log: @escaping @Sendable (String) -> Void,
            record: @escaping @Sendable (LockRecord.Reason) -> Void = { _ in }
        ) {
            self.context = context
            self.registry = registry
            self.storage = storage
            self.signIns = signIns
            self.store = store
            self.endAccepted = endAccepted
            self.log = log
            self.record = record
        }
    }

    private let dependencies: Dependencies
    private let runner: Runner<LockMachine>

    /// Reads the state from the disk, and puts it on the board.
    package init(_ dependencies: Dependencies) {
        self.dependencies = dependencies
        let (context, store) = (dependencies.context, dependencies.store)
        let now = context.clock.now()
        let record = store?.load(at: now.wall) ?? LockRecord()
        let machine = LockMachine(record, hasPassphrase: store?.hasPassphrase() ?? false, now: now)
        if record.lock != nil {
            // This must precede the loading of sessions.
            dependencies.storage.suspendHandovers()
            context.board.put(lock: machine.status(at: now.wall))
        }
        runner = Runner(machine, performer: LockPerformer(dependencies), tasks: context.tasks)
    }

    private var context: AgentContext { dependencies.context }

    /// Returns when its actor has handled what it was sent before.
    package func answers() async { await runner.read { _ in } }

    // MARK: Requests

    package func lock() async throws(AgentError) -> LockStatus {
        var status = try await ask { .lockRequested($0) }
        status.tokensEndAt = context.board.tokensEnd
        return status
    }

    package func unlock(_ params: AgentUnlock) async throws(AgentError) -> LockStatus {
        let passphrase = params.passphrase.map { Secret($0) }
        return try await ask { .unlockRequested($0, passphrase) }
    }

    /// - Parameter confirm: checks the user's presence; it throws if that fails.
    package func unlock(confirming confirm: () async throws(AgentError) -> Void) async throws(AgentError) -> LockStatus
    {
        _ = try await ask { .presenceRequested($0) }
        try await confirm()
        return try await ask { .presenceConfirmed($0) }
    }

    package func setPassphrase(_ params: AgentPassphrase) async throws(AgentError) -> LockStatus {
        let (new, current) = (Secret(params.passphrase), params.current.map { Secret($0) })
        return try await ask { .passphraseRequested($0, new: new, current: current) }
    }

    private func ask(_ event: @Sendable (CallerID) -> LockEvent) async throws(AgentError) -> LockStatus {
        switch try await converting(WaitEnd.self, try await runner.ask(event)) {
        case .status(let status): return status
        case .failure(let error): throw error
        }
    }

    // MARK: Triggers

    /// Follows the settings, the machine's sleep and the user's login sessions until it is cancelled.
    package func run(
        settings: StateBroadcast<LockSettings>, sleep: any SleepWatch, loginSessions: any LoginSessionWatch
    ) async {
        await withDiscardingTaskGroup { group in
            group.addTask {
                for await settings in settings.states() { await self.configure(settings) }
            }
            group.addTask {
                for await event in sleep.events() {
                    if case .preparing(let hold) = event { await self.lockBeforeSleep(hold) }
                }
            }
            group.addTask { await self.follow(loginSessions, settings) }
        }
        await runner.close()
    }

    package func configure(_ settings: LockSettings) async { await runner.send(.configured(settings)) }

    private func lockBeforeSleep(_ hold: SleepHold) async {
        let end = context.clock.now().boot + NetworkMonitor.longestHold
        await withTaskGroup(of: Void.self) { [context] group in
            group.addTask { _ = try? await self.runner.ask { .sleeping($0) } }
            group.addTask { try? await context.clock.sleep(until: end) }
            await group.next()
            group.cancelAll()
        }
        hold.end()
    }

    /// Watches the login sessions only while the settings require it.
    private func follow(_ watch: any LoginSessionWatch, _ settings: StateBroadcast<LockSettings>) async {
        // A cancelled wait may still find the state.
        while await settings.wait(until: \.withLoginSessions), !Task.isCancelled {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    for await areLocked in watch.areLocked() {
                        await self.runner.send(.loginSessions(areLocked: areLocked))
                    }
                    _ = await settings.wait { !$0.withLoginSessions }
                }
                group.addTask { _ = await settings.wait { !$0.withLoginSessions } }
                await group.next()
                group.cancelAll()
            }
            await runner.send(.loginSessions(areLocked: false))
        }
    }
}

private struct LockPerformer: ActionPerformer {
    let dependencies: LockService.Dependencies

    init(_ dependencies: LockService.Dependencies) {
        self.dependencies = dependencies
    }

    private var board: StateBoard { dependencies.context.board }
    private var storage: SessionStorage { dependencies.storage }

    func perform(_ action: LockAction, on runner: isolated Runner<LockMachine>) {
        switch action {
        case .publish(let status):
            let former = board.lock
            // A lock requested by a program is recorded with the request.
            let reason = status.reason.flatMap(LockRecord.Reason.init(rawValue:))
            if status.isLocked, former == nil, let reason, reason != .command { dependencies.record(reason) }
            board.put(lock: status)
            dependencies.log(Self.words(for: status, after: former))
        case .close:
            storage.suspendHandovers()
            runner.start { [dependencies] in
                await dependencies.endAccepted()
                await dependencies.signIns.cancelAll()
                await dependencies.registry.dropTargetedTokens()
                return .closed
            }
        case .open:
            storage.resumeHandovers()
            // A token may have arrived for a request that the lock has ended.
            runner.start { [dependencies] in
                await dependencies.registry.dropTargetedTokens()
                return nil
            }
        case .save(let record, let version):
            run(on: runner) { store throws(StoreError) in
                try await store.save(record)
            } event: {
                .saved(version: version, $0)
            }
        case .check(let passphrase):
            run(on: runner) { store throws(StoreError) in
                try await store.check(passphrase)
            } event: {
                .checked($0)
            }
        case .setPassphrase(let passphrase):
            run(on: runner) { store throws(StoreError) in
                try await store.set(passphrase)
            } event: {
                .passphraseSet($0)
            }
        case .readLastUse:
            // Before the first request, the machine counts from its start.
            runner.send(.idleTick(lastUse: board.lastUse ?? BootInstant(sinceBoot: .zero)))
        case .log(let text): dependencies.log(text)
        }
    }

    private static func words(for status: LockStatus, after former: LockStatus?) -> String {
        guard status.isLocked else { return "The agent is unlocked." }
        guard former != nil else { return "The agent is locked (\(status.reason ?? "unknown"))." }
        return "An attempt to unlock the agent failed (\(status.failedAttempts ?? 0) in the last minutes)."
    }

    /// - Parameter event: makes the machine's event from the result.
    private func run<Value: Sendable>(
        on runner: isolated Runner<LockMachine>,
        _ work: @escaping @Sendable (any LockStore) async throws(StoreError) -> Value,
        event: @escaping @Sendable (Result<Value, StoreError>) -> LockEvent
    ) {
        runner.startToEnd { [store = dependencies.store] () async -> LockEvent? in
            guard let store else {
                return event(.failure(.failed(reason: "neither XDG_STATE_HOME nor HOME is set")))
            }
            return event(await Result(of: try await work(store)))
        }
    }
}
