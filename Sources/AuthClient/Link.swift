import AuthConnection
import Glibc

/// An open connection with its partial input and output.
struct Link {
    private let socket: LocalSocket
    private var incoming = LineBuffer(limit: ClientLimits.answerBytes)
    private var outgoing: [UInt8] = []
    private var sent = 0

    init(socket: LocalSocket) {
        self.socket = socket
    }

    /// - Throws: `otherUser` if the agent must not receive secrets.
    func requireOwnServer() throws(ClientError) { try socket.requireOwnServer() }

    /// Sends and receives what is possible. Waits for that until `deadline`, or until `wake` is readable.
    mutating func exchange(
        sending lines: [UInt8], wake: Int32, until deadline: Deadline, deliver: (Message) -> Void
    ) throws(ClientError) {
        outgoing += lines
        try flush()
        let interest = Int16(POLLIN) | (outgoing.isEmpty ? 0 : Int16(POLLOUT))
        var descriptors = [
            pollfd(fd: socket.descriptor.number, events: interest, revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        waitUntilReady(&descriptors, until: deadline)
        guard descriptors[0].revents & ~Int16(POLLOUT) != 0 else { return }
        let received = try socket.receive(into: &incoming)
        while let line = try incoming.next() { deliver(try Message(line: line)) }
        if case .end = received { throw .closed }
    }

    private mutating func flush() throws(ClientError) {
        while sent < outgoing.count {
            let count = try socket.send(outgoing[sent...])
            guard count > 0 else { return }
            sent += count
        }
        outgoing.removeAll(keepingCapacity: true)
        sent = 0
    }
}
