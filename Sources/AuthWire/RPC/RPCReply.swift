/// What goes from the agent to a client (JSON-RPC 2.0 §5).
public enum RPCReply {
    public static func result(_ id: RPCID, _ value: JSON) -> JSON {
        ["jsonrpc": "2.0", "id": id.json, "result": value]
    }

    public static func failure(_ id: RPCID, _ error: AgentError) -> JSON {
        ["jsonrpc": "2.0", "id": id.json, "error": error.json]
    }

    public static func notification(_ method: String, _ params: JSON) -> JSON {
        ["jsonrpc": "2.0", "method": .string(method), "params": params]
    }

    public static func notification(_ event: AgentEvent) -> JSON {
        notification(AgentEvent.method, event.json)
    }
}
