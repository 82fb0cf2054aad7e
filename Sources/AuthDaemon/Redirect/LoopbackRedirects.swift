package import AuthCore
package import AuthWire
package import NIOCore
import NIOHTTP1
import NIOPosix

/// Listens on this machine's own addresses for browsers that come back from a sign-in (RFC 8252 §7.3).
package struct LoopbackRedirects: RedirectListening {
    /// A port of the system's may be free on one address and taken on the other: then it chooses again.
    private static let tries = 5

    private let loop: any EventLoop

    package init(loop: any EventLoop) {
        self.loop = loop
    }

    package func listen(at redirect: LoopbackRedirect) async throws(AgentError) -> any RedirectListener {
        var lastError: (any Error)?
        for _ in 0..<(redirect.port == nil ? Self.tries : 1) {
            do {
                return try await open(redirect)
            } catch {
                lastError = error
            }
        }
        let place = redirect.uri(port: nil)
        throw AgentError(
            .conflict,
            "The sign-in cannot come back to \(place): \(lastError.map { "\($0)" } ?? "no port is free"). "
                + "End what listens there, or sign in with --paste.", cause: "redirect_port")
    }

    /// `localhost` is whichever of both a browser takes: then both are ours, or somebody else would be sent the code.
    private func open(_ redirect: LoopbackRedirect) async throws -> any RedirectListener {
        let hosts = redirect.host == "localhost" ? ["127.0.0.1", "::1"] : [redirect.host]
        let (visits, arrivals) = AsyncStream<RedirectVisit>.makeStream()
        var channels: [any Channel] = []
        var port = redirect.port ?? 0
        do {
            for host in hosts {
                let channel = try await bootstrap(redirect, arrivals).bind(host: host, port: port).get()
                channels.append(channel)
                port = channel.localAddress?.port ?? port
            }
        } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL && !channels.isEmpty {
            // A machine without IPv6: nobody can be sent there.
        } catch {
            for channel in channels { channel.close(promise: nil) }
            throw error
        }
        return OpenRedirect(port: port, visits: visits, arrivals: arrivals, channels: channels)
    }

    private func bootstrap(
        _ redirect: LoopbackRedirect, _ arrivals: AsyncStream<RedirectVisit>.Continuation
    ) -> ServerBootstrap {
        ServerBootstrap(group: loop)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try channel.pipeline.syncOperations.addHandler(
                        RedirectHandler(path: redirect.path, arrivals: arrivals))
                }
            }
    }
}

private final class OpenRedirect: RedirectListener {
    let port: Int
    let visits: AsyncStream<RedirectVisit>
    private let arrivals: AsyncStream<RedirectVisit>.Continuation
    private let channels: [any Channel]

    init(
        port: Int, visits: AsyncStream<RedirectVisit>, arrivals: AsyncStream<RedirectVisit>.Continuation,
        channels: [any Channel]
    ) {
        self.port = port
        self.visits = visits
        self.arrivals = arrivals
        self.channels = channels
    }

    func close() {
        arrivals.finish()
        for channel in channels { channel.close(promise: nil) }
    }
}
