import AuthWire

/// What the user is asked.
package struct SignInQuestion: Sendable {
    var fields: [StepField]
    var message: String?
    /// What the user opens first.
    var url: String?
    /// Why the provider refused the last answers.
    var error: AgentError?
}
