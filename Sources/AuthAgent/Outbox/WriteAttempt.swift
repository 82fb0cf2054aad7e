package import AuthModel
package import AuthWire

/// What the access rules say about a queued write that is about to be sent.
package struct WriteDecision: Sendable {
    /// The rule that decided.
    package let rule: String
    /// Whether a denial by the rule is a refusal; `nil`: the rule allows the write.
    package let enforced: Bool?
    /// `nil`: the write may be sent.
    package let refusal: AgentError?

    package init(rule: String, enforced: Bool?, refusal: AgentError? = nil) {
        (self.rule, self.enforced, self.refusal) = (rule, enforced, refusal)
    }
}

/// An attempt to send a queued write, for the audit log.
package struct WriteAttempt: Sendable {
    package let request: OutboxRequest
    package let entry: OutboxEntry
    /// `nil` for an entry of an older authd, which does not name the program.
    package let decision: WriteDecision?
    /// `nil`: the provider has accepted it.
    package let error: AgentError?
}
