package import AuthWire

/// A message from the agent: a response or an event.
package enum Message {
    case answer(id: Int64, Result<JSON, AgentError>)
    case event(AgentEvent)
    /// An unknown notification or event, from a newer agent.
    case unknown

    /// - Throws: `.badReply` for an invalid message; `.agent` for an error without a call, such as too many connections, after
    ///   which the connection cannot be used.
    package init(line: ArraySlice<UInt8>) throws(ClientError) {
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
        case .result: throw .badReply("a response without a request")
        case .notification(AgentEvent.method, let params?):
            if let event = try? AgentEvent(params) { self = .event(event) } else { self = .unknown }
        case .notification: self = .unknown
        }
    }

    /// The request line for `method`, with its LF.
    package static func line(id: Int64, _ method: some AgentMethod) throws(ClientError) -> [UInt8] {
        try line(RPCRequest(id: .integer(id), method))
    }

    static func line(_ request: RPCRequest) throws(ClientError) -> [UInt8] {
        var line = request.json.serialized()
        guard line.count <= Limits.lineBytes else { throw .tooLong(limit: Limits.lineBytes) }
        line.append(UInt8(ascii: "\n"))
        return line
    }
}
