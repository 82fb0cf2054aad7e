import AuthAgent
import AuthFiles
import AuthMachines
import AuthModel
import AuthWire

/// Sockets for bodies that clients send.
extension Connection {
    /// Answers with a descriptor of a socket, or without one if the next bytes do not begin at `offset`.
    func openSocket(for stream: APIStream, at offset: Int, to place: PendingRequests.Destination) {
        guard case .line(let id) = place else {
            return deliver(
                .failure(.invalidParams("params.socket: expected a request with an id, outside of a batch.")), to: place
            )
        }
        handOver()
        do throws(AgentError) {
            // The descriptor comes with the first byte of the response, so nothing else may wait before it.
            guard socket.isOpen, socket.waiting == 0 else { throw .unreceivedResponses }
            var made: (socket: InputSocket, end: InputSocket.ClientEnd)?
            defer { made?.end.close() }
            let (taken, isUsed) = try stream.acceptSocket(at: offset) { () throws(AgentError) in
                let pair = try makeSocket()
                made = pair
                return pair.socket
            }
            guard isUsed, let made else { return deliver(.success(.value(taken.json)), to: place) }
            var line = RPCReply.line(id, .success(.value(taken.json)))
            line.append(UInt8(ascii: "\n"))
            guard socket.send(line, passing: made.end.number) else {
                made.socket.close()
                throw .unreceivedResponses
            }
            registry.counters.bodySocketGiven()
        } catch {
            deliver(.failure(confinement?.visibility.error(error) ?? error), to: place)
        }
    }

    private func makeSocket() throws(AgentError) -> (socket: InputSocket, end: InputSocket.ClientEnd) {
        let (budget, isConfined) = (registry.bodySockets, isConfined)
        do throws(AgentError) {
            try budget.begin(isConfined: isConfined)
        } catch {
            registry.closings.noBodySocket(peer, error.message)
            throw error
        }
        do throws(SystemFailure) {
            let limits = registry.limits
            return try InputSocket.open(
                on: socket.executor, room: isConfined ? limits.confinedBodySocketBytes : limits.bodySocketBytes,
                refusesDescriptors: isConfined
            ) { budget.end(isConfined: isConfined) }
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

    /// Usually, there are no descriptors left. The body can be sent in pieces.
    fileprivate static var noBodySocket: AgentError {
        AgentError(.busy, "The agent cannot create a socket now: send the body in pieces, or try again.")
    }
}
