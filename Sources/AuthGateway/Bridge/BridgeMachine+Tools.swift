import AuthMachines
import AuthModel
import AuthWire

/// Parameters of tools that are sent in headers too (2026-07-28, "Custom Headers from Tool Parameters").
extension BridgeMachine {
    /// `HeaderMismatch`: headers are missing, or do not match the body.
    static let headerMismatch: Int64 = -32020

    @discardableResult
    mutating func remember(_ tools: [JSON]) -> ToolParameter.List {
        let list = ToolParameter.List(tools)
        for name in list.names { toolParameters[name] = list.parameters[name] }
        return list
    }

    /// The program calls a tool that the server has not listed in this process, or has changed since. The first page of the
    /// tools is read, and the call is sent once more.
    /// - Returns: whether the call waits for that.
    mutating func learn(for id: Int, _ turn: inout BridgeTurn) -> Bool {
        guard var exchange = exchanges[id], let message = exchange.message, message.method == "tools/call",
            exchange.statelessVersion != nil, let meta = message.json["params"]?["_meta"]?.objectValue
        else { return false }
        let params: JSON = ["_meta": .object(meta.without("progressToken"))]
        let request: JSON = ["jsonrpc": "2.0", "id": "authd", "method": "tools/list", "params": params]
        guard let list = try? BridgeMessage(request.serialized()) else { return false }
        release(&exchange, &turn)
        exchange.hasLearned = true
        exchange.phase = .learning
        exchanges[id] = exchange
        let isAsked = exchanges.values.contains { $0.purpose == .learning }
        if !isAsked { begin(BridgeExchange(.learning, list, url: target.url), &turn) }
        return true
    }

    /// - Parameter tools: empty if the server did not list any; the calls then get its first answer.
    mutating func learned(_ tools: [JSON], _ turn: inout BridgeTurn) {
        remember(tools)
        for (id, exchange) in exchanges where exchange.phase == .learning {
            if tools.isEmpty { collectedError(id, exchange, &turn) } else { ask(id, &turn) }
        }
    }
}

extension JSONObject {
    fileprivate func without(_ key: String) -> JSONObject {
        var rest = self
        rest[key] = nil
        return rest
    }
}
