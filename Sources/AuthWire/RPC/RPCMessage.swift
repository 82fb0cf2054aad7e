/// One line from the agent. It prints without its content, which may be secret.
public enum RPCMessage: Sendable, Equatable {
    case result(RPCID, JSON)
    case failure(RPCID, AgentError)
    case notification(method: String, params: JSON?)

    /// - Parameter line: without its line feed.
    /// - Throws: ``AgentError/internalError(_:)`` for any other line.
    public init(line: ArraySlice<UInt8>) throws(AgentError) {
        let json: JSON
        do throws(JSONError) {
            json = try JSON(parsing: line)
        } catch {
            throw .internalError("The agent's message is not JSON: \(error).")
        }
        try self.init(json)
    }

    public init(_ json: JSON) throws(AgentError) {
        guard case .object(let object) = json, object["jsonrpc"] == "2.0" else {
            throw .internalError("The agent's message is not JSON-RPC 2.0.")
        }
        if let method = object["method"]?.stringValue, object["id"] == nil {
            self = .notification(method: method, params: object["params"])
            return
        }
        guard let id = object["id"].flatMap(RPCID.init) else {
            throw .internalError("The agent's response has no id.")
        }
        switch (object["result"], object["error"]) {
        case (let result?, nil): self = .result(id, result)
        case (nil, let error?): self = .failure(id, AgentError(json: error))
        default: throw .internalError("The agent's response must have either a result or an error.")
        }
    }
}

extension RPCMessage: HoldsSecrets {}
