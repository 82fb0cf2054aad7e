import AuthAgent
import AuthMachines
import AuthModel
import AuthWire

/// The browser of this machine, for sign-ins on others.
extension Dispatcher {
    mutating func addLending(_ lent: LentSignIns, _ consent: ConsentService) {
        onCaller(LoginLend.self) { [access, signInLimit] call, caller throws(AgentError) in
            // The settings of a listener say which sign-ins may use the browser. Programs of this machine have it anyway, and a
            // sandbox is not another machine.
            guard let confinement = access.confinement(of: caller), case .socket(let listener) = confinement.client
            else {
                throw .lentAtLimitedSockets
            }
            guard call.comparisonCode != nil else { throw LoginLend.needsComparison }
            // Before later requests are answered: their answers show the client that this one is not refused at once.
            let turn = try lent.reserve(for: call, at: listener, by: confinement.tables)
            let identity = caller.identity(for: .program)
            let (subject, unit) = (PresenceSubject(identity), identity.unit)
            let (spender, description) = (caller.identity, LateDescription())
            return .later(
                WaitingRequest(limit: LentSignIns.longest, endsWithInput: true, description: description) {
                    _ async throws(AgentError) in
                    let lent = try await lent.lend(call, in: turn, at: listener, by: confinement.tables) {
                        (signIn) async throws(AgentError) in
                        description.set(AuditedRequest(lending: signIn))
                        guard let subject else { throw .presenceOfUnknownProgram }
                        let program = ConsentProgram(subject, unit: unit, identity: nil)
                        try await consent.confirm(ConsentQuestion(program, signIn, from: listener))
                        // It counts only now: a host must not use up the limit for the user's own sign-ins.
                        try signInLimit.spend(spender, for: LoginLend.name)
                    }
                    return .value(lent.json)
                })
        }
    }
}

extension AgentError {
    fileprivate static let lentAtLimitedSockets = AgentError(
        .denied,
        "The browser is lent only at sockets for limited access: forward the socket of [listener.extra] or of another "
            + "[listener.NAME] in authd.toml, instead of the agent's main socket.", cause: "main_socket")
}
