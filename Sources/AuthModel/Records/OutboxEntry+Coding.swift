package import AuthWire

/// As a store keeps them: JSON, read and written here alone.
extension OutboxEntry {
    /// Without the verdict, which comes later.
    package func encoded() -> [UInt8] {
        var object: JSONObject = [
            "provider": .string(owner.provider), "environment": .string(owner.environment), "title": .string(title),
            "key": .string(idempotencyKey), "queued_at": .number(queuedAt.unixSeconds),
        ]
        object["user"] = owner.userID.map(JSON.string)
        object["sign_in"] = signIn.map { .string($0.text) }
        object["boundary"] = boundary.map(JSON.string)
        return JSON.object(object).serialized()
    }

    /// `nil` for what is no entry.
    package init?(id: String, session: SessionName, encoded: [UInt8], finalRefusal: [UInt8]?) {
        guard let json = try? JSON(parsing: encoded), let provider = json["provider"]?.stringValue,
            let environment = json["environment"]?.stringValue, let title = json["title"]?.stringValue,
            let key = json["key"]?.stringValue, let queuedAt = json["queued_at"]?.doubleValue
        else { return nil }
        self.init(
            id: id, session: session,
            owner: Owner(provider: provider, environment: environment, userID: json["user"]?.stringValue),
            signIn: json["sign_in"]?.stringValue.flatMap(SignInID.init),
            title: title, idempotencyKey: key, boundary: json["boundary"]?.stringValue,
            queuedAt: WallTime(unixSeconds: queuedAt),
            // One that cannot be read is a no all the same: without it this would be sent again.
            finalRefusal: finalRefusal.map { AgentError(json: (try? JSON(parsing: $0)) ?? .null) })
    }

    /// In place of an entry that nobody can read any more.
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

    /// `nil` for what is not a request.
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
