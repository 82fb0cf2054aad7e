import AuthSockets
import Glibc
import NIOCore
import Synchronization

/// Which connections a redirect listener serves: those of the agent's user, and a limited number of them.
///
/// Any local user can connect to a loopback address, and can read the port and state of a sign-in from the browser's arguments.
/// Therefore the kernel is asked whose socket is at the other end; TCP does not say.
final class RedirectAdmission: Sendable {
    /// At once, over all addresses. Browsers open two or three, some of them speculatively.
    static let maxConnections = 16

    private let connections = Atomic(0)

    /// If so, the connection counts until it is closed.
    func admits(_ channel: any Channel) -> Bool {
        // Root is refused too: a relay of root (such as a virtual machine's) carries anybody's connections.
        guard let peer = channel.remoteAddress, let own = channel.localAddress,
            LoopbackPeer.userID(peer: peer, own: own) == geteuid()
        else { return false }
        guard connections.add(1, ordering: .relaxed).newValue <= Self.maxConnections else {
            connections.subtract(1, ordering: .relaxed)
            return false
        }
        channel.closeFuture.whenComplete { _ in self.connections.subtract(1, ordering: .relaxed) }
        return true
    }
}

/// Closes a connection before anything is read from it.
final class ClosingHandler: ChannelInboundHandler {
    typealias InboundIn = Any

    func channelActive(context: ChannelHandlerContext) { context.close(promise: nil) }
}
