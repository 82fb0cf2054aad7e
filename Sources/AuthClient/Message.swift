package import AuthWire

/// What the agent sends: an answer to one of our calls, or an event.
package enum Message {
    case answer(id: Int64, Result<JSON, AgentError>)
    case event(AgentEvent)
    /// A notification or event this client does not know; a later agent may send one.
    case unknown

    /// - Throws: `.badReply` for what is no message, `.agent` for an error that answers no call of ours (a line the
    ///   agent could not read, a connection too many), after which the connection is of no use.
    init(line: ArraySlice<UInt8>) throws(ClientError) {
        let message: RPCMessage
        do throws(AgentError) {
            message = try RPCMessage(line: line)
        } catch {
            throw .badReply(error.message)
        }
        switch message {
        case .result(.integer(let id), let result): self = .answer(id: id, .success(result))
        case .failure(.integer(let id), let error): self = .answer(id: id, .failure(error))
        case .failure(_, let error): throw .agent(error)
        case .result: throw .badReply("an answer to nothing that was asked")
        case .notification(AgentEvent.method, let params?):
            if let event = try? AgentEvent(params) { self = .event(event) } else { self = .unknown }
        case .notification: self = .unknown
        }
    }

    /// The line that asks for `method`, with its LF.
    static func line(id: Int64, _ method: some AgentMethod) throws(ClientError) -> [UInt8] {
        var line = RPCRequest(id: .integer(id), method).json.serialized()
        guard line.count <= Limits.lineBytes else { throw .tooLong(limit: Limits.lineBytes) }
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
