import AuthMachines
import AuthModel
import AuthWire

extension BridgeMachine {
    /// The next request of an exchange.
    func request(of exchange: BridgeExchange) throws(BridgeProblem) -> HTTPRequest {
        var headers: [(name: String, value: String)] = []
        if exchange.method == "POST", let message = exchange.message {
            headers = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
            if let version = exchange.statelessVersion {
                let tool = message.method == "tools/call" ? message.json["params"]?["name"]?.stringValue : nil
                headers += try RoutingHeaders.headers(
                    of: message, version: version, parameters: tool.flatMap { toolParameters[$0] } ?? [])
            }
        } else if exchange.method == "GET" {
            headers = [("Accept", "text/event-stream")]
            if let last = exchange.resumable { headers.append(("Last-Event-ID", last)) }
        }
        // Compressors hold events back, and a small compressed body can have any size.
        headers.append(("Accept-Encoding", "identity"))
        if exchange.statelessVersion == nil, exchange.message?.isInitialize != true || exchange.isResuming {
            if let session = exchange.session { headers.append(("Mcp-Session-Id", session)) }
            if let version { headers.append(("MCP-Protocol-Version", version)) }
        }
        var fields = headers.map { HTTPField($0.name, $0.value) }
        if let token = exchange.token {
            fields.append(HTTPField("Authorization", (token.isBound ? "DPoP " : "Bearer ") + token.secret.reveal()))
            if let proof = token.proof { fields.append(HTTPField("DPoP", proof.reveal())) }
        }
        return HTTPRequest(
            method: exchange.method, url: exchange.url, headers: fields,
            body: exchange.method == "POST" ? exchange.message.map { Secret(bytes: $0.bytes) } : nil)
    }

    // MARK: The response's head

