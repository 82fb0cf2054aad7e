package import AuthModel
package import AuthWire

/// What the user does before a request is carried out.
package enum AccessCheck: Sendable, Equatable {
    case presence(PresenceAction)
    case consent
}

/// Which rule decides about a request.
package struct AccessDecision: Sendable, Equatable {
    package let rule: AccessRule
    /// A key that the rule tests and whose value is unknown. The rule then denies.
    package let unknown: String?
    /// Whether a denial is a refusal.
    package let isEnforced: Bool
    /// The decision depends on the executable, so it may change when the process becomes another program.
    package let testsProgram: Bool
    /// What the request needs before it is carried out.
    package var check: AccessCheck?

    /// The check of the user's presence that the request needs.
    package var presence: PresenceAction? { if case .presence(let action) = check { action } else { nil } }

    package var isDenied: Bool { rule.effect == .deny || unknown != nil }
    package var isRefused: Bool { isDenied && isEnforced }
    /// For the audit log: `nil` if the rule allows the request.
    package var enforced: Bool? { isDenied || rule.effect.needsUser ? isEnforced : nil }

    /// For `policy.replay`.
    package var result: String {
        if isDenied { return isEnforced ? "denied" : "would_be_denied" }
        switch check {
        case .presence: return "needs_presence"
        case .consent: return "needs_consent"
        case nil: break
        }
        switch rule.effect {
        case .presence: return "would_need_presence"
        case .ask: return "would_need_consent"
        case .allow, .deny: return "allowed"
        }
    }

    /// The error of a refusal. Its details begin with the rule.
    package func error(_ method: String) -> AgentError {
        var text = "The access rule \(rule.id) denies \(method)."
        if let reason = rule.reason { text += " " + reason }
        if let unknown { text += " The rule tests \(unknown), which is unknown for this program." }
        return AgentError(.denied, text + " " + remedy, cause: Self.cause, details: [rule.id])
    }

    /// The same if the rule asks the user, and nobody can be asked.
    package func unaskedError(_ method: String) -> AgentError {
        let unavailable = AgentError.consentUnavailable
        var text = "The access rule \(rule.id) does not allow \(method) without your consent."
        if let reason = rule.reason { text += " " + reason }
        return AgentError(
            .denied, "\(text) \(unavailable.message) \(remedy)", cause: unavailable.cause, details: [rule.id])
    }

    /// The cause of a refusal.
    package static let cause = "access_rule"

    private var remedy: String {
        switch rule.source {
        case .root: "An administrator can change it in \(PolicyPaths.root)."
        case .user: "It is your own rule: change policy.toml, then run `authc policy apply`."
        case .builtIn, .boundary: "A rule in \(PolicyPaths.root) can allow it."
        }
    }
}
