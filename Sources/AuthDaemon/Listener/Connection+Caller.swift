import AuthAgent
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

    /// The user may differ: the kernel reports the effective one of the peer, and the real one of the sender.
    func isFromPeer(_ sender: PeerCredentials) -> Bool {
        guard sender.processID == peer.processID || (mayLackSender && sender.processID <= 0) else { return false }
        return process?.isRunning ?? true
    }

    // MARK: The audit log

    /// Counts a plain request that is answered with this token, as a request, as use of the agent, and in the audit log. It is
    /// the most frequent one, so counting one more allocates nothing.
    /// - Parameters:
    ///   - plain: the decision that allows it.
    ///   - entry: the audit log's entry of the last such request.
    /// - Returns: its entry.
    func recordPlain(
        _ token: LiveToken, _ plain: PlainDecision, after entry: RepeatedEntry? = nil, at now: BootInstant
    ) -> RepeatedEntry? {
        registry.counters.request()
        registry.board.recordUse(at: now)
        let (audit, generation) = (registry.dispatcher.audit, plain.generation)
        if let entry, entry.covers(now, generation: generation), audit.repeated(entry.place, at: now) { return entry }
        if let entry = caller.repeated.count(plain: token.number, at: now, generation: generation, in: audit) {
            return entry
        }
        let answered = AnsweredRequest(
            request: AuditedRequest(method: TokenGet.name, session: token.session), caller: caller.identity,
            rule: plain.decision.rule.id, enforced: plain.decision.enforced, token: .number(token.number))
        return caller.repeated.record(answered, token: token.token, generation: generation, in: audit)
    }
}
