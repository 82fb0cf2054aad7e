package import AuthWire

/// What a sign-in does if a response asks for more: a second factor, the choice of a tenant, or waiting for a link to be
/// opened.
package struct SignInStep: Sendable, Equatable {
    package var rule: ResponseRule
    package var fields: [StepField]
    /// Rules that answers must satisfy before anything is sent, by field.
    package var rules: [String: [FieldRule]]
    /// Fields that are chosen from a list in the response.
    package var choices: [String: ChoiceList]
    /// For the user; `nil`: the provider's message in the response.
    package var message: StepMessage?
    /// Values of the response that asks for this step.
    package var captures: [Capture]
    package var request: RequestTemplate
    /// Overrides that of the method.
    package var reply: ResponseMap?
    /// The request is repeated until the user has done something elsewhere.
    package var poll: StepPoll?

    package init(
        rule: ResponseRule, fields: [StepField] = [], rules: [String: [FieldRule]] = [:],
        choices: [String: ChoiceList] = [:], message: StepMessage? = nil, captures: [Capture] = [],
        request: RequestTemplate, reply: ResponseMap? = nil, poll: StepPoll? = nil
    ) {
        self.rule = rule
        self.fields = fields
        self.rules = rules
        self.choices = choices
        self.message = message
        self.captures = captures
        self.request = request
        self.reply = reply
        self.poll = poll
    }
}

/// A list in a response, from which the user chooses.
package struct ChoiceList: Sendable, Equatable {
    package var list: JSONPointer
    /// In an element of the list.
    package var value: JSONPointer
    /// The same; `nil`: the value.
    package var label: JSONPointer?

    package init(list: JSONPointer, value: JSONPointer, label: JSONPointer? = nil) {
        self.list = list
        self.value = value
        self.label = label
    }
}

package enum StepMessage: Sendable, Equatable {
    case text(String)
    case pointer(JSONPointer)
}

/// A value of a response, for later requests of the same sign-in.
package struct Capture: Sendable, Equatable {
    package var name: String
    package var place: ValuePlace

    package init(name: String, place: ValuePlace) {
        self.name = name
        self.place = place
    }
}

package struct StepPoll: Sendable, Equatable {
    package var interval: Duration
    package var lifetime: Duration
    /// Responses that say "not yet"; `nil`: those that ask for the step.
    package var pending: ResponseRule?

    package init(interval: Duration, lifetime: Duration, pending: ResponseRule? = nil) {
        self.interval = interval
        self.lifetime = lifetime
        self.pending = pending
    }
}

extension SignInMethod {
    /// Where the values with this name come from.
    func places(ofCapture name: String) -> [ValuePlace] {
        let requests = before + [challenge?.request, first?.request, request].compactMap(\.self) + next.map(\.request)
        return (requests.flatMap(\.captures) + next.flatMap(\.captures)).filter { $0.name == name }.map(\.place)
    }

    /// Whether a field is requested before a challenge is sent.
    package func isAskedFirst(_ field: String) -> Bool {
        guard let challenge else { return false }
        return (before + [challenge.request]).contains { ProviderProfile.uses($0, field: field) }
    }
}
