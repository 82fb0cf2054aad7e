import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// Checks the user's presence, or asks the user, before a request is carried out, if a rule or the settings require that.
///
/// A token for an origin belongs to a session that is known with the token: then the check is made before it is returned.
struct UserGate: Sendable {
    /// What it uses to ask the user.
    struct Services: Sendable {
        let sessions: SessionRequests
        let presence: PresenceService
        let consent: ConsentService
        let programs: ConsentPrograms
    }

    private let request: AccessRequest
    private let decision: AccessDecision
    private var check: AccessCheck? { decision.check }
    /// `nil`: it is not known who has sent the request.
    private let subject: PresenceSubject?
    private let facts: AccessFacts
    private let access: AccessControl
    private let presence: PresenceService
    private let consent: ConsentService
    private let programs: ConsentPrograms
    private let listener: ListenerName
    private let unit: String?
    private let purpose: String?
    private let sessions: SessionRequests
    /// What a confined client may see; `nil`: the client is not confined.
    private let visibility: Visibility?

    /// - Returns: `nil` if no check can be needed. The sender is read only otherwise.
    /// - Parameter purpose: what the program says.
    init?(
        _ request: AccessRequest, _ decision: AccessDecision, by caller: Caller, purpose: String?,
        in access: AccessControl, _ services: Services
    ) {
        let isOpen = request.method == TokenGet.name && request.target == .later && access.policy.mayNeedUser
        guard decision.check != nil || isOpen else { return nil }
        (self.request, self.decision, self.purpose) = (request, decision, purpose)
        let identity = caller.identity(for: .program)
        (subject, unit, listener) = (PresenceSubject(identity), identity.unit, caller.listener)
        facts = access.facts(of: caller, for: .program)
        visibility = caller.confinement?.visibility
        (self.access, sessions) = (access, services.sessions)
        (presence, consent, programs) = (services.presence, services.consent, services.programs)
    }

    /// The same handling after the check.
    func guarding(_ handling: RequestHandling) -> RequestHandling {
        switch handling {
        case .now(.success(let json)): return check == nil ? handling : later { _ in .value(json) }
        case .rendered(let text): return check == nil ? handling : later { _ in .text(text) }
        case .live(let token, let work):
            let isNeeded = check != nil || self.decision(about: token.session).check != nil
            return isNeeded ? later(work) : handling
        case .later(var waiting):
            waiting.work = checked(waiting.work, after: waiting.precheck)
            return .later(waiting)
        default: return handling.wrapping(opening: { check == nil ? $0 : checked($0) })
        }
    }

    private func later(_ work: @escaping RequestTask.Work) -> RequestHandling { .later(within: nil, checked(work)) }

    private func checked(
        _ work: @escaping RequestTask.Work, after precheck: (@Sendable () async throws(AgentError) -> Void)? = nil
    ) -> RequestTask.Work {
        { end async throws(AgentError) in
            if check != nil { try await precheck?() }
            try await pass(decision, request.target.name)
            let payload = try await work(end)
            if check == nil, case .token(let token) = payload {
                try await pass(self.decision(about: token.session), token.session)
            }
            return payload
        }
    }

    private func checked(_ opening: StreamOpening) -> StreamOpening {
        var checked = opening
        checked.run = { stream in
            do throws(AgentError) {
                try await pass(decision, request.target.name)
            } catch {
                // A client that has left has closed the stream already.
                return stream.close(Task.isCancelled ? .stopping : error)
            }
            await opening.run(stream)
        }
        return checked
    }

    /// For a session that the request has not named.
    private func decision(about session: SessionName) -> AccessDecision {
        var request = request
        request.target = .named(session)
        return access.policy.decision(about: request) { _ in facts }
    }

    private func pass(_ decision: AccessDecision, _ session: SessionName?) async throws(AgentError) {
        guard let check = decision.check else { return }
        do throws(AgentError) {
            // Without a token there is nothing to confirm.
            let isRelease = PresenceAction(method: request.method, request.access) == .release
            if isRelease, session != nil || request.target == .any { try await sessions.requireToken(of: session) }
            guard let subject else { throw .presenceOfUnknownProgram }
            switch check {
            case .presence(let action):
                try await presence.confirm(PresenceQuestion(action, of: subject, for: session))
            case .consent:
                var request = request
                if let session { request.target = .named(session) }
                let program = await programs.program(
                    subject, unit: unit, isConfined: visibility != nil)
                try await consent.confirm(
                    ConsentQuestion(program, request, from: listener, purpose: purpose))
            }
        } catch {
            let error = error == .consentUnavailable ? decision.unaskedError(request.title) : error
            throw visibility?.error(error) ?? error
        }
    }
}
