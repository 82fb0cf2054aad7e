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
    package init?(id: String, session: SessionName, encoded: [UInt8], verdict: [UInt8]?) {
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
            verdict: verdict.map { AgentError(json: (try? JSON(parsing: $0)) ?? .null) })
    }

    /// In place of an entry that nobody can read any more.
    package static func unreadable(id: String, session: SessionName, reason: String) -> OutboxEntry {
        OutboxEntry(
            id: id, session: session, owner: Owner(provider: "", environment: ""), title: "?", idempotencyKey: "",
            queuedAt: WallTime(unixSeconds: 0),
            verdict: AgentError(
                .internal_, "This entry cannot be read: \(reason). `authc outbox drop \(id)` removes it.",
                cause: "unreadable"))
    }
}

extension OutboxRequest {
    package func encoded() -> [UInt8] {
        let request: AgentRequest =
            switch self {
            case .request(let params): .apiRequest(params)
            case .call(let params): .apiCall(params)
            }
        return JSON.object(["method": .string(request.method.rawValue), "params": request.params]).serialized()
    }

    /// `nil` for what is no request.
    package init?(encoded: [UInt8]) {
        guard let json = try? JSON(parsing: encoded), let method = json["method"]?.stringValue,
            let request = try? AgentRequest(method: method, params: json["params"])
        else { return nil }
        switch request {
        case .apiRequest(let params): self = .request(params)
        case .apiCall(let params): self = .call(params)
        default: return nil
        }
    }
}
