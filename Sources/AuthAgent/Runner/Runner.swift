import AuthConcurrency
package import AuthMachines
package import AuthModel

/// Performs what a machine decides. ``perform(_:on:)`` runs on the runner's actor and does not wait: work that waits is begun
/// with ``Runner/start(_:)``.
package protocol ActionPerformer<M>: Sendable {
    associatedtype M: Machine

    func perform(_ action: M.Action, on runner: isolated Runner<M>)
}

/// For a machine that only replies.
package struct NoActions<M: Machine>: ActionPerformer where M.Action == Never {
    package init() {}
    package func perform(_ action: Never, on runner: isolated Runner<M>) {}
}

/// Why a wait ended without a reply.
package enum WaitEnd: Error, Sendable {
    /// The caller's task was cancelled. The work continues for others.
    case cancelled
    /// The runner is closed.
    case stopping
}

/// Runs one machine: it stamps the time, performs actions, sends replies, keeps the deadline and begins work.
///
/// Invariants:
/// 1. The machine handles one event after the other; what an event decides is performed before the next one is handled.
/// 2. Each wait ends once: with its reply, `cancelled` or `stopping`.
/// 3. Once it is closed it handles no event, begins no work and keeps no deadline. Its callers get `stopping`.
package actor Runner<M: Machine> {
    private var machine: M
    private let performer: any ActionPerformer<M>
    private let tasks: AgentTasks
    private var callers: [CallerID: OneShot<Result<M.Reply, WaitEnd>>] = [:]
    private var lastCaller: UInt64 = 0
    private var wakeUp: BootInstant?
    private var versions = UpdateVersions()
    /// Events that were sent while an action was performed.
    private var next: [M.Event] = []
    private var isBusy = false
    private var isClosed = false

    package init(_ machine: M, performer: any ActionPerformer<M>, tasks: AgentTasks) {
        self.machine = machine
        self.performer = performer
        self.tasks = tasks
    }

    // MARK: Events

    /// - Returns: `false` if the runner is closed: the event is dropped.
    @discardableResult
    package func send(_ event: M.Event) -> Bool {
        guard !isClosed else { return false }
        guard !isBusy else {
            next.append(event)
            return true
        }
        isBusy = true
        defer { isBusy = false }
        handle(event)
        while !isClosed, !next.isEmpty { handle(next.removeFirst()) }
        // Frees the array: an idle runner keeps no capacity for events.
        next = []
        return true
    }

    /// An update from another actor. One that is not newer than the last from the same source is dropped.
    /// - Returns: `false` if the runner is closed.
    @discardableResult
    package func send(_ event: M.Event, version: UInt64, from source: UpdateSource) -> Bool {
        guard version > versions[source] else { return !isClosed }
        versions[source] = version
        return send(event)
    }

    /// Waits for the machine's reply.
    package func ask(_ event: @Sendable (CallerID) -> M.Event) async throws(WaitEnd) -> M.Reply {
        let (caller, wait) = try begin(event)
        if let end = await wait.value() { return try end.get() }
        remove(caller)
        send(M.callerGone(caller))
        throw .cancelled
    }

    /// The same for a caller that has to know the outcome. If its task is cancelled, the machine gets
    /// ``Machine/callerGone(_:)`` and decides the reply, which is still waited for.
    package func askToEnd(_ event: @Sendable (CallerID) -> M.Event) async throws(WaitEnd) -> M.Reply {
        let (caller, wait) = try begin(event)
        let end = await withTaskCancellationHandler {
            await withoutCancellation { await wait.value() }
        } onCancel: {
            tasks.pool.order { await self.send(M.callerGone(caller)) }
        }
        return try (end ?? .failure(.cancelled)).get()
    }

    private func begin(
        _ event: @Sendable (CallerID) -> M.Event
    ) throws(WaitEnd) -> (CallerID, OneShot<Result<M.Reply, WaitEnd>>) {
        guard !isClosed else { throw .stopping }
        lastCaller += 1
        let caller = CallerID(lastCaller)
        let wait = OneShot<Result<M.Reply, WaitEnd>>()
        callers[caller] = wait
        send(event(caller))
        return (caller, wait)
    }

    /// Reads the machine between two events.
    package func read<Value: Sendable>(_ body: (borrowing M) -> Value) -> Value { body(machine) }

    /// Several steps with no event in between.
    @discardableResult
    package func together<Value: Sendable>(_ steps: @Sendable (isolated Runner<M>) -> Value) -> Value { steps(self) }

    private func handle(_ event: M.Event) {
        var turn = Turn<M.Action, M.Reply>(at: tasks.clock.now())
        machine.handle(event, in: &turn)
        for action in turn.actions { performer.perform(action, on: self) }
        guard !isClosed else { return }
        for (caller, reply) in turn.replies { remove(caller)?.send(.success(reply)) }
        // The same deadline is not set twice: a machine that can do nothing about it would be woken without end.
        guard turn.wakeUp != wakeUp else { return }
        wakeUp = turn.wakeUp
        tasks.alarms.set(wakeUp, for: self)
    }

    /// Most runners are idle most of the time, so a runner without callers keeps no capacity for them.
    @discardableResult
    private func remove(_ caller: CallerID) -> OneShot<Result<M.Reply, WaitEnd>>? {
        defer { if callers.isEmpty { callers = [:] } }
        return callers.removeValue(forKey: caller)
    }

    // MARK: Work

    /// Begins work beside the runner. Its event is handled, unless the runner is closed by then.
    /// - Returns: `false` if the runner is closed, for example by the end of the agent: the work is not done.
    @discardableResult
    package func start(_ work: @escaping @Sendable () async -> M.Event?) -> Bool {
        guard !isClosed else { return false }
        let isAccepted = tasks.pool.order {
            if let event = await work() { await self.send(event) }
        }
        // The agent has ended: no result would come, so no caller may wait for one.
        if !isAccepted { close() }
        return isAccepted
    }

    /// The same for what must not be left half done: its task is not cancelled.
    @discardableResult
    package func startToEnd(_ work: @escaping @Sendable () async -> M.Event?) -> Bool {
        start { await withoutCancellation(work) }
    }

    /// Ends each wait with `stopping`, now and later.
    package func close() {
        guard !isClosed else { return }
        isClosed = true
        next = []
        tasks.alarms.set(nil, for: self)
        let waiting = callers.sorted { $0.key.number < $1.key.number }
        callers = [:]
        for (_, wait) in waiting { wait.send(.failure(.stopping)) }
    }
}

