import AuthModel
import AuthWire

/// Writes that wait in the outbox.
extension APIClient {
    /// What cannot be sent is told before it is kept.
    /// - Returns: in whose name it is to be sent.
    func check(_ request: OutboxRequest) async throws(AgentError) -> SessionRecord {
        guard !request.streams else {
            throw AgentError(.validation, "A streamed body or answer cannot be kept for later (queue).", cause: "queue")
        }
        let (order, session) = try await settled(request)
        guard !["GET", "HEAD", "OPTIONS"].contains(order.template.method) else {
            throw AgentError(
                .validation,
                "Only what changes something is kept for later (queue), and a \(order.template.method) does not.",
                cause: "queue")
        }
        let record = await session.record
        _ = try order.build(record)
        return record
    }

    /// Tries it once.
    /// - Parameter inAnySignIn: the user named it since the account was signed in again.
    func send(
        _ request: OutboxRequest, _ entry: OutboxEntry, inAnySignIn: Bool = false
    ) async throws(AgentError) -> APIResponse {
        var (order, session) = try await settled(request, boundary: entry.boundary)
        let record = await session.record
        guard entry.owner.isSame(as: OutboxEntry.Owner(record)) else {
            throw AgentError(
                .denied, "Session \(entry.session) is another account's now, in whose name this was not meant.",
                cause: "other_account")
        }
        let otherSignIn = AgentError(
            .denied,
            "Session \(entry.session) was signed in again after this was queued, and it is sent only with the sign-in "
                + "that it was made for. `authc outbox flush \(entry.id)` sends it with the present one.",
            cause: "other_sign_in")
        guard inAnySignIn || entry.signIn == nil || entry.signIn == record.signIn else { throw otherSignIn }
        // The session may be signed in again while its token is waited for.
        order.signIn = (record.signIn, otherSignIn)
        (order.retry, order.waits) = (false, false)
        order.template.headers.removeAll { $0.name.lowercased() == OutboxEntry.keyHeader }
        order.template.headers.append(
            TemplateField(name: "Idempotency-Key", value: Template(literal: entry.idempotencyKey)))
        let received = try await exchange(order, session)
        written(received, order, try order.build(record).request)
        // It is done, whether or not its answer fits into a line.
        return (try? received.response.fitting())
            ?? APIResponse(status: received.response.status, headers: received.response.headers)
    }

    private func settled(
        _ request: OutboxRequest, boundary: String? = nil
    ) async throws(AgentError) -> (PreparedCall, Session) {
        switch request {
        case .request(let params): return try await settled(params, boundary: boundary)
        case .call(let params):
            let (order, session, _) = try await settled(params, boundary: boundary)
            return (order, session)
        }
    }
}

extension OutboxEntry.Owner {
    /// A provider may tell who it is later than it signs them in.
    fileprivate func isSame(as other: OutboxEntry.Owner) -> Bool {
        provider == other.provider && environment == other.environment
            && (userID == nil || other.userID == nil || userID == other.userID)
    }
}
