import AuthModel
package import AuthWire

/// Why a request has no response of the server, as the program on the other side of the pipes reads it.
package struct BridgeProblem: Error, Sendable, Equatable {
    /// The meaning, as in the agent's errors.
    package let kind: ErrorKind
    package private(set) var message: String
    /// What the user can type.
    package var command: String?
    package var missingScopes: [String] = []
    package var httpStatus: Int?
    var code = BridgeProblem.code
    private var mayBePerformed = false

    /// MCP reserves -32000 to -32099 and JSON-RPC -32768 to -32000; an error of the bridge must not look like one of the server
    /// (2026-07-28, "Error Codes").
    package static let code = -33000

    package init(_ kind: ErrorKind, _ message: String, command: String? = nil) {
        self.kind = kind
        self.message = message
        self.command = command
    }

    /// The agent's own error.
    package init(_ error: AgentError) {
        self.init(error.kind ?? .internal_, error.message)
    }

    /// A failed exchange says nothing about the session.
    init(_ error: TransportError) {
        guard case .temporary(let error, _) = ProviderFailure(error) else {
            self.init(.providerUnreachable, "The server cannot be reached.")
            return
        }
        self.init(error)
    }

    static func invalidMessage(_ reason: String) -> BridgeProblem {
        var problem = BridgeProblem(.validation, "The message was not sent. \(reason)")
        problem.code = -32600
        return problem
    }

    static func parseError(_ reason: String) -> BridgeProblem {
        var problem = BridgeProblem(.validation, "A line is not JSON: \(reason).")
        problem.code = -32700
        return problem
    }

    static func badReply(_ message: String, status: Int? = nil) -> BridgeProblem {
        var problem = BridgeProblem(.badReply, message)
        problem.httpStatus = status
        return problem
    }

    static func status(_ status: Int, at host: String) -> BridgeProblem {
        let kind: ErrorKind =
            switch status {
            case 403: .forbidden
            case 404: .notFound
            case 429: .rateLimited
            case 500...: .providerError
            default: .badReply
            }
        var problem = BridgeProblem(kind, "\(host) answered with the HTTP status \(status).")
        problem.httpStatus = status
        return problem
    }

    /// To send it again could have its effect twice.
    mutating func requestMayBePerformed() {
        guard !mayBePerformed else { return }
        mayBePerformed = true
        message += " The server may have performed the request; it is not sent again."
    }

    /// One line of JSON-RPC.
    package func line(for id: RPCID) -> [UInt8] {
        var data: JSONObject = [
            "source": "authd", "kind": .string(kind.rawValue),
            "retryable": .bool(kind.retryableByDefault && !mayBePerformed),
        ]
        data["command"] = command.map(JSON.string)
        data["http_status"] = httpStatus.map { .integer(Int64($0)) }
        if !missingScopes.isEmpty { data["missing_scopes"] = .array(missingScopes.map(JSON.string)) }
        let error: JSON = [
            "code": .integer(Int64(code)), "message": .string("authd: " + message), "data": .object(data),
        ]
        let answer: JSON = ["jsonrpc": "2.0", "id": id.json, "error": error]
        return answer.serialized()
    }
}
