import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// One HTTP server on a port that the system chooses. It can stop listening, and start again on the same port.
///
/// Invariant: `isListening` follows `shouldListen`, and is true only while connections are accepted.
final class Listener: Sendable {
    let host: String
    let port: Int
    private let reservedPort: ReservedPort
    private let respond: HTTPChannelHandler.Responder
    private let shouldListen = ObservedValue(true)
    private let isListening = ObservedValue(false)

    init(host: String, respond: @escaping HTTPChannelHandler.Responder) throws {
        reservedPort = try ReservedPort(host: host)
        self.host = host
        port = reservedPort.port
        self.respond = respond
    }

    /// Host and port for a URL.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Serves until the task is cancelled.
    /// - Throws: if it cannot listen on the port.
    func run() async throws {
        while !Task.isCancelled {
            do {
                try await shouldListen.wait { $0 }
            } catch {
                return
            }
            try await serve()
        }
    }

    /// Returns when it is done. Stopping closes all connections.
    func setListening(_ listening: Bool) async throws {
        shouldListen.update { $0 = listening }
        try await isListening.wait { $0 == listening }
    }

    func waitUntilListening() async throws {
        try await isListening.wait { $0 }
    }

    /// Returns when it should stop, or the task is cancelled.
    private func serve() async throws {
        let gate = ConnectionGate()
        // Not a child task: cancelling a server that is accepting a connection ends the process.
        let server = Task { try await self.serve(through: gate) }
        await withTaskGroup { group in
            group.addTask { _ = await server.result }
            group.addTask { try? await self.shouldListen.wait { !$0 } }
            await group.next()
            gate.close()
            group.cancelAll()
        }
        isListening.update { $0 = false }
        try await server.value
    }

    private func serve(through gate: ConnectionGate) async throws {
        let server = try HTTPServerBuilder.http1().buildServer(
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            // One loop, so that closing the gate cannot overlap with accepting a connection.
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "stand-in", factory: { _ in SwiftLogNoOpLogHandler() }),
            responder: respond
        ) { [isListening] channel in
            gate.register(channel)
            // Fails only if it is already closed.
            try? await channel.pipeline.addHandler(gate, position: .first)
            isListening.update { $0 = true }
        }
        try await server.run()
    }
}

/// Runs a server while the body runs.
func withServer<Result: Sendable>(
    _ run: @escaping @Sendable () async throws -> Void, _ body: @escaping @Sendable () async throws -> Result
) async throws -> Result {
    try await withThrowingTaskGroup(of: Result?.self) { group in
        group.addTask {
            try await run()
            return nil
        }
        group.addTask { try await body() }
        defer { group.cancelAll() }
        while let ended = try await group.next() {
            if let result = ended { return result }
        }
        throw CancellationError()
    }
}
