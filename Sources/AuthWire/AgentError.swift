/// An error on the socket: JSON-RPC 2.0's error object with our `data`. The texts are for the user and hold no secret.
public struct AgentError: Error, Sendable, Equatable {
    /// One of JSON-RPC's codes, or ``agentCode``.
    public var code: Int
    /// What failed, with what, what to try.
    public var message: String
    /// `nil` if an agent of an older version did not say.
    public var kind: ErrorKind?
    public var retryable: Bool
    public var cause: String?
    /// The status of the provider's response.
    public var httpStatus: Int?
    /// The provider's message.
    public var providerMessage: String?
    public var retryAfter: Duration?
    /// One reason each.
    public var details: [String]

    /// The cause if polkit has no agent that could ask the user. A client may start one, and try again.
    public static let noPresenceAgentCause = "presence_no_agent"
    /// The cause if a browser could not be opened.
    package static let noBrowserCause = "no_browser"

    /// The code of every error that JSON-RPC does not define.
    public static let agentCode = -32000

    /// An error of the agent, with ``agentCode``.
    /// - Parameters:
    ///   - kind: what the caller can do.
    ///   - message: what failed, with what, what to try.
    ///   - cause: the name of the cause, if the kind has several.
    ///   - httpStatus: the status of the provider's response.
    ///   - providerMessage: the provider's message.
    ///   - retryAfter: when the same request may succeed.
    ///   - retryable: `nil` uses the kind's default.
    ///   - details: one reason each.
    public init(
        _ kind: ErrorKind, _ message: String, cause: String? = nil, httpStatus: Int? = nil,
        providerMessage: String? = nil, retryAfter: Duration? = nil, retryable: Bool? = nil, details: [String] = []
    ) {
        self.code = Self.agentCode
        self.message = message
        self.kind = kind
        self.retryable = retryable ?? kind.retryableByDefault
        self.cause = cause
        self.httpStatus = httpStatus
        self.providerMessage = providerMessage
        self.retryAfter = retryAfter
        self.details = details
    }

    private init(code: Int, _ message: String, kind: ErrorKind) {
        self.code = code
        self.message = message
        self.kind = kind
        self.retryable = false
        self.details = []
    }

    public static func parseError(_ message: String) -> AgentError {
        AgentError(code: -32700, message, kind: .validation)
    }

    public static func invalidRequest(_ message: String) -> AgentError {
        AgentError(code: -32600, message, kind: .validation)
    }

    public static func methodNotFound(_ name: String) -> AgentError {
        AgentError(
            code: -32601, "There is no method '\(name.quotable)'; rpc.discover lists all of them.", kind: .unsupported)
    }

    public static func invalidParams(_ message: String) -> AgentError {
        AgentError(code: -32602, message, kind: .validation)
    }

    public static func internalError(_ message: String) -> AgentError {
        AgentError(code: -32603, message, kind: .internal_)
    }
}

extension AgentError: CustomStringConvertible {
    public var description: String {
        let name = code == Self.agentCode || kind == .internal_ ? kind?.rawValue : nil
        var text = "\(name ?? String(code)): \(message)"
        if let cause { text += " (\(cause))" }
        return text
    }
}

extension AgentError {
    /// JSON-RPC 2.0 §5.1.
    public var json: JSON {
        var object: JSONObject = ["code": .integer(Int64(code)), "message": .string(message)]
        guard let kind else { return .object(object) }
        var data: JSONObject = ["kind": .string(kind.rawValue), "retryable": .bool(retryable)]
        data["cause"] = cause.map(JSON.string)
        data["http_status"] = httpStatus.map { .integer(Int64($0)) }
        data["provider_message"] = providerMessage.map(JSON.string)
        data["retry_after_ms"] = retryAfter.map { .integer($0.wholeMilliseconds) }
        if !details.isEmpty { data["details"] = .array(details.map(JSON.string)) }
        object["data"] = .object(data)
        return .object(object)
    }

    /// Reads an error object as far as possible. It never fails.
    public init(json: JSON) {
        let data = json["data"]
        code = json["code"]?.integerValue.flatMap { Int(exactly: $0) } ?? Self.agentCode
        message = json["message"]?.stringValue ?? "The agent returned an error without a message."
        kind = (data?["kind"]?.stringValue).map(ErrorKind.init(unknown:))
        retryable = data?["retryable"]?.boolValue ?? kind?.retryableByDefault ?? false
        cause = data?["cause"]?.stringValue
        httpStatus = data?["http_status"]?.integerValue.flatMap { Int(exactly: $0) }
        providerMessage = data?["provider_message"]?.stringValue
        retryAfter = data?["retry_after_ms"]?.integerValue.map { .milliseconds(max(0, $0)) }
        details = data?["details"]?.arrayValue?.compactMap(\.stringValue) ?? []
    }
}