    mutating func received(_ head: HTTPResponse, for call: CallID, _ turn: inout BridgeTurn) {
        guard let id = calls[call], let exchange = exchanges[id] else { return }
        let bytes = head.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count }
        guard bytes <= BridgeLimits.responseHeaderBytes else {
            let limit = BridgeLimits.responseHeaderBytes >> 10
            return fail(id, .badReply("The headers of the response are larger than \(limit) KiB."), &turn)
        }
        exchanges[id]?.status = head.status
        switch head.status {
        case 200..<300: accepted(head, by: id, &turn)
        case 301, 302, 303, 307, 308: redirected(head, id, &turn)
        case 401: unauthorized(head, id, &turn)
        case _ where exchange.purpose == .ending: fail(id, .status(head.status, at: host), &turn)
        case 404 where exchange.session != nil: sessionEnded(id, &turn)
        case _ where exchange.purpose == .listening: noStream(head, id, &turn)
        default: refused(head, id, &turn)
        }
    }

    var host: String { target.resource.origin.host }

    private mutating func accepted(_ head: HTTPResponse, by id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        if exchange.purpose == .ending { return fail(id, .status(head.status, at: host), &turn) }
        if exchange.message?.isInitialize == true, !exchange.isResuming {
            guard let named = sessionID(in: head) else {
                return fail(id, .badReply("The session id of the server is not valid."), &turn)
            }
            session = named.isEmpty ? nil : named
            exchanges[id]?.session = session
        }
        if exchange.purpose != .listening, exchange.waiting.isEmpty {
            return delivered(id, &turn)
        }
        let coding = head.header("Content-Encoding")?.lowercased() ?? ""
        guard coding.isEmpty || coding == "identity" else {
            return fail(
                id, .badReply("The response is compressed, though the request did not allow that."), &turn)
        }
        let type = MediaType(head)
        if type.text == "text/event-stream" {
            exchanges[id]?.phase = .streaming
            exchanges[id]?.hasRenewedToken = false
            exchanges[id]?.hasMessage = false
            exchanges[id]?.events = EventStreamParser(
                limit: BridgeLimits.messageBytes, lastEventID: exchange.events?.lastEventID ?? "",
                retry: exchange.events?.retry)
        } else if type.isJSON, exchange.purpose != .listening, !exchange.isResuming {
            exchanges[id]?.phase = .collecting
        } else if exchange.purpose == .listening {
            noStream(head, id, &turn)
        } else {
            let found = ProviderText.clean(type.text).map { "'\($0)'" } ?? "no type"
            fail(
                id,
                .badReply(
                    "\(host) answered \(head.status) with \(found) instead of JSON or a stream of events. "
                        + "Check the URL: it may not be an MCP server.", status: head.status), &turn)
        }
    }

    /// Visible ASCII characters; empty if the server names none, `nil` if it is not valid.
    private func sessionID(in head: HTTPResponse) -> String? {
        guard let text = head.header("Mcp-Session-Id") else { return "" }
        return Self.fitsHeader(text) ? text : nil
    }

    static func fitsHeader(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= BridgeLimits.headerBytes && text.utf8.allSatisfy(\.isVisible)
    }

    /// A message without requests has reached the server.
    private mutating func delivered(_ id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        drop(id, &turn)
        if let request = exchange.message?.cancelled {
            // No response is expected any more.
            let found = exchanges.first { $1.purpose == .client && $1.waiting == [request] }
            if let found { drop(found.key, &turn) }
        }
        if exchange.purpose == .reopened { (isReopening, endedSession) = (false, nil) }
        if exchange.message?.isInitialized == true { listen(&turn) }
    }

    private mutating func redirected(_ head: HTTPResponse, _ id: Int, _ turn: inout BridgeTurn) {
        guard var exchange = exchanges[id] else { return }
        let next = head.header("Location").map { URLReference.resolve($0, against: exchange.url) }
        guard let next, let origin = Origin(of: next) else {
            return fail(id, .status(head.status, at: host), &turn)
        }
        guard origin == target.resource.origin else {
            return fail(
                id,
                .badReply("\(host) redirects to \(origin). Nothing is sent there. If that is the server, use its URL."),
                &turn)
        }
        // Others turn a POST into a GET.
        let keepsMethod = exchange.method != "POST" || head.status == 307 || head.status == 308
        guard keepsMethod, exchange.redirects < BridgeLimits.redirects else {
            return fail(id, .status(head.status, at: host), &turn)
        }
        exchange.redirects += 1
        exchange.url = next
        exchanges[id] = exchange
        ask(id, &turn)
    }

    private mutating func unauthorized(_ head: HTTPResponse, _ id: Int, _ turn: inout BridgeTurn) {
        guard var exchange = exchanges[id] else { return }
        // Each further attempt would renew the token again, for a stream that nobody waits for.
        let isFinal = exchange.token == nil || exchange.hasRenewedToken
        if exchange.purpose == .listening, isFinal { return drop(id, &turn) }
        guard let token = exchange.token else {
            return fail(id, exchange.anonymity ?? .status(401, at: host), &turn)
        }
        if token.isBound, exchange.nonce == nil, let nonce = head.header("DPoP-Nonce"), nonce.utf8.count <= 1024,
            TokenChallenge(head)?.error == "use_dpop_nonce"
        {
            exchange.nonce = nonce
            exchanges[id] = exchange
            return ask(id, &turn)
        }
        guard !exchange.hasRenewedToken else { return fail(id, target.refusal(of: token), &turn) }
        exchange.hasRenewedToken = true
        exchanges[id] = exchange
        ask(id, refused: token, &turn)
    }

    /// An error. Its body may be a JSON-RPC error.
    private mutating func refused(_ head: HTTPResponse, _ id: Int, _ turn: inout BridgeTurn) {
        guard let exchange = exchanges[id] else { return }
        if head.status == 403, let token = exchange.token, let challenge = TokenChallenge(head),
            challenge.error == TokenChallenge.insufficientScope
        {
            return fail(id, target.missingScopes(challenge, of: token), &turn)
        }
        if exchange.isResuming {
            return head.status >= 500 || head.status == 429
                ? interrupted(id, &turn)
                : fail(id, lost("The server does not continue the stream (\(head.status))."), &turn)
        }
        let coding = head.header("Content-Encoding")?.lowercased() ?? "identity"
        guard MediaType(head).isJSON, coding == "identity", !exchange.waiting.isEmpty else {
            return fail(id, status(head.status, of: exchange), &turn)
        }
        exchanges[id]?.phase = .collecting
    }

    /// The HTTP status, and what it may mean for the first message.
    func status(_ status: Int, of exchange: BridgeExchange) -> BridgeProblem {
        guard exchange.message?.isInitialize == true, status == 404 || status == 405 else {
            return .status(status, at: host)
        }
        return .badReply(
            "\(host) answered \(status). Check the URL. Servers that only have the transport of 2024-11-05 (HTTP with SSE) are "
                + "not supported.", status: status)
    }

    func lost(_ reason: String) -> BridgeProblem {
        BridgeProblem(.providerUnreachable, reason)
    }
}
