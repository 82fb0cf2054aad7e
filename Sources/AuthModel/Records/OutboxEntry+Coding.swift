package import AuthWire

/// The stored form: JSON, without the ID, the session and the final refusal, which are stored separately.
extension OutboxEntry: WireObject {
    package init(blank: Blank) {
        self.init(
            id: "", session: .blank, owner: Owner(provider: "", environment: ""), title: "", idempotencyKey: "",
            queuedAt: WallTime(unixSeconds: 0))
    }

    package mutating func members<Visitor: MemberVisitor>(_ visitor: inout Visitor) throws(Visitor.Failure) {
        try visitor.required("provider", &owner.provider, .string)
        try visitor.required("environment", &owner.environment, .string)
        try visitor.required("title", &title, .string)
        try visitor.required("key", &idempotencyKey, .string)
        try visitor.required("queued_at", &queuedAt, .date)
        try visitor.optional("user", &owner.userID, .string)
        try visitor.optional("sign_in", &signIn, .signIn)
        try visitor.optional("boundary", &boundary, .string)
        try visitor.optional("caller", &caller, .object)
    }

    package func encoded() -> [UInt8] { json.serialized() }

    /// `nil` if it is not an entry.
    package init?(id: String, session: SessionName, encoded: [UInt8], finalRefusal: [UInt8]?) {
        guard let json = try? JSON(parsing: encoded), let entry = try? Self.decode(stored: json) else { return nil }
        self = entry
        self.id = id
        self.session = session
        // An unreadable refusal still is one: without it the entry would be sent again.
        self.finalRefusal = finalRefusal.map { AgentError(json: (try? JSON(parsing: $0)) ?? .null) }
    }

    /// Replaces an entry that cannot be read.
    package static func unreadable(id: String, session: SessionName, reason: String) -> OutboxEntry {
        OutboxEntry(
            id: id, session: session, owner: Owner(provider: "", environment: ""), title: "?", idempotencyKey: "",
            queuedAt: WallTime(unixSeconds: 0),
            finalRefusal: AgentError(
                .internal_, "This entry cannot be read: \(reason). `authc outbox drop \(id)` removes it.",
                cause: "unreadable"))
    }
}

extension OutboxRequest {
    package func encoded() -> [UInt8] {
        switch self {
        case .request(let call): Self.encode(call)
        case .call(let call): Self.encode(call)
        }
    }

    private static func encode<Method: AgentMethod>(_ call: Method) -> [UInt8] {
        JSON.object(["method": .string(Method.name), "params": call.json]).serialized()
    }

    /// `nil` if it is not a request.
    package init?(encoded: [UInt8]) {
        guard let json = try? JSON(parsing: encoded) else { return nil }
        switch json["method"]?.stringValue {
        case APIRequest.name:
            guard let call = try? APIRequest(params: json["params"]) else { return nil }
            self = .request(call)
        case APICall.name:
            guard let call = try? APICall(params: json["params"]) else { return nil }
            self = .call(call)
        default: return nil
        }
    }
}
