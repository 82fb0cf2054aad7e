package import AuthGateway
import AuthSockets
import Glibc
package import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Serves HTTP/1 on local sockets, to processes of this user only.
package final class FrontServer: Sendable {
    private struct State {
        var listeners: [any Channel] = []
        var connections: [ObjectIdentifier: any Channel] = [:]
        /// Those without an admitted request, the oldest first.
        var unadmitted: [ObjectIdentifier] = []
        var isDraining = false
        /// Succeeds when the last connection has ended.
        var empty: EventLoopPromise<Void>?
    }

    private let sockets: [FrontSocket]
    private let access: FrontAccess
    private let limits: FrontLimits
    private let service: any FrontService
    private let group: any EventLoopGroup
    private let state = Mutex(State())

    /// - Parameter sockets: they belong to the server from now on.
    package init(
        _ sockets: [FrontSocket], access: FrontAccess, limits: FrontLimits = FrontLimits(), service: any FrontService,
        group: any EventLoopGroup
    ) {
        self.sockets = sockets
        self.access = access
        self.limits = limits
        self.service = service
        self.group = group
    }

    package func listen() async throws {
        for socket in sockets {
            let listener = try await ServerBootstrap(group: group)
                .childChannelOption(.autoRead, value: false)
                .childChannelOption(.maxMessagesPerRead, value: 1)
                .childChannelOption(.recvAllocator, value: Self.reads)
                .childChannelOption(.allowRemoteHalfClosure, value: true)
                // Fixed, so that the kernel does not enlarge it (tcp(7)). Unix sockets are limited by the sender's (unix(7)).
                .childChannelOption(.socketOption(.so_rcvbuf), value: .init(FrontLimits.receiveBytes))
                .childChannelInitializer { channel in
                    Self.isOurs(channel, at: socket).flatMapThrowing { isOurs in
                        try self.accept(channel, at: socket, isOurs: isOurs)
                    }
                }
                .withBoundSocket(socket.descriptor).get()
            state.withLock { $0.listeners.append(listener) }
        }
    }

    /// Accepts no more connections, ends idle ones, and waits for the others up to ``FrontLimits/drainTime``.
    package func drain() async {
        let empty = group.any().makePromise(of: Void.self)
        let (listeners, connections) = state.withLock { state in
            state.isDraining = true
            state.empty = empty
            defer { state.listeners = [] }
            return (state.listeners, Array(state.connections.values))
        }
        for socket in sockets { socket.remove() }
        for listener in listeners { try? await listener.close() }
        for connection in connections { connection.pipeline.fireUserInboundEventTriggered(DrainEvent()) }
        if connections.isEmpty { empty.succeed() }
        let deadline = group.any().scheduleTask(in: TimeAmount(limits.drainTime)) { empty.succeed() }
        try? await empty.futureResult.get()
        deadline.cancel()
        for connection in state.withLock({ Array($0.connections.values) }) { try? await connection.close() }
    }

    private func accept(_ channel: any Channel, at socket: FrontSocket, isOurs: Bool) throws {
        guard isOurs, add(channel) else {
            return try channel.pipeline.syncOperations.addHandler(RefusingHandler())
        }
        var framing = HTTPResponseEncoder.Configuration()
        framing.automaticallySetFramingHeaders = false
        var limit = NIOHTTPDecoderLimitConfiguration()
        limit.maxHeaderFieldSize = FrontLimits.headBytes
        limit.maxHeaderListSize = FrontLimits.headBytes
        limit.maxHeaderFieldCount = FrontLimits.headFields
        let http = FrontConnection.HTTPHandlers(
            encoder: HTTPResponseEncoder(configuration: framing),
            decoder: ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: limit)),
            pipelining: HTTPServerPipelineHandler())
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(http.encoder)
        try pipeline.addHandler(http.decoder)
        try pipeline.addHandler(http.pipelining)
        try pipeline.addHandler(
            FrontConnection(
                channel, access: access, authorities: socket.address.authorities, limits: limits, service: service,
                http, admitted: { [key = ObjectIdentifier(channel)] in self.admitted(key) }))
    }

    /// The buffer for reads. It grows for a client that fills it. The connection then keeps it
    /// (`NIOPooledRecvBufferAllocator`): later reads use a part of it, even if this option is set again.
    private static var reads: AdaptiveRecvByteBufferAllocator {
        AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2048, maximum: FrontLimits.readBytes)
    }

    /// Root is refused too: a relay of root (such as a virtual machine's) carries anybody's connections.
    private static func isOurs(_ channel: any Channel, at socket: FrontSocket) -> EventLoopFuture<Bool> {
        let loop = channel.eventLoop
        if socket.isTCP {
            guard let peer = channel.remoteAddress, let own = channel.localAddress else {
                return loop.makeSucceededFuture(false)
            }
            return loop.makeSucceededFuture(LoopbackPeer.userID(peer: peer, own: own) == geteuid())
        }
        guard let options = channel as? any SocketOptionProvider else { return loop.makeSucceededFuture(false) }
        let found: EventLoopFuture<PeerCredentials> = options.unsafeGetSocketOption(
            level: .socket, name: NIOBSDSocket.Option(rawValue: PeerCredentials.option))
        return found.map { $0.userID == geteuid() }
    }

    /// At the limit, the oldest connection that has not sent an admitted request gives way.
    private func add(_ channel: any Channel) -> Bool {
        let key = ObjectIdentifier(channel)
        let (fits, former) = state.withLock { state -> (Bool, (any Channel)?) in
            guard !state.isDraining else { return (false, nil) }
            var former: (any Channel)?
            if state.connections.count >= limits.connections {
                guard !state.unadmitted.isEmpty else { return (false, nil) }
                former = state.connections.removeValue(forKey: state.unadmitted.removeFirst())
            }
            state.connections[key] = channel
            state.unadmitted.append(key)
            return (true, former)
        }
        former?.close(promise: nil)
        guard fits else { return false }
        channel.closeFuture.whenComplete { _ in
            self.admitted(key)
            self.state.withLock { state -> EventLoopPromise<Void>? in
                state.connections[key] = nil
                return state.connections.isEmpty ? state.empty : nil
            }?.succeed()
        }
        return true
    }
}

extension FrontServer {
    private func admitted(_ key: ObjectIdentifier) {
        state.withLock { state in
            if let place = state.unadmitted.firstIndex(of: key) { state.unadmitted.remove(at: place) }
        }
    }
}

/// SO_PEERCRED of unix(7): a `struct ucred`.
private struct PeerCredentials: Sendable {
    static let option: CInt = 17

    var processID: Int32 = 0
    var userID: UInt32 = 0
    var groupID: UInt32 = 0
}

/// The server ends: no further request of the connection is served.
struct DrainEvent: Sendable {}

/// Closes a connection before anything is read from it.
private final class RefusingHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    func channelActive(context: ChannelHandlerContext) { context.close(promise: nil) }
}

extension FrontSocket {
    var isTCP: Bool { if case .loopback = address { true } else { false } }
}
