import AuthMachines
import AuthModel
import AuthWire

/// A request that was allowed. The rules decide about it again when its result is known.
struct DecidedRequest: Sendable {
    private let request: AccessRequest
    /// What was known about the caller when the request was made.
    private let facts: AccessFacts
    private let generation: Int
    private let changes: AccessChanges
    private let access: AccessControl

    init(_ request: AccessRequest, by caller: Caller, in access: AccessControl) {
        (self.request, self.access) = (request, access)
        facts = access.facts(of: caller, for: .program)
        generation = caller.generation
        changes = caller.changes
    }

    /// Only results that a program may keep are decided again. `policy.apply` and `agent.reload` change the rules themselves.
    private var isGuarded: Bool {
        [.token, .act].contains(request.access) || [SessionExport.name, LoginLend.name].contains(request.method)
    }

    /// The same handling, whose result is returned only if the rules allow it then.
    func guarding(_ handling: RequestHandling) -> RequestHandling {
        guard isGuarded else { return handling }
        switch handling {
        case .live(let token, _):
            guard let refusal = refusal(of: token.session) else { return handling }
            return .now(.failure(refusal))
        default: return handling.wrapping(work: guarding)
        }
    }

    private func guarding(_ work: @escaping RequestTask.Work) -> RequestTask.Work {
        { end async throws(AgentError) in
            let payload = try await work(end)
            var session: SessionName?
            if case .token(let token) = payload { session = token.session }
            if let refusal = refusal(of: session) { throw refusal }
            return payload
        }
    }

    private func refusal(of session: SessionName?) -> AgentError? {
        guard let decision = decision(of: session), decision.isRefused else { return nil }
        return decision.error(request.title)
    }

    /// - Parameter session: the session of the token, which the request may not have named.
    /// - Returns: `nil` if the former decision is still right.
    func decision(of session: SessionName?) -> AccessDecision? {
        var request = request
        if let session { request.target = .named(session) }
        guard request != self.request || changes.generation != generation else { return nil }
        return access.policy.decision(about: request) { _ in facts }
    }
}
