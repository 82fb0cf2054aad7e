import AuthWire

/// The result of a request.
enum Payload: Sendable, Equatable {
    case value(JSON)
    /// Compact JSON text, sent unchanged.
    case text([UInt8])
}

extension RPCReply {
    /// The line of a response, without its line feed.
    static func line(_ id: RPCID, _ result: Result<Payload, AgentError>) -> [UInt8] {
        switch result {
        case .success(.value(let value)): RPCReply.result(id, value).serialized()
        case .success(.text(let text)): RPCReply.line(id, rendered: text)
        case .failure(let error): RPCReply.failure(id, error).serialized()
        }
    }
}
