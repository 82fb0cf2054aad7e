import Glibc
import NIOCore
import Synchronization

/// Which connections a listener for browsers serves: those of its own user, and a limited number of them.
///
/// Any user of the machine can connect to a loopback address, and can read the port and the state of a sign-in from the
/// arguments of the browser. So the kernel is asked who is at the other end; TCP itself does not say.
final class RedirectAdmission: Sendable {
    /// At once, over all addresses. Browsers open two or three, some of them only in case they are needed.
    static let mostConnections = 16

    private let connections = Atomic(0)

    /// If so, the connection counts until it is closed.
    func admits(_ channel: any Channel) -> Bool {
        // Root is another user too: a relay of root's (as of a virtual machine) carries anybody's connections.
        guard let peer = channel.remoteAddress, let own = channel.localAddress,
            LoopbackPeer.userID(peer: peer, own: own) == geteuid()
        else { return false }
        guard connections.add(1, ordering: .relaxed).newValue <= Self.mostConnections else {
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
