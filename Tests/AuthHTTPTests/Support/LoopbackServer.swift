import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on 127.0.0.1 and a port of the system's choosing, which does on each connection what the test says.
final class LoopbackServer: Sendable {
    typealias Script = @Sendable (inout LoopbackConnection) async throws -> Void

    let port: Int
    private let log: LoopbackLog
    private let listener: any Channel

    var url: String { "http://127.0.0.1:\(port)" }
    var secureURL: String { "https://127.0.0.1:\(port)" }
    var accepted: Int { log.state.withLock { $0.accepted } }
    var requests: [SeenRequest] { log.state.withLock { $0.requests } }

    private init(_ listener: any Channel, log: LoopbackLog) {
        port = listener.localAddress?.port ?? 0
        self.listener = listener
        self.log = log
    }

    /// New connections are refused. Those that are open stay.
    func stopListening() async throws { try await listener.close().get() }

    /// The server lives as long as `body`. Without a script it answers each request with 200 and `{}`.
    static func with<Result: Sendable>(
        tls: NIOSSLContext? = nil, script: @escaping Script = { try await $0.answerAll() },
        _ body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let log = LoopbackLog()
        let (connections, accepted) = AsyncStream.makeStream(of: ByteChannel.self)
        let listener = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    }
                    let connection = try ByteChannel(feeding: channel)
                    log.state.withLock { $0.accepted += 1 }
                    if case .terminated = accepted.yield(connection) { channel.close(promise: nil) }
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let server = LoopbackServer(listener, log: log)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await withDiscardingTaskGroup { group in
                    for await connection in connections {
                        group.addTask { await serve(connection, script, log) }
                    }
                    group.cancelAll()
                }
            }
            defer {
                listener.close(promise: nil)
                group.cancelAll()
            }
            return try await body(server)
        }
    }

    /// A client that leaves in mid-sentence is what many tests are about, so errors end the connection only.
    private static func serve(_ channel: ByteChannel, _ script: Script, _ log: LoopbackLog) async {
        try? await channel.whileOpen {
            var connection = LoopbackConnection(channel, log: log)
            try await script(&connection)
        }
    }
}

final class LoopbackLog: Sendable {
    struct State {
        var accepted = 0
        var requests: [SeenRequest] = []
    }

    let state = Mutex(State())
}
