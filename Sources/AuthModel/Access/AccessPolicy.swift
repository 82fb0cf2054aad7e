package import AuthWire

/// The rules about requests: root's, the user's and the built-in ones.
///
/// Invariant: the user's rules only narrow. A request is allowed if root's rules and the built-in ones allow it and the user's
/// rules do not deny it.
package struct AccessPolicy: Sendable, Equatable {
    /// The rules of one file.
    package struct Rules: Sendable, Equatable {
        /// Requests that a rule denies are refused, not only recorded.
        package var enforces = false
        package var rules: [AccessRule] = []
        /// The file cannot be used. Its replacement is always enforced.
        package private(set) var isBroken = false

        package init() {}

        /// Replaces a file that cannot be used. What the file denies is unknown, so only what programs need every day is
        /// allowed.
        package static func broken(_ source: AccessRule.Source) -> Rules {
            var rules = Rules()
            var denial = AccessRule(
                "broken-file", from: source, .deny, reason: "The file with these rules cannot be used.")
            denial.request.classes = [.account, .admin]
            // These can repair it, and a locked agent serves none of the others.
            var repair = AccessRule("repair", from: source, .allow)
            repair.request.methods = AccessPolicy.lockMethods
            if source == .user {
                repair.request.methods? += [PolicyShow.name, PolicyApply.name].compactMap(TextPattern.init)
            } else {
                // An allowance of root decides instead of the built-in rules.
                AccessPolicy.isOwn(&repair.caller)
            }
            rules.rules += [repair, denial]
            rules.isBroken = true
            return rules
        }
    }

    package var root = Rules()
    package var user = Rules()
    /// Sessions that the settings mark: always in effect, whatever the rules say.
    package var presenceSessions: Set<SessionName> = []

    package init(root: Rules = Rules(), user: Rules = Rules()) {
        (self.root, self.user) = (root, user)
    }

    package var isEnforced: Bool { root.enforces || user.enforces }

    /// All rules, in the order in which they are compared for a client that is not confined.
    package var all: [AccessRule] { root.rules + Self.defaults + user.rules }

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
    private static let releasing: Set<String> = [
        TokenGet.name, TokenProof.name, APIRequest.name, APICall.name, UserGet.name, UserUpdate.name,
        SessionExport.name, SessionTrust.name,
    ]

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
        let builtIn = read(.connection).isConfined ? [Self.boundary] : Self.defaults
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

    /// Whether it matters which session a request is about.
    package var testsSessions: Bool {
        !presenceSessions.isEmpty || (root.rules + user.rules).contains { $0.request.sessions != nil }
    }

    // MARK: Built-in rules

    package static let boundary = AccessRule("extra", from: .boundary, .allow)

    /// Decides if no built-in rule matches, so that every request has a rule.
    private static let rest = AccessRule("rest", from: .builtIn, .deny)

    /// The unlock needs the passphrase, so it needs no terminal.
    private static let lockMethods = [AgentLock.name, AgentUnlock.name].compactMap(TextPattern.init)

    private static func isOwn(_ test: inout AccessRule.CallerTest) {
        test.ownUser = true
        test.sandboxes = [.none]
    }

    package static let defaults: [AccessRule] = {
        func rule(
            _ name: String, _ effect: AccessRule.Effect, _ classes: [AccessClass], reason: String? = nil,
            _ change: (inout AccessRule.CallerTest) -> Void = { _ in }
        ) -> AccessRule {
            var rule = AccessRule(name, from: .builtIn, effect, reason: reason)
            rule.request.classes = classes
            change(&rule.caller)
            return rule
        }
        var lock = AccessRule("lock", from: .builtIn, .allow)
        lock.request.methods = lockMethods
        isOwn(&lock.caller)
        // Refresh tokens never leave the agent without presence.
        var export = rule("export", .presence, [.admin], isOwn)
        export.request.methods = [SessionExport.name].compactMap(TextPattern.init)
        return [
            lock,
            rule("status", .allow, [.status]),
            rule(
                "other-user", .deny, [.token, .act, .account, .admin], reason: "Other users may only read the status."
            ) { $0.ownUser = false },
            rule("token", .allow, [.token], isOwn),
            rule("act", .allow, [.act], isOwn),
            rule("account", .allow, [.account]) {
                isOwn(&$0)
                $0.terminal = true
            },
            rule(
                "no-terminal", .deny, [.account],
                reason: "Signing in and out, and changes of an account, need a terminal."),
            export,
            rule("admin", .allow, [.admin]) {
                isOwn(&$0)
                $0.terminal = true
                $0.loginSession = true
            },
            rule(
                "no-login-terminal", .deny, [.admin],
                reason: "Exports and changes of the agent need a terminal of a login session."),
        ]
    }()
}
