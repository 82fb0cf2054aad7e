public import AuthWire
import Glibc

/// One connection to the agent, for a program that may block: calls block the calling thread.
///
/// One thread may use it at a time. It cannot be used after any error but `.agent` and `.timedOut`. If a time-out left half a
/// request sent, the next call throws `.closed`.
public final class AgentConnection {
    private let socket: LocalSocket
    private var lines = LineBuffer(limit: ClientLimits.answerBytes)
    private var lastID: Int64 = 0
    private var events: [AgentEvent] = []
    /// The last descriptor that came with a message since ``acceptDescriptors()``.
    private var passed: Descriptor?
    private var acceptsDescriptors = false

    package init(socket: LocalSocket) {
        self.socket = socket
    }

    /// Connects to the agent on the socket at `path`.
    public init(path: String, deadline: Deadline) throws(ClientError) {
        while true {
            if let socket = try LocalSocket.attempt(path) {
                self.socket = socket
                return
            }
            guard !deadline.hasPassed else { throw .timedOut }
            _ = poll(nil, 0, min(deadline, .after(ClientLimits.connectPause)).pollTimeout)
        }
    }

    /// For a program that takes the socket from the environment, which may name another user's agent.
    /// - Throws: `otherUser` if the agent runs neither as this user nor as root.
    package func requireOwnAgent() throws(ClientError) { try socket.requireOwnServer() }

    /// The result of `method`. Events that arrive meanwhile are buffered for `nextEvent`.
    public func call<Method: AgentMethod>(
        _ method: Method, deadline: Deadline
    ) throws(ClientError) -> Method.Result {
        try decoded(result(of: method, deadline: deadline))
    }

    /// The same as the agent sent it.
    public func result(of method: some AgentMethod, deadline: Deadline) throws(ClientError) -> JSON {
        try result(to: begin(method, deadline: deadline), deadline: deadline)
    }

    /// The result of the request that ``begin(_:deadline:)`` sent.
    package func result(to id: Int64, deadline: Deadline) throws(ClientError) -> JSON {
        while let message = try nextMessage(deadline: deadline) {
            switch message {
            case .answer(id, .success(let result)): return result
            case .answer(id, .failure(let error)): throw .agent(error)
            // A late response to a call whose deadline has passed.
            case .answer, .unknown: break
            case .event(let event): try buffer(event)
            }
            // An agent that sends many events must not block the caller.
            guard !deadline.hasPassed else { throw .timedOut }
        }
        throw .timedOut
    }

    /// The next event of the subscription, or `nil` if the deadline passes first.
    public func nextEvent(deadline: Deadline) throws(ClientError) -> AgentEvent? {
        guard events.isEmpty else { return events.removeFirst() }
        while let message = try nextMessage(deadline: deadline) {
            if case .event(let event) = message { return event }
        }
        return nil
    }

    /// From now on, descriptors that come with messages are kept for ``takeDescriptor()``, each until the next one
    /// comes.
    package func acceptDescriptors() { acceptsDescriptors = true }

    /// The last descriptor that came with a message. It is returned once.
    package func takeDescriptor() -> Descriptor? {
        defer { passed = nil }
        return passed
    }

    /// For a poll(2) with other descriptors.
    package var fileDescriptor: Int32 { socket.descriptor.number }

    /// Whether ``nextLine(deadline:)`` would not wait: there is a line, a part of one, or the end of the connection.
    package var hasInput: Bool { lines.isPartial || wait(for: POLLIN, until: .now) }

    /// Sends `method` and returns the id of its response.
    package func begin(_ method: some AgentMethod, deadline: Deadline) throws(ClientError) -> Int64 {
        try begin(RPCRequest(id: nil, method), sendsSecrets: method.sendsSecrets, deadline: deadline)
    }

    /// The same for a request whose method's type is not known. Its id is replaced.
    package func begin(
        _ request: RPCRequest, sendsSecrets: Bool, deadline: Deadline
    ) throws(ClientError) -> Int64 {
        if sendsSecrets { try socket.requireOwnServer() }
        lastID += 1
        var request = request
        request.id = .integer(lastID)
        var rest = try Message.line(request)[...]
        while true {
            rest = try rest.dropFirst(socket.send(rest))
            if rest.isEmpty { return lastID }
            guard wait(for: POLLOUT, until: deadline) else {
                // Half a line was sent: this connection cannot be used again.
                shutdown(fileDescriptor, Int32(SHUT_RDWR))
                throw .timedOut
            }
        }
    }

    /// The next message of any kind, or `nil` if the deadline passes first.
    package func nextMessage(deadline: Deadline) throws(ClientError) -> Message? {
        try nextLine(deadline: deadline).map { line throws(ClientError) in try Message(line: line) }
    }

    /// The next message as the agent sent it, without its LF, or `nil` if the deadline passes first.
    package func nextLine(deadline: Deadline) throws(ClientError) -> ArraySlice<UInt8>? {
        while true {
            if let line = try lines.next() { return line }
            switch try socket.receive(into: &lines, acceptsDescriptors ? { self.passed = $0 } : nil) {
            case .bytes: break
            case .end: throw .closed
            case .nothingYet:
                guard !deadline.hasPassed, wait(for: POLLIN, until: deadline) else { return nil }
            }
        }
    }

    /// Waits until the agent has sent something, and reads nothing of it.
    package func waitForInput(deadline: Deadline) throws(ClientError) {
        guard wait(for: POLLIN, until: deadline) else { throw .timedOut }
    }

    private func buffer(_ event: AgentEvent) throws(ClientError) {
        guard events.count < ClientLimits.bufferedEvents else {
            throw .tooManyEvents(limit: ClientLimits.bufferedEvents)
        }
        events.append(event)
    }

    private func wait(for events: Int32, until deadline: Deadline) -> Bool {
        var descriptors = [pollfd(fd: fileDescriptor, events: Int16(events), revents: 0)]
        repeat {
            waitUntilReady(&descriptors, until: deadline)
            if descriptors[0].revents != 0 { return true }
        } while !deadline.hasPassed
        return false
    }
}

/// Decodes a result.
/// - Throws: ``ClientError/badReply(_:)`` if a member is not valid.
package func decoded<Value: WireObject>(_ json: JSON, as _: Value.Type = Value.self) throws(ClientError) -> Value {
    do throws(AgentError) {
        return try Value(json)
    } catch {
        throw .badReply(error.message)
    }
}
