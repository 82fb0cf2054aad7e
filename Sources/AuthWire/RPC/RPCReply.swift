/// Messages from the agent to a client (JSON-RPC 2.0 §5).
public enum RPCReply {
    public static func result(_ id: RPCID, _ value: JSON) -> JSON {
        ["jsonrpc": "2.0", "id": id.json, "result": value]
    }

    /// The start of every response, up to its id, and of every plain request.
    public static let head: StaticString = #"{"jsonrpc":"2.0","id":"#
    /// The text between an id and a result. A brace follows the result.
    public static let middle: StaticString = #","result":"#

    /// A response whose result is already JSON text.
    public static func line(_ id: RPCID, rendered result: [UInt8]) -> [UInt8] {
        var line: [UInt8] = []
        line.reserveCapacity(result.count + 64)
        line.append(contentsOf: head)
        line.append(contentsOf: id.json.serialized())
        line.append(contentsOf: middle)
        line.append(contentsOf: result)
        line.append(UInt8(ascii: "}"))
        return line
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

extension [UInt8] {
    fileprivate mutating func append(contentsOf text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
}
