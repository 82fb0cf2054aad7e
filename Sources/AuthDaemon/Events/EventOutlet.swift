package import AuthWire
package import NIOCore

/// Takes events from any thread to everyone who follows them; the followers live on the loop.
package final class EventOutlet: Sendable {
    private let loop: any EventLoop
    private let followers: NIOLoopBoundBox<[ObjectIdentifier: Connection]?>

    package init(loop: any EventLoop) {
        self.loop = loop
        followers = .makeEmptyBox(eventLoop: loop)
    }

    /// Does not wait: the event goes out when the loop comes to it.
    package func publish(_ event: AgentEvent) {
        loop.execute { self.send(event) }
    }

    func follow(_ connection: Connection) {
        followers.value = followers.value ?? [:]
        followers.value?[ObjectIdentifier(connection)] = connection
    }

    func unfollow(_ connection: Connection) {
        followers.value?[ObjectIdentifier(connection)] = nil
    }

    /// Serialized once for all.
    private func send(_ event: AgentEvent) {
        guard let connections = followers.value else { return }
        var line: [UInt8]?
        for connection in connections.values where connection.subscriptions.wants(event) {
            let bytes = line ?? RPCReply.notification(event).serialized()
            line = bytes
            connection.send(event: bytes)
        }
    }
}
