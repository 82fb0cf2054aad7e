import AuthMachines
import AuthModel
import AuthWire

/// The identity of the client, and the entries of its requests in the audit log.
extension Connection {
    var peer: PeerCredentials { caller.peer }
    /// The process that has connected; `nil` if the client is confined.
    var process: PeerProcess? { caller.process }
    /// `nil`: the client may do everything.
    var confinement: Confinement? { caller.confinement }
    var isConfined: Bool { caller.confinement != nil }

    // MARK: The audit log

    /// A token that was returned for a request in the usual form. It is the most frequent one, so counting one more allocates
    /// nothing.
    /// - Parameter plain: the decision that allows it.
    func recordRepeatable(_ token: LiveToken, _ plain: PlainDecision) {
        let (audit, generation) = (registry.dispatcher.audit, caller.generation)
        if let now = token.askedAt,
            caller.repeated.count(plain: token.number, at: now, generation: generation, in: audit)
        {
            return
        }
        let answered = AnsweredRequest(
            request: AuditedRequest(method: TokenGet.name, session: token.session), caller: caller.identity,
            rule: plain.decision.rule.id, enforced: plain.decision.enforced, token: .number(token.number))
        caller.repeated.record(answered, token: token.token, generation: generation, in: audit)
    }
}
