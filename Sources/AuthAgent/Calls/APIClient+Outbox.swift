import AuthMachines
import AuthModel
import AuthWire

/// Writes that wait in the outbox.
extension APIClient {
    /// The entry of a write, and what is sent for it. What cannot be sent is refused before it is stored.
    func prepare(
        _ request: OutboxRequest, by caller: AccessFacts? = nil
    ) async throws(AgentError) -> (OutboxEntry, OutboxWrite) {
        guard !request.streams else {
            throw AgentError(.validation, "Streamed bodies and responses cannot be queued.", cause: "queue")
        }
        let key = request.ownKey ?? OutboxEntry.newKey()
        guard key.utf8.count <= OutboxEntry.longestKey else {
            throw AgentError(
                .validation,
                "The Idempotency-Key of a request that is queued has at most \(OutboxEntry.longestKey) bytes.",
                cause: "queue")
        }
        let boundary = MultipartBody.newBoundary()
        var (call, session) = try await outboxCall(request, key: key, boundary: boundary)
        guard !["GET", "HEAD", "OPTIONS"].contains(call.template.method) else {
            throw AgentError(
                .validation,
                "Only requests that change something can be queued; a \(call.template.method) does not.",
                cause: "queue")
        }
        let record = await session.record
        try call.prepare(for: record)
        var request = request
        request.session = record.session
        let entry = OutboxEntry(
            request, by: caller, of: record, key: key, boundary: boundary, at: context.clock.now().wall)
        return (entry, OutboxWrite(request, as: call))
    }

    /// Tries it once.
    /// - Parameters:
    ///   - prepared: by ``prepare(_:)``; `nil`: the request was read from the store.
    ///   - inAnySignIn: the user named it since the account was signed in again.
    func send(
        _ request: OutboxRequest, _ entry: OutboxEntry, as prepared: PreparedCall? = nil, inAnySignIn: Bool = false
    ) async throws(AgentError) -> APIResponse {
        var (call, session) =
            if let prepared {
                (prepared, try await registry.session(entry.session))
            } else {
                try await outboxCall(request, key: entry.idempotencyKey, boundary: entry.boundary)
            }
        let record = await session.record
        guard entry.owner.isSame(as: OutboxEntry.Owner(record)) else {
            throw AgentError(
                .denied,
                "Session \(entry.session) now belongs to another account. The write was queued for the former one.",
                cause: "other_account")
        }
        let otherSignIn = AgentError(
            .denied,
            "Session \(entry.session) was signed in again after this was queued, and it is sent only with the sign-in "
                + "that it was made for. `authc outbox flush \(entry.id)` sends it with the present one.",
            cause: "other_sign_in")
        guard inAnySignIn || entry.signIn == nil || entry.signIn == record.signIn else { throw otherSignIn }
        // The session may be signed in again while its token is waited for.
        call.signIn = (record.signIn, otherSignIn)
        if prepared == nil { try call.prepare(for: record) }
        let received = try await exchange(call, session)
        written(received, call)
        // It is done, whether or not its answer fits into a line.
        return (try? received.response.fitting())
            ?? APIResponse(status: received.response.status, headers: received.response.headers)
    }

    private func outboxCall(
        _ request: OutboxRequest, key: String, boundary: String?
    ) async throws(AgentError) -> (PreparedCall, Session) {
        var call: PreparedCall
        let session: Session
        switch request {
        case .request(let params): (call, session) = try await settled(params, boundary: boundary)
        case .call(let params): (call, session, _) = try await settled(params, boundary: boundary)
        }
        (call.retry, call.waits, call.isQueued) = (false, false, true)
        call.template.headers.removeAll { $0.name.lowercased() == OutboxEntry.keyHeader }
        call.template.headers.append(TemplateField(name: "Idempotency-Key", value: Template(literal: key)))
        return (call, session)
    }
}

extension OutboxEntry.Owner {
    /// A provider may report the user some time after the sign-in.
    fileprivate func isSame(as other: OutboxEntry.Owner) -> Bool {
        provider == other.provider && environment == other.environment
            && (userID == nil || other.userID == nil || userID == other.userID)
    }
}
