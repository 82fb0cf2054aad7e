package import AuthWire

/// One request of a sign-in.
package enum SignInPart: Sendable, Equatable {
    /// One of ``SignInMethod/before``.
    case before(Int)
    /// ``SignInMethod/challenge``.
    case challenge
    /// ``SignInMethod/first``.
    case first
    /// ``SignInMethod/request``.
    case own
    /// One of ``SignInMethod/next``.
    case step(Int)
    /// Checks a ``SignInKey``.
    case check
}

/// What the response to one request of a sign-in says.
package struct SignInResponse: Sendable {
    /// With an access token; `nil` if the sign-in is not complete.
    package var grant: Grant?
    /// The provider's message to the user.
    package var message: String?
    /// The cookies of the sign-in after this response.
    package var cookies = CookieJar()
    /// What the response asks for; then it has no grant.
    package var step: RequestedStep?
    /// For later requests of the same sign-in.
    package var captured: [String: IssuedValue] = [:]

    package init(grant: Grant? = nil, message: String? = nil, step: RequestedStep? = nil) {
        self.grant = grant
        self.message = message
        self.step = step
    }
}

/// A step that a response asks for.
package struct RequestedStep: Sendable {
    /// In ``SignInMethod/next``.
    package var index: Int
    /// Its fields, with the choices that the response lists.
    package var fields: [StepField]
    /// The values of choices as the provider wrote them, by field.
    package var choices: [String: [IssuedValue]]
    /// For the user.
    package var message: String?
    /// If the response is an error.
    package var error: AgentError?

    package init(
        index: Int, fields: [StepField] = [], choices: [String: [IssuedValue]] = [:], message: String? = nil,
        error: AgentError? = nil
    ) {
        self.index = index
        self.fields = fields
        self.choices = choices
        self.message = message
        self.error = error
    }
}

/// A value from a response, which later requests send as it came.
package struct IssuedValue: Sendable, Equatable {
    /// More is not a value for a request: servers accept headers of 8 to 64 KiB.
    private static let longest = 32 << 10

    package let text: Secret
    /// Not a string: in a body it is the JSON that ``text`` is.
    package let isJSON: Bool

    /// A text, as a user has entered it.
    package init(_ text: Secret) {
        self.text = text
        isJSON = false
    }

    /// - Returns: `nil` for `null`, an empty text, and what is too long.
    package init?(_ json: JSON) {
        guard !json.isNull else { return nil }
        let text = json.stringValue ?? json.text()
        guard !text.isEmpty, text.utf8.count <= Self.longest else { return nil }
        self.text = Secret(text)
        isJSON = json.stringValue == nil
    }

    var json: JSON? { isJSON ? try? JSON(parsing: text.revealBytes()) : nil }
}

/// What a sign-in has for its requests.
package struct SignInValues: Sendable {
    package var environment: String
    /// Answers to the method's fields.
    package var fields: [String: Secret]
    /// Answers to the fields of the present step.
    package var stepFields: [String: IssuedValue] = [:]
    /// Values from responses. They end with the sign-in.
    package var captured: [String: IssuedValue] = [:]

    package init(environment: String, fields: [String: Secret]) {
        self.environment = environment
        self.fields = fields
    }
}
