import AuthMachines
import AuthModel
import AuthWire

extension BridgeMachine {
    // MARK: The response's body

    mutating func received(_ piece: [UInt8], for call: CallID, _ turn: inout BridgeTurn) {
        // The exchange is changed in place: a copy of it would copy what has arrived with each piece.
        guard let id = calls[call], let phase = exchanges[id]?.phase else { return }
        switch phase {
        case .collecting:
            let limit = (exchanges[id]?.status ?? 0) < 300 ? BridgeLimits.messageBytes : BridgeLimits.errorBytes
            guard (exchanges[id]?.body.count ?? 0) + piece.count <= limit else {
                return fail(id, .badReply("The response is larger than \(limit >> 10) KiB."), &turn)
            }
            exchanges[id]?.body.append(contentsOf: piece)
        case .streaming:
            let events: [ServerSentEvent]
            let before = exchanges[id]?.events?.lastEventID
            do throws(EventStreamParser.TooLarge) {
                events = try exchanges[id]?.events?.append(piece) ?? []
            } catch {
                let problem = BridgeProblem.badReply("An event of the server is larger than \(error.limit >> 20) MiB.")
                if exchanges[id]?.purpose == .listening { drop(id, &turn) }
                note(problem.message, &turn)
                return fail(id, problem, &turn)
            }
            if !events.isEmpty || exchanges[id]?.events?.lastEventID != before { exchanges[id]?.failures = 0 }
            // Other types are not of MCP, and an event without data only has an id.
            for event in events where event.type == "message" && !event.data.isEmpty {
                exchanges[id]?.hasMessage = true
                deliver(event.data, from: id, &turn)
            }
        case .asking, .sent, .pausing, .learning: break
        }
    }

    mutating func ended(_ call: CallID, _ error: TransportError?, _ turn: inout BridgeTurn) {
        guard let id = calls[call], let exchange = exchanges[id] else { return }
        switch exchange.phase {
        case .streaming: interrupted(id, &turn)
        case .collecting:
            if let error { return fail(id, BridgeProblem(error), &turn) }
            collected(id, &turn)
        case .asking, .sent, .pausing, .learning:
            guard let error else { return fail(id, lost("The server did not answer."), &turn) }
            // Nothing was asked of the server but a stream.
            if exchange.isResuming { return interrupted(id, &turn) }
            if error.isBeforeRequest { exchanges[id]?.phase = .asking }
            fail(id, BridgeProblem(error), &turn)
        }
    }

    /// A stream has ended with requests without a response, or could not be continued.
    mutating func interrupted(_ id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        if exchange.purpose == .listening { return pause(id, &turn) }
        guard exchange.resumable != nil else {
            return fail(id, lost("The connection to \(host) ended before the response."), &turn)
        }
        guard exchange.failures < BridgeLimits.resumeAttempts else {
            return fail(id, lost("The connection to \(host) was lost, and the stream cannot be continued."), &turn)
        }
        guard exchange.events?.retry ?? .zero <= BridgeLimits.longestRetry else {
            return fail(id, lost("\(host) ended the connection and asks for too long a pause."), &turn)
        }
        exchanges[id]?.isResuming = true
        pause(id, &turn)
    }

    private mutating func collected(_ id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        if exchange.status >= 300 { return collectedError(id, exchange, &turn) }
        deliver(exchange.body, from: id, &turn)
        if exchanges[id] != nil {
            fail(id, .badReply("The response of \(host) does not answer the request.", status: exchange.status), &turn)
        }
    }

    /// The error of the server if it is one of JSON-RPC, else its HTTP status.
    mutating func collectedError(_ id: Int, _ exchange: BridgeExchange, _ turn: inout BridgeTurn) {
        let message = try? BridgeMessage(exchange.body)
        guard let message, let error = message.json["error"], exchange.purpose == .client else {
            return fail(id, status(exchange.status, of: exchange), &turn)
        }
        if error["code"]?.integerValue == Self.headerMismatch, !exchange.hasLearned, learn(for: id, &turn) { return }
        if message.responses == exchange.waiting { return deliver(exchange.body, from: id, &turn) }
        // The server could not say which request it was.
        for request in exchange.waiting {
            let answer: JSON = ["jsonrpc": "2.0", "id": request.json, "error": error]
            turn.act(.write(answer.serialized()))
        }
        drop(id, &turn)
    }

    // MARK: Messages of the server

    private mutating func deliver(_ text: [UInt8], from id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        guard let message = BridgeMessage(ofServer: text) else {
            let reason = "\(host) sent something that is not a message of JSON-RPC 2.0."
            // It may have been the response.
            return exchange.waiting.isEmpty
                ? note(reason + " It was dropped.", &turn)
                : fail(id, .badReply(reason, status: exchange.status), &turn)
        }
        let responses = message.responses
        guard !responses.isEmpty else {
            turn.act(.write(message.bytes))
            return
        }
        let answered = exchange.waiting.filter(responses.contains)
        guard !answered.isEmpty else {
            return note("\(host) sent a response to a request that was not made. It was dropped.", &turn)
        }
        // A batch cannot be split: its bytes are passed on.
        guard answered.count == responses.count else {
            return fail(id, .badReply("\(host) sent responses to requests that were not made."), &turn)
        }
        exchanges[id]?.waiting.removeAll(where: answered.contains)
        if exchange.purpose == .reopening { return reopened(message, id, &turn) }
        if exchange.purpose == .learning {
            drop(id, &turn)
            return learned(message.json["result"]?["tools"]?.arrayValue ?? [], &turn)
        }
        if exchange.message?.isInitialize == true {
            let named = message.json["result"]?["protocolVersion"]?.stringValue
            version = named.flatMap { Self.fitsHeader($0) ? $0 : nil }
        }
        turn.act(.write(checked(message, exchange, &turn)))
        if exchanges[id]?.waiting.isEmpty == true { drop(id, &turn) }
    }

    /// Remembers which parameters of the listed tools are sent in headers, and leaves out tools that no client may use
    /// (2026-07-28, "Custom Headers from Tool Parameters"). Every other message is passed on unchanged.
    private mutating func checked(
        _ message: BridgeMessage, _ exchange: BridgeExchange, _ turn: inout BridgeTurn
    ) -> [UInt8] {
        guard exchange.statelessVersion != nil, exchange.message?.method == "tools/list",
            let tools = message.json["result"]?["tools"]?.arrayValue
        else { return message.bytes }
        let list = remember(tools)
        guard !list.invalid.isEmpty, var result = message.json["result"]?.objectValue,
            var whole = message.json.objectValue
        else { return message.bytes }
        for tool in list.invalid {
            let name = ProviderText.clean(tool.name) ?? ""
            note("The tool '\(name)' is left out: \(tool.reason).", &turn)
        }
        let names = Set(list.invalid.map(\.name))
        result["tools"] = .array(tools.filter { !names.contains($0["name"]?.stringValue ?? "") })
        whole["result"] = .object(result)
        return JSON.object(whole).serialized()
    }
}

extension TransportError {
    /// Whether the request cannot have reached the server.
    fileprivate var isBeforeRequest: Bool {
        switch self {
        case .offline, .nameNotResolved, .connectionRefused, .certificate, .tls, .redirected, .proxy, .badURL, .portal:
            true
        case .timedOut, .connectionLost, .tooLarge, .cancelled: false
        }
    }
}
