import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// One HTTP server on a port of the system's choice, which can stop listening and come back on the same port.
///
/// Invariant: `isListening` follows `shouldListen`, and is true only while connections are taken.
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

    /// As it stands in a URL.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Serves until the task is cancelled.
    /// - Throws: when the port cannot be listened on.
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

    /// Returns when it is so. Stopping ends the connections there are.
    func setListening(_ listening: Bool) async throws {
        shouldListen.update { $0 = listening }
        try await isListening.wait { $0 == listening }
    }

    func waitUntilListening() async throws {
        try await isListening.wait { $0 }
    }

    /// Returns when it is not wanted any more, or the task is cancelled.
    private func serve() async throws {
        let gate = ConnectionGate()
        // Not a child task: a server that is cancelled ends the process when it is just accepting a connection.
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

    /// Returns once the door is closed.
    private func serve(through gate: ConnectionGate) async throws {
        let server = try HTTPServerBuilder.http1().buildServer(
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            // One loop: a connection is accepted whole before the door closes, or not at all.
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton.next(),
            logger: Logger(label: "stand-in", factory: { _ in SwiftLogNoOpLogHandler() }),
            responder: respond
        ) { [isListening] channel in
            gate.register(channel)
            // Refused only when it is closed already.
            try? await channel.pipeline.addHandler(gate, position: .first)
            isListening.update { $0 = true }
        }
        try await server.run()
    }
}
