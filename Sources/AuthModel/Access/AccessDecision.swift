package import AuthWire

/// Which rule decides about a request.
package struct AccessDecision: Sendable, Equatable {
    package let rule: AccessRule
    /// A key that the rule tests and whose value is unknown. The rule then denies.
    package let unknown: String?
    /// Whether a denial is a refusal.
    package let isEnforced: Bool
    /// The decision depends on the executable, so it may change when the process becomes another program.
    package let testsProgram: Bool
    /// The check of the user's presence that the request needs.
    package var presence: PresenceAction?

    package var isDenied: Bool { rule.effect == .deny || unknown != nil }
    package var isRefused: Bool { isDenied && isEnforced }
    /// For the audit log: `nil` if the rule allows the request.
    package var enforced: Bool? { isDenied || rule.effect == .presence ? isEnforced : nil }

    /// For `policy.replay`.
    package var result: String {
        if isDenied { return isEnforced ? "denied" : "would_be_denied" }
        if presence != nil { return "needs_presence" }
        return rule.effect == .presence ? "would_need_presence" : "allowed"
    }

    /// The error of a refusal. Its details begin with the rule.
    package func error(_ method: String) -> AgentError {
        var text = "The access rule \(rule.id) denies \(method)."
        if let reason = rule.reason { text += " " + reason }
        if let unknown { text += " The rule tests \(unknown), which is unknown for this program." }
        return AgentError(.denied, text + " " + remedy, cause: Self.cause, details: [rule.id])
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
