package import AuthModel
package import AuthWire

/// The decision about one request.
extension AccessPolicy {
    /// Reports a rule that was compared, and with which request: a call with `next` is compared as `api.request`, too.
    package typealias Note = (AccessRequest, AccessRule, AccessEvaluation.Outcome) -> Void

    package func decision(
        about request: AccessRequest, by read: @escaping AccessEvaluation.Read, noting note: Note? = nil
    ) -> AccessDecision {
        let made = singleDecision(about: request, by: read, noting: note)
        // Both must be allowed.
        guard let other = request.asPathRequest, !made.isRefused else { return made }
        let found = singleDecision(about: other, by: read, noting: note)
        if found.isRefused || found.isDenied && !made.isDenied { return found }
        if case .presence = made.check { return made }
        return found.check != nil ? found : made
    }

    private func singleDecision(
        about request: AccessRequest, by read: @escaping AccessEvaluation.Read, noting note: Note?
    ) -> AccessDecision {
        var decision = decisionOfRules(about: request, by: read, noting: note)
        guard !decision.isRefused else { return decision }
        let effect = decision.isEnforced ? decision.rule.effect : .allow
        if effect == .presence || isMarked(request) {
            decision.check = .presence(PresenceAction(method: request.method, request.access))
        } else if effect == .ask {
            decision.check = .consent
        }
        return decision
    }

    /// Requests that release a token of their session, use it, or change where it is sent. Parts of a stream belong to the
    /// request that opened it.
    private static let releasing = Set(
        [
            TokenGet.name, TokenProof.name, APIRequest.name, APICall.name, UserGet.name, UserUpdate.name,
            SessionTrust.name,
        ] + PresenceAction.exporting)

    /// Whether any rule or mark requires presence for the token of this session. If so, it must not be released in any
    /// other way.
    package func needsPresence(toRelease session: SessionName) -> Bool {
        presenceSessions.contains(session)
            || isEnforced
                && (root.rules + user.rules).contains { rule in
                    let tests = rule.request
                    return rule.effect == .presence && tests.classes?.contains(.token) ?? true
                        && tests.methods?.contains { $0.matches(TokenGet.name) } ?? true
                        && tests.sessions?.contains { $0.matches(session.text) } ?? true && tests.endpoints == nil
                }
    }

    /// Whether a request that names no session may need a check.
    package var mayNeedUser: Bool {
        !presenceSessions.isEmpty || (root.rules + user.rules).contains { $0.effect.needsUser }
    }

    private func isMarked(_ request: AccessRequest) -> Bool {
        guard !presenceSessions.isEmpty, Self.releasing.contains(request.method) else { return false }
        return switch request.target {
        case .named(let session): presenceSessions.contains(session)
        case .any: true
        case .none, .later: false
        }
    }

    private func decisionOfRules(
        about request: AccessRequest, by read: @escaping AccessEvaluation.Read, noting note: Note?
    ) -> AccessDecision {
        var evaluation = AccessEvaluation(request, by: read)
        func first(_ rules: [AccessRule]) -> (rule: AccessRule, unknown: String?)? {
            for rule in rules {
                let outcome = evaluation.outcome(of: rule)
                note?(request, rule, outcome)
                switch outcome {
                case .match: return (rule, nil)
                case .unknown(let key): return (rule, key)
                case .noMatch: break
                }
            }
            return nil
        }
        // For a confined client, the boundary replaces the built-in rules.
        let connection = read(.connection)
        let builtIn = connection.isConfined ? [Self.boundary(of: connection.listener)] : Self.defaults
        let own = first(root.rules)
        let base = own ?? first(builtIn) ?? (Self.rest, nil)
        let narrowing = first(user.rules)
        func decision(_ found: (rule: AccessRule, unknown: String?), isBroken: Bool) -> AccessDecision {
            AccessDecision(
                rule: found.rule, unknown: found.unknown, isEnforced: isBroken || isEnforced,
                testsProgram: evaluation.testsProgram)
        }
        let granting = decision(base, isBroken: own != nil && root.isBroken)
        guard let narrowing else { return granting }
        let narrowed = decision(narrowing, isBroken: user.isBroken)
        guard narrowed.isDenied else {
            // What the user has to do narrows, too.
            let isStricter = narrowed.rule.effect.strictness > granting.rule.effect.strictness
            return isStricter && !granting.isDenied ? narrowed : granting
        }
        return granting.isDenied && (granting.isEnforced || !narrowed.isEnforced) ? granting : narrowed
    }

    /// Whether a rule of a file may deny the status of a session to someone.
    package var mayHideSessions: Bool {
        isEnforced
            && (root.rules + user.rules).contains { rule in
                let tests = rule.request
                return tests.classes?.contains(.status) ?? true
                    && tests.methods?.contains { $0.matches(SessionStatusGet.name) } ?? true
                    && tests.endpoints == nil && tests.scopes == nil
            }
    }

    /// Whether a rule of a file may decide about requests that only read what the agent knows.
    package var testsStatusRequests: Bool {
        (root.rules + user.rules).contains { $0.request.classes?.contains(.status) ?? true }
    }

    /// Whether it matters which session a request is about.
    package var testsSessions: Bool {
        !presenceSessions.isEmpty || (root.rules + user.rules).contains { $0.request.sessions != nil }
    }
}
