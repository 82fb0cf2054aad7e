package import AuthCore
import AuthWire
package import Logging
import NIOCore
import ServiceLifecycle

/// The agent's socket: takes clients in on one loop and answers them until it is told to stop.
///
/// Every request that waits runs in a task below ``run()``; none is left when it returns.
package final class Listener: Service {
    private let socket: SocketFile
    private let loop: SocketLoop
    private let reception: NIOLoopBound<Reception>
    private let crews: AsyncStream<Crew>
    private let newCrews: AsyncStream<Crew>.Continuation
    private let lines: AsyncStream<LongLine>
    private let newLines: AsyncStream<LongLine>.Continuation
    private let parse: LongLine.Parse
    private let clock: any SystemClock
    private let limits: ConnectionLimits
    private let opening: @Sendable () async -> Void
    private let accepting: @Sendable () -> Void
    private let stopping: @Sendable () -> Void

    /// - Parameters:
    ///   - parse: does so with long lines, off the loop.
    ///   - opening: awaited before the first client is taken.
    ///   - accepting: called once clients are served.
    ///   - stopping: called when they no longer are.
    package init(
        socket: SocketFile, loop: SocketLoop, dispatcher: Dispatcher, board: StateBoard,
        policy: CurrentPeerPolicy, outlet: EventOutlet, limits: ConnectionLimits = ConnectionLimits(),
        counters: AgentCounters, clock: any SystemClock,
        parse: @escaping LongLine.Parse = LongLine.parseJSON, logger: Logger,
        opening: @escaping @Sendable () async -> Void = {},
        accepting: @escaping @Sendable () -> Void = {},
        stopping: @escaping @Sendable () -> Void = {}
    ) async throws {
        self.socket = socket
        self.loop = loop
        self.clock = clock
        self.limits = limits
        self.opening = opening
        self.accepting = accepting
        self.stopping = stopping
        let (crews, newCrews) = AsyncStream<Crew>.makeStream()
        self.crews = crews
        self.newCrews = newCrews
        let (lines, newLines) = AsyncStream<LongLine>.makeStream()
        self.lines = lines
        self.newLines = newLines
        self.parse = parse
        reception = try await loop.submit {
            NIOLoopBound(
                Reception(
                    dispatcher: dispatcher, board: board, policy: policy, outlet: outlet, limits: limits,
                    counters: counters, clock: clock, logger: logger, loop: loop, newCrews: newCrews,
                    newLines: newLines),
                eventLoop: loop)
        }.get()
    }

    package func run() async throws {
        // A start that waits for the store is no reason to stop later.
        await cancelWhenGracefulShutdown { [opening] in await opening() }
        let door = try await open()
        await withDiscardingTaskGroup { group in
            group.addTask { [crews] in
                await withDiscardingTaskGroup { group in
                    for await crew in crews { group.addTask { await crew.run() } }
                }
            }
            group.addTask { [lines, parse] in
                for await line in lines { await line.parse(by: parse) }
            }
            accepting()
            let graceful = (try? await gracefulShutdown()) != nil
            stopping()
            try? await loop.submit { door.value.close() }.get()
            await letFinish(within: graceful ? limits.stopGrace : .zero)
            newCrews.finish()
            newLines.finish()
            group.cancelAll()
        }
        // By now every job has handed its answer to the loop, so that it goes out before the end.
        try? await loop.submit { [reception] in reception.value.closeAll() }.get()
    }

    private func open() async throws -> NIOLoopBound<Door> {
        try await loop.submit { [self] in
            let logger = reception.value.logger
            let door = try Door(socket.descriptor, on: loop, logger: logger) { [weak self] descriptor in
                self?.welcome(descriptor)
            }
            return NIOLoopBound(door, eventLoop: loop)
        }.get()
    }

    private func welcome(_ descriptor: CInt) {
        // Who cannot be told is nobody's user: the policy refuses it.
        let peer = PeerCredentials(descriptor: descriptor) ?? PeerCredentials(processID: 0, userID: .max)
        let socket = ClientSocket(descriptor, on: loop, marks: limits.pauseAbove / 4...limits.pauseAbove)
        let connection = Connection(peer: peer, socket: socket, reception: reception.value)
        do throws(SystemFailure) {
            try socket.open(for: connection)
            connection.begin()
        } catch {
            reception.value.logger.error(
                "A client is not served: \(error)", metadata: ["peer_pid": "\(peer.processID)"])
        }
    }

    private func letFinish(within grace: Duration) async {
        let empty = loop.makePromise(of: Void.self)
        loop.execute { [reception] in reception.value.stop(empty: empty) }
        let deadline = clock.now().boot + grace
        await withTaskGroup(of: Void.self) { group in
            group.addTask { try? await empty.futureResult.get() }
            group.addTask { [clock] in
                try? await clock.sleep(until: deadline)
                // Frees the one that waits for the connections: a future knows nothing of cancellation.
                empty.fail(CancellationError())
            }
            await group.next()
            group.cancelAll()
        }
    }
}
