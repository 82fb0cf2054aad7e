import AuthWire

/// What the user is asked.
package struct SignInQuestion: Sendable {
    var fields: [StepField]
    var message: String?
    /// What the user opens first.
    var url: String?
    /// What is requested of the agent of another machine.
    var lend: LoginLend?
    /// Why the provider refused the last answers.
    var error: AgentError?

    var kind: StepKind {
        if lend != nil { return .lend }
        return url == nil ? .fields : .browser
    }
}
