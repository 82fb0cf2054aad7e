import AuthWire

/// The result of a request.
enum Payload: Sendable, Equatable {
    case value(JSON)
    /// Compact JSON text, sent unchanged.
    case text([UInt8])
    /// A token, or a response of a provider's API: checked and filtered before a confined client receives it.
    case token(TokenResult)
    case response(APIResponse)

    /// As it is sent. A long response takes a while, so this is called off the sockets' thread.
    var rendered: Payload {
        switch self {
        case .token(let token): .value(token.json)
        case .response(let response): .text(response.rendered)
        case .value, .text: self
        }
    }
}

extension RPCReply {
    /// The line of a response, without its line feed.
    static func line(_ id: RPCID, _ result: Result<Payload, AgentError>) -> [UInt8] {
        switch result {
        case .success(.value(let value)): RPCReply.result(id, value).serialized()
        case .success(.text(let text)): RPCReply.line(id, rendered: text)
        case .success(let other): line(id, .success(other.rendered))
        case .failure(let error): RPCReply.failure(id, error).serialized()
        }
    }
}
