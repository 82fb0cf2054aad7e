package import AuthWire

/// One way to sign in, or another thing that a person does with the account's password: what is asked, and what is sent.
package struct SignInMethod: Sendable, Equatable {
    package var name: String
    package var label: String
    package var fields: [StepField]
    /// By a field's name: what its answer must be like before anything is sent.
    package var rules: [String: [FieldRule]]
    /// What has the provider send a person something that only they can know then.
    package var challenge: Challenge?
    /// Sent before ``request``, which may turn out not to be needed.
    package var first: FirstRequest?
    /// `nil` where ``flow`` says what is sent.
    package var request: RequestTemplate?
    /// How OAuth signs in, where it does.
    package var flow: OAuthFlow?
    /// Overrides the profile's own map where it says something.
    package var reply: ResponseMap?
    /// Whether the account lacks a password afterwards; `nil`: whoever signs in this way may have one or not.
    package var needsPassword: Bool?

    package init(
        name: String, label: String, fields: [StepField], rules: [String: [FieldRule]] = [:],
        challenge: Challenge? = nil, first: FirstRequest? = nil, request: RequestTemplate? = nil,
        flow: OAuthFlow? = nil,
        reply: ResponseMap? = nil, needsPassword: Bool? = nil
    ) {
        self.name = name
        self.label = label
        self.fields = fields
        self.rules = rules
        self.challenge = challenge
        self.first = first
        self.request = request
        self.flow = flow
        self.reply = reply
        self.needsPassword = needsPassword
    }

    /// The field of the account's new password, where there is one.
    package var newPasswordField: StepField? { fields.first { $0.kind == FieldKind.newPassword } }
}

/// A code by e-mail, for one: a request has it sent, and a field takes it.
package struct Challenge: Sendable, Equatable {
    /// The field that takes what was sent; it and those after it that the request does not use are asked afterwards.
    package var field: String
    package var request: RequestTemplate
    /// Where it goes, for the person; `nil` where no field tells.
    package var sentTo: Template?
    /// How long it is good, where the provider's word on that is known.
    package var lifetime: Duration?
    /// How long a person waits before asking for another.
    package var pause: Duration

    /// For providers that say nothing: what most of them ask for.
    package static let usualPause = Duration.seconds(30)

    package init(
        field: String, request: RequestTemplate, sentTo: Template? = nil, lifetime: Duration? = nil,
        pause: Duration = usualPause
    ) {
        self.field = field
        self.request = request
        self.sentTo = sentTo
        self.lifetime = lifetime
        self.pause = pause
    }
}

/// Sent before a sign-in's own request. An answer with a token is the sign-in; after one without, and after those that
/// say "is there already", the sign-in's request follows.
package struct FirstRequest: Sendable, Equatable {
    package var request: RequestTemplate
    package var existingStatuses: Set<Int>

    package init(request: RequestTemplate, existingStatuses: Set<Int> = []) {
        self.request = request
        self.existingStatuses = existingStatuses
    }
}

/// What can be done about a password, by the names that profiles and the protocol have for it.
package enum PasswordAction: String, Sendable, CaseIterable {
    case set
    case change
    case requestReset = "request_reset"
    case reset

    /// Whether it is done with a session's token; the others are for people who cannot sign in.
    package var needsSession: Bool { self == .set || self == .change }
}

/// The kinds of fields that mean something here; clients see them as text.
package enum FieldKind {
    package static let text = "text"
    package static let email = "email"
    package static let password = "password"
    package static let newPassword = "new-password"
    package static let code = "code"
    package static let idToken = "id-token"

    package static let all = [text, email, password, newPassword, code, idToken]
    /// Read without echo unless a profile says otherwise.
    package static let secret: Set = [password, newPassword, idToken]
}
