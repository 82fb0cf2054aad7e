import AuthAgent
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire

/// Sockets for bodies that clients send, and for responses that they read.
extension Connection {
    func openSocket(for stream: APIStream, _ direction: BodyDirection, to place: PendingRequests.Destination) {
        guard case .line(let id) = place else {
            return deliver(
                .failure(.invalidParams("params.socket: expected a request with an id, outside of a batch.")), to: place
            )
        }
        handOver()
        do throws(AgentError) {
            // The descriptor comes with the first byte of the response, so nothing else may wait before it.
            guard socket.isOpen, socket.waiting == 0 else { throw .unreceivedResponses }
            switch direction {
            case .upload(let offset): try openInput(for: stream, at: offset, id)
            case .download: try openOutput(for: stream, id)
            }
        } catch {
            deliver(.failure(confinement?.visibility.error(error) ?? error), to: place)
        }
    }

    /// Answers with a descriptor of a socket, or without one if the next bytes do not begin at `offset`.
    private func openInput(for stream: APIStream, at offset: Int, _ id: RPCID) throws(AgentError) {
        var made: (socket: InputSocket, end: InputSocket.ClientEnd)?
        defer { made?.end.close() }
        let (taken, isUsed) = try stream.acceptSocket(at: offset) { () throws(AgentError) in
            let pair = try withinLimits { room, whenClosed throws(SystemFailure) in
                try InputSocket.open(
                    on: socket.executor, room: room, refusesDescriptors: isConfined, whenClosed: whenClosed)
            }
            made = pair
            return pair.socket
        }
        guard isUsed, let made else { return deliver(.success(.value(taken.json)), to: .line(id)) }
        do throws(AgentError) {
            try send(taken.json, id, passing: made.end)
        } catch {
            made.socket.close()
            throw error
        }
    }

    /// Answers with a descriptor of a socket, from which the client reads the rest of the response.
    private func openOutput(for stream: APIStream, _ id: RPCID) throws(AgentError) {
        try stream.requireOutputAllowed()
        let made = try withinLimits { room, whenClosed throws(SystemFailure) in
            try OutputSocket.open(on: socket.executor, room: room, whenClosed: whenClosed)
        }
        defer { made.end.close() }
        do throws(AgentError) {
            try send(StreamPiece(bytes: [], isLast: false).json, id, passing: made.end)
        } catch {
            made.socket.close()
            throw error
        }
        // Only now: a client without the socket can still read the response in pieces.
        stream.write(to: made.socket)
    }

    private func send(_ result: JSON, _ id: RPCID, passing end: WatchedSocket.ClientEnd) throws(AgentError) {
        var line = RPCReply.line(id, .success(.value(result)))
        line.append(UInt8(ascii: "\n"))
        guard socket.send(line, passing: end.number) else { throw .unreceivedResponses }
        registry.counters.bodySocketGiven()
    }

    /// Creates a socket within the limits.
    /// - Parameter create: gets the bytes that the kernel may hold, and what to call when the socket has been closed.
    private func withinLimits<Made>(
        _ create: (_ room: Int, _ whenClosed: @escaping @Sendable () -> Void) throws(SystemFailure) -> Made
    ) throws(AgentError) -> Made {
        let (budget, isConfined) = (registry.bodySockets, isConfined)
        do throws(AgentError) {
            try budget.begin(isConfined: isConfined)
        } catch {
            registry.closings.noBodySocket(peer, error.message)
            throw error
        }
        do throws(SystemFailure) {
            let limits = registry.limits
            return try create(isConfined ? limits.confinedBodySocketBytes : limits.bodySocketBytes) {
                budget.end(isConfined: isConfined)
            }
        } catch {
            budget.end(isConfined: isConfined)
            registry.closings.noBodySocket(peer, "\(error)")
            throw .noBodySocket
        }
    }
}

extension AgentError {
    fileprivate static var unreceivedResponses: AgentError {
        AgentError(.busy, "The client has to receive earlier responses first.")
    }

    /// Usually, there are no descriptors left. Pieces need none.
    fileprivate static var noBodySocket: AgentError {
        AgentError(.busy, "The agent cannot create a socket now: use pieces, or try again.")
    }
}
