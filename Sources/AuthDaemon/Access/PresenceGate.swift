import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// Checks the user's presence before a request is carried out, if a rule or the settings require that.
///
/// A token for an origin belongs to a session that is known with the token: then the check is made before it is returned.
struct PresenceGate: Sendable {
    private let request: AccessRequest
    private let action: PresenceAction?
    /// `nil`: it is not known who has sent the request.
    private let subject: PresenceSubject?
    private let facts: AccessFacts
    private let access: AccessControl
    private let service: PresenceService
    private let sessions: SessionRequests
    /// Of a confined client.
    private let visibility: Visibility?

    /// - Returns: `nil` if no check can be needed. The sender is read only otherwise.
    init?(
        _ request: AccessRequest, _ decision: AccessDecision, by caller: Caller, in access: AccessControl,
        _ service: PresenceService, _ sessions: SessionRequests
    ) {
        let isOpen = request.method == TokenGet.name && request.target == .later && access.policy.mayNeedPresence
        guard decision.presence != nil || isOpen else { return nil }
        (self.request, action) = (request, decision.presence)
        subject = PresenceSubject(caller.identity(for: .program))
        facts = access.facts(of: caller, for: .program)
        visibility = caller.confinement?.visibility
        (self.access, self.service, self.sessions) = (access, service, sessions)
    }

    /// The same handling after the check.
    func guarding(_ handling: RequestHandling) -> RequestHandling {
        switch handling {
        case .now(.failure), .onStream, .subscribe, .unsubscribe: return handling
        case .now(.success(let json)): return action == nil ? handling : later { _ in .value(json) }
        case .rendered(let text): return action == nil ? handling : later { _ in .text(text) }
        case .live(let token, let work):
            let isNeeded = action != nil || self.action(about: token.session) != nil
            return isNeeded ? later(work) : handling
        case .later(let limit, let work, let trail, let endsAtLock):
            return .later(within: limit, checked(work), trail, endsAtLock: endsAtLock)
        case .open(let opening): return action == nil ? handling : .open(checked(opening))
        }
    }

    private func later(_ work: @escaping RequestTask.Work) -> RequestHandling { .later(within: nil, checked(work)) }

    private func checked(_ work: @escaping RequestTask.Work) -> RequestTask.Work {
        { end async throws(AgentError) in
            if let action { try await check(action, request.target.name) }
            let payload = try await work(end)
            if action == nil, case .token(let token) = payload, let action = self.action(about: token.session) {
                try await check(action, token.session)
            }
            return payload
        }
    }

    private func checked(_ opening: StreamOpening) -> StreamOpening {
        StreamOpening(
            name: opening.name, make: opening.make,
            run: { stream in
                do throws(AgentError) {
                    if let action { try await check(action, request.target.name) }
                } catch {
                    return stream.close(error)
                }
                await opening.run(stream)
            })
    }

    /// For a session that the request has not named.
    private func action(about session: SessionName) -> PresenceAction? {
        var request = request
        request.target = .named(session)
        return access.policy.decision(about: request) { _ in facts }.presence
    }

    private func check(_ action: PresenceAction, _ session: SessionName?) async throws(AgentError) {
        do throws(AgentError) {
            // Without a token there is nothing to confirm.
            if action == .release, session != nil || request.target == .any {
                try await sessions.requireToken(of: session)
            }
            guard let subject else { throw .presenceOfUnknownProgram }
            try await service.confirm(PresenceQuestion(action, of: subject, for: session))
        } catch {
            throw visibility?.error(error) ?? error
        }
    }
}
