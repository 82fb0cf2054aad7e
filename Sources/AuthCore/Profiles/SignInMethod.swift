package import AuthWire

/// One way to sign in.
package struct SignInMethod: Sendable, Equatable {
    package var name: String
    package var label: String
    package var fields: [StepField]
    /// By a field's name: what its answer must be like before anything is sent.
    package var rules: [String: [FieldRule]]
    package var request: RequestTemplate
    /// Overrides the profile's own map where it says something.
    package var reply: ReplyMap?

    package init(
        name: String, label: String, fields: [StepField], rules: [String: [FieldRule]] = [:], request: RequestTemplate,
        reply: ReplyMap? = nil
    ) {
        self.name = name
        self.label = label
        self.fields = fields
        self.rules = rules
        self.request = request
        self.reply = reply
    }
}
