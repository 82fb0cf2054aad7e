package import AuthAgent
package import AuthConcurrency
import AuthFiles
package import AuthModel
package import AuthSockets
import AuthWire
package import Logging
import ServiceLifecycle

/// The agent's sockets: serves clients on one thread until it is stopped.
///
/// Every waiting request runs in a task below ``run()``; all have ended when it returns.
package actor Listener: Service {
    private let sockets: [ListenerName: SocketFile]
    private let extra: ExtraSocket
    private let executor: SocketExecutor
    private let registry: ConnectionRegistry
    private let publisher: EventPublisher
    private let tasks: AsyncStream<ConnectionTasks>
    private let newTasks: AsyncStream<ConnectionTasks>.Continuation
    private let lines: AsyncStream<LongLine>
    private let newLines: AsyncStream<LongLine>.Continuation
    private let parse: LongLine.Parse
    private let bus: SessionBusAccess?
    private let clock: any SystemClock
    private let limits: ConnectionLimits
    private let opening: @Sendable () async -> Void
    private let accepting: @Sendable () -> Void
    private let stopping: @Sendable () -> Void

    package nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - sockets: the agent's own, and those for limited access from the service manager.
    ///   - extra: opened by authd.
    ///   - parse: parses long lines, on another thread.
    ///   - bus: `nil`: there is none.
    ///   - hasPeerDescriptors: whether the kernel may know SO_PEERPIDFD.
    ///   - opening: awaited before the first client is accepted.
    ///   - accepting: called when clients are served.
    ///   - stopping: called when clients are not served any more.
    package init(
        sockets: [ListenerName: SocketFile], extra: ExtraSocket, executor: SocketExecutor,
        dispatcher: Dispatcher, board: StateBoard,
        policy: CurrentPeerPolicy, tables: StateBroadcast<ListenerTables> = StateBroadcast(ListenerTables()),
        changes: AccessChanges = AccessChanges(), publisher: EventPublisher,
        limits: ConnectionLimits = ConnectionLimits(),
        counters: AgentCounters, clock: any SystemClock,
        parse: @escaping LongLine.Parse = LongLine.parseJSON, logger: Logger, bus: SessionBusAccess? = nil,
        hasPeerDescriptors: Bool = true,
        opening: @escaping @Sendable () async -> Void = {},
        accepting: @escaping @Sendable () -> Void = {},
        stopping: @escaping @Sendable () -> Void = {}
    ) {
        self.sockets = sockets
        self.extra = extra
        self.executor = executor
        self.publisher = publisher
        self.clock = clock
        self.limits = limits
        self.opening = opening
        self.accepting = accepting
        self.stopping = stopping
        self.parse = parse
        self.bus = bus
        let (tasks, newTasks) = AsyncStream<ConnectionTasks>.makeStream()
        self.tasks = tasks
        self.newTasks = newTasks
        let (lines, newLines) = AsyncStream<LongLine>.makeStream()
        self.lines = lines
        self.newLines = newLines
        registry = ConnectionRegistry(
            dispatcher: dispatcher, board: board, policy: policy, tables: tables, changes: changes, limits: limits,
            counters: counters, clock: clock, logger: logger, executor: executor,
            hasPeerDescriptors: hasPeerDescriptors, newTasks: newTasks, newLines: newLines)
    }

    package func run() async throws {
        registry.listener = self
        defer { registry.listener = nil }
        // A stop must not wait for a slow store.
        await cancelWhenGracefulShutdown { [opening] in await opening() }
        // Before that there are no clients: events of sessions that are being restored would wake this thread in vain.
        publisher.connect(to: self)
        defer { publisher.connect(to: nil) }
        for (name, socket) in sockets {
            if name.isLimited {
                registry.listenIfPossible(at: socket.descriptor, as: name)
            } else {
                try registry.listen(at: socket.descriptor, as: name)
            }
        }
        extra.connect(to: self)
        await withDiscardingTaskGroup { group in
            group.addTask { [tasks] in
                await withDiscardingTaskGroup { group in
                    for await connection in tasks { group.addTask { await connection.run(for: self) } }
                }
            }
            group.addTask { [lines, parse] in
                for await line in lines {
                    let result = await parse(line.parts, line.values)
                    let requestBytes = LongLine.requestBytes(of: result)
                    self.perform { $0.parsed(result, requestBytes) }
                }
            }
            accepting()
            if let bus {
                registry.bus = BusService(registry, at: bus.address)
                group.addTask {
                    for await isOn in bus.isOn.states() { self.perform { $0.bus?.turn(on: isOn) } }
                }
            }
            let graceful = (try? await gracefulShutdown()) != nil
            stopping()
            extra.connect(to: nil)
            registry.stopListening()
            await finishRequests(within: graceful ? limits.stopGrace : .zero)
            newTasks.finish()
            newLines.finish()
            group.cancelAll()
        }
        // All tasks have reported their results, so these are sent first.
        registry.closeAll()
    }

    /// Runs `body` on the connections' thread, after earlier calls. Any thread may call it.
    nonisolated func perform(_ body: @escaping @Sendable (ConnectionRegistry) -> Void) {
        executor.perform { self.assumeIsolated { body($0.registry) } }
    }

    /// Serves the extra socket, or no longer if the descriptor is `nil`: its clients are disconnected then.
    nonisolated func setExtra(_ descriptor: CInt?) {
        perform { registry in
            guard let descriptor else { return registry.stopServing(.extra) }
            registry.listenIfPossible(at: descriptor, as: .extra)
        }
    }

    private func finishRequests(within grace: Duration) async {
        let empty = OneShot<Void>()
        registry.stop { empty.send(()) }
        let deadline = clock.now().boot + grace
        await withTaskGroup(of: Void.self) { group in
            group.addTask { _ = await empty.value() }
            group.addTask { [clock] in try? await clock.sleep(until: deadline) }
            await group.next()
            group.cancelAll()
        }
    }
}
