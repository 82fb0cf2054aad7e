import AuthConcurrency
import AuthGateway
import AuthWire
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// `authd-gateway trial`: the provider of `authc try`, on a loopback address.
///
/// It prints a line of JSON with its profile and the account, then a line for each event. A line `away` on its input closes
/// its port and all connections, `back` opens the same port again, and each is answered with its own word. It ends with
/// its input.
struct TrialProgram: Sendable {
    let signals: EndSignals

    /// Ends the process.
    func run() async -> Never {
        let output = LineWriter()
        let server = TrialServer(group: MultiThreadedEventLoopGroup(numberOfThreads: 1)) { event in
            output.write(Array(event.rawValue.utf8))
        }
        do {
            let port = try await server.open()
            let hello: JSON = [
                "profile": .string(TrialProvider.profile(port: port)), "email": .string(TrialProvider.email),
                "password": .string(TrialProvider.password),
            ]
            signals.handle()
            output.write(hello.serialized())
        } catch {
            Note.write("cannot listen on a loopback address: \(error)")
            exit(70)
        }
        let status = await withTaskGroup(of: Int32.self) { group in
            group.addTask { await Self.follow(server, output) }
            group.addTask { [signals] in 128 + (await signals.next() ?? SIGTERM) }
            defer { group.cancelAll() }
            return await group.next() ?? 0
        }
        exit(status)
    }

    /// - Returns: the exit status, at the end of the input.
    private static func follow(_ server: TrialServer, _ output: LineWriter) async -> Int32 {
        let thread = BlockingThread()
        while let line = await thread.run({ readLine() }) ?? nil {
            do {
                switch line {
                case "away": await server.close()
                case "back": _ = try await server.open()
                default: continue
                }
                output.write(Array(line.utf8))
            } catch {
                Note.write("cannot listen again: \(error)")
                return 70
            }
        }
        return 0
    }
}

/// Serves HTTP on a port that stays the same.
final class TrialServer: Sendable {
    private struct State {
        var provider = TrialProvider()
        var port = 0
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    private let state = Mutex(State())
    private let group: MultiThreadedEventLoopGroup
    private let report: @Sendable (TrialProvider.Event) -> Void

    init(group: MultiThreadedEventLoopGroup, report: @escaping @Sendable (TrialProvider.Event) -> Void) {
        self.group = group
        self.report = report
    }

    /// - Returns: the port.
    func open() async throws -> Int {
        let port = state.withLock { $0.port }
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                self.add(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: true)
                    try pipeline.addHandler(TrialHandler(self))
                }
            }
            .bind(host: "127.0.0.1", port: port).get()
        return state.withLock { state in
            state.listener = listener
            state.port = listener.localAddress?.port ?? port
            return state.port
        }
    }

    /// As a host that cannot be reached any more.
    func close() async {
        let channels = state.withLock { state in
            defer { (state.listener, state.connections) = (nil, [:]) }
            return [state.listener].compactMap(\.self) + state.connections.values
        }
        for channel in channels { try? await channel.close() }
    }

    func respond(to request: TrialProvider.Request) -> TrialProvider.Response {
        let response = state.withLock { $0.provider.respond(to: request) }
        if let event = response.event { report(event) }
        return response
    }

    private func add(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { $0.connections[key] = channel }
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[key] = nil } }
    }
}
