import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// Records one request in the audit log as soon as it is answered.
struct AuditTrail: Sendable {
    private let request: AuditedRequest
    /// Replaces `request` once it is known.
    private var description: LateDescription?
    private let caller: CallerIdentity
    private let rule: String
    private let enforced: Bool?
    /// Decides again when the session of a token is known.
    private let decided: DecidedRequest?
    private let repeated: RepeatedEntries
    private let generation: Int
    private let log: AuditLog

    /// No rule decided: the request could not be read, or it is not known who queued a write.
    static let undecided = "none"

    /// - Parameter decision: what the access rules decided; `nil`: the request could not be read, or the boundary refuses it.
    init(
        _ request: AuditedRequest, by caller: Caller, decision: AccessDecision? = nil, decided: DecidedRequest? = nil,
        in log: AuditLog
    ) {
        (self.request, self.decided) = (request, decided)
        self.caller = caller.identity
        let boundary = caller.confinement.map { AccessPolicy.boundary(of: $0.client.boundary).id }
        rule = decision?.rule.id ?? boundary ?? Self.undecided
        enforced = decision?.enforced
        repeated = caller.repeated
        generation = caller.generation
        self.log = log
    }

    /// The same handling, whose result is recorded.
    func recording(_ handling: RequestHandling) -> RequestHandling {
        switch handling {
        case .now(let result):
            record(result.map(Payload.value))
            return handling
        case .live(let token, _):
            record(request, token: token.token, .number(token.number))
            return handling
        case .later(var waiting):
            var trail = self
            trail.description = waiting.description
            waiting.trail = trail
            return .later(waiting)
        case .open(let opening): return .open(recording(opening))
        case .rendered, .onStream, .bodySocket, .subscribe, .unsubscribe:
            record(request)
            return handling
        }
    }

    /// Records the result that the client receives.
    func record(_ result: Result<Payload, AgentError>) {
        let request = description?.request ?? request
        switch result {
        case .success(.token(let answer)):
            let token = Secret(answer.accessToken)
            var request = request
            request.session = answer.session
            record(request, token: token, .hash(log.hash(of: token)))
        case .success: record(request)
        case .failure(let error): record(request, error)
        }
    }

    private func recording(_ opening: StreamOpening) -> StreamOpening {
        var recorded = opening
        recorded.make = { send throws(AgentError) in
            do throws(AgentError) {
                return try opening.make { result in
                    record(result.map(Payload.response))
                    send(result)
                }
            } catch {
                record(request, error)
                throw error
            }
        }
        return recorded
    }

    private func record(
        _ request: AuditedRequest, _ error: AgentError? = nil, token: Secret? = nil,
        _ name: AnsweredRequest.Token? = nil
    ) {
        var answered = AnsweredRequest(
            request: request, caller: caller, rule: rule, enforced: enforced,
            error: error.map { $0.kind ?? .internal_ }, token: name)
        answered.isCancelled = error == .callerGone || error == .clientLeft
        if name != nil, let again = decided?.decision(of: request.session) {
            (answered.rule, answered.enforced) = (again.rule.id, again.enforced)
        }
        switch error?.cause {
        // It may be a different rule than when the request was made.
        case AccessDecision.cause: (answered.rule, answered.enforced) = (error?.details.first ?? rule, true)
        case AgentError.confinedCause: answered.enforced = true
        default: break
        }
        repeated.record(answered, token: token, generation: generation, in: log)
    }
}
