import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// One HTTP server on a port of the system's choice, which can stop listening and come back on the same port.
///
/// Invariant: `isListening` follows `isWanted`, and is true only while connections are taken.
final class Listener: Sendable {
    let host: String
    let port: Int
    private let held: HeldPort
    private let respond: HTTPChannelHandler.Responder
    private let isWanted = Watched(true)
    private let isListening = Watched(false)

    init(host: String, respond: @escaping HTTPChannelHandler.Responder) throws {
        held = try HeldPort(host: host)
        self.host = host
        port = held.port
        self.respond = respond
    }

    /// As it stands in a URL.
    var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Serves until the task is cancelled.
    /// - Throws: when the port cannot be listened on.
    func run() async throws {
        while !Task.isCancelled {
            do {
                try await isWanted.wait { $0 }
            } catch {
                return
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.serve() }
                group.addTask { try await self.isWanted.wait { !$0 } }
                defer { isListening.update { $0 = false } }
                do {
                    try await group.next()
                } catch is CancellationError {
                }
                group.cancelAll()
                while let ended = await group.nextResult() {
                    if case .failure(let error) = ended, !(error is CancellationError) { throw error }
                }
            }
        }
    }

    /// Returns when it is so. Stopping ends the connections there are.
    func setListening(_ wanted: Bool) async throws {
        isWanted.update { $0 = wanted }
        try await isListening.wait { $0 == wanted }
    }

    func waitUntilListening() async throws {
        try await isListening.wait { $0 }
    }

    private func serve() async throws {
        let server = try HTTPServerBuilder.http1().buildServer(
            configuration: ServerConfiguration(address: .hostname(host, port: port)),
            eventLoopGroup: MultiThreadedEventLoopGroup.singleton,
            logger: Logger(label: "stand-in", factory: { _ in SwiftLogNoOpLogHandler() }),
            responder: respond
        ) { [isListening] _ in
            isListening.update { $0 = true }
        }
        try await server.run()
    }
}