extension Runner: AlarmOwner {
    package func ring() { send(M.wake) }
}

/// Where an update comes from that has a version.
package enum UpdateSource: Sendable {
    case network, sessions
}

/// The last version from each source; 0: none yet.
private struct UpdateVersions {
    private var network: UInt64 = 0
    private var sessions: UInt64 = 0

    subscript(source: UpdateSource) -> UInt64 {
        get {
            switch source {
            case .network: network
            case .sessions: sessions
            }
        }
        set {
            switch source {
            case .network: network = newValue
            case .sessions: sessions = newValue
            }
        }
    }
}

/// What all runners of the agent share.
package struct AgentTasks: Sendable {
    package let clock: any SystemClock
    package let pool: TaskPool
    package let alarms: AlarmClock

    package init(clock: any SystemClock) {
        self.clock = clock
        pool = TaskPool()
        alarms = AlarmClock(clock: clock)
    }

    /// Does the work of the runners, keeps their deadlines and runs `services`, until it is cancelled. All of that goes on
    /// while `last` is done then, outside of cancellation; it is cancelled afterwards.
    package func run(
        services: [@Sendable () async -> Void] = [], last: (@Sendable () async -> Void)? = nil
    ) async {
        let all = services + [alarms.run, pool.run]
        @Sendable func serve() async {
            await withDiscardingTaskGroup { group in
                for service in all { group.addTask { await service() } }
            }
        }
        guard let last else { return await serve() }
        // Not a child: it goes on when this task is cancelled.
        let work = Task { await serve() }
        _ = await OneShot<Void>().value()
        await withoutCancellation(last)
        work.cancel()
        await work.value
    }
}
