package import AuthAgent
import AuthMachines
package import AuthModel
package import AuthWire
import Glibc
import Synchronization

/// The access rules in use. Each request is decided here, whatever its form. Any thread uses it.
package final class AccessControl: Sendable {
    private let inside: Mutex<AccessPolicy>
    private let changes: AccessChanges
    let ownUserID: UInt32

    /// - Parameter changes: notified when the rules change.
    package init(_ policy: AccessPolicy = AccessPolicy(), changes: AccessChanges, ownUserID: UInt32 = geteuid()) {
        inside = Mutex(policy)
        self.changes = changes
        self.ownUserID = ownUserID
    }

    package var policy: AccessPolicy { inside.withLock { $0 } }

    /// Changes the rules. Decisions that were made with the former ones are made again.
    package func change(_ change: @Sendable (inout AccessPolicy) -> Void) {
        inside.withLock { change(&$0) }
        changes.changed()
    }

    // MARK: Decisions

    /// Called on the sockets' thread only.
    func decision(about request: AccessRequest, by caller: Caller) -> AccessDecision {
        policy.decision(about: request) { self.facts(of: caller, for: $0) }
    }

    /// The decision about a queued write that is about to be sent. A rule that requires a check of the user now does not
    /// hold it back: the user may be away.
    package func decision(about request: OutboxRequest, queuedBy facts: AccessFacts) -> WriteDecision {
        let described =
            switch request {
            case .request(let call): AccessRequest(call, default: call.session)
            case .call(let call): AccessRequest(call, default: call.session)
            }
        let decision = policy.decision(about: described) { _ in facts }
        return WriteDecision(
            rule: decision.rule.id, enforced: decision.isDenied ? decision.isEnforced : nil,
            refusal: decision.isRefused ? decision.error(described.title) : nil)
    }

    /// Whether the token of this session is released to some program only after a check of presence.
    package func needsPresence(toRelease session: SessionName) -> Bool {
        policy.needsPresence(toRelease: session)
    }

    func facts(of caller: Caller, for need: AccessFacts.Need) -> AccessFacts {
        AccessFacts(caller.identity(for: need), ownUserID: ownUserID)
    }

    /// The decision about a plain request for this token. It costs a comparison unless the rules, the token or, if a rule tests
    /// it, the program has changed.
    func plainDecision(about token: LiveToken, by caller: Caller) -> PlainDecision {
        let generation = caller.generation
        if let known = caller.plainDecision, known.token == token.number, known.generation == generation {
            guard let program = known.program else { return known }
            if program == caller.identity { return known }
        }
        var request = AccessRequest(method: TokenGet.name, access: TokenGet.access, target: .named(token.session))
        request.scopes = .all
        let decision = decision(about: request, by: caller)
        // A request that needs a check of presence takes the other way, where it can wait.
        let made = PlainDecision(
            decision, about: token.number, generation: generation,
            program: decision.testsProgram ? caller.identity : nil)
        caller.plainDecision = made
        return made
    }

    // MARK: What is hidden

    /// Whether some session may be hidden from a client.
    var mayHideSessions: Bool { policy.mayHideSessions }

    /// Whether a rule denies the client the status of the session.
    func hides(_ session: SessionName, from caller: Caller) -> Bool {
        decision(about: Self.status(of: session), by: caller).isRefused
    }

    /// The same for a client of which these facts are known.
    func hides(_ session: SessionName, given facts: AccessFacts) -> Bool {
        policy.decision(about: Self.status(of: session)) { _ in facts }.isRefused
    }

    /// The confinement of the client, with the sessions that rules hide from it; `nil` if it is not confined.
    func confinement(of caller: Caller) -> Confinement? {
        guard var confinement = caller.confinement, mayHideSessions else { return caller.confinement }
        let facts = facts(of: caller, for: .program)
        confinement.hides = { [self] in hides($0, given: facts) }
        return confinement
    }

    private static func status(of session: SessionName) -> AccessRequest {
        AccessRequest(method: SessionStatusGet.name, access: SessionStatusGet.access, target: .named(session))
    }
}
