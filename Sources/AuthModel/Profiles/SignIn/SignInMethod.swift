package import AuthWire

/// A way to sign in, or a request about the account's password: its fields and its requests.
package struct SignInMethod: Sendable, Equatable {
    package var name: String
    package var label: String
    package var fields: [StepField]
    /// Rules that answers must satisfy before anything is sent, by field.
    package var rules: [String: [FieldRule]]
    /// Sent before all others, in their order.
    package var before: [RequestTemplate] = []
    /// Makes the provider send the user a code.
    package var challenge: Challenge?
    /// Sent before ``request``, which may turn out to be unnecessary.
    package var first: FirstRequest?
    /// `nil` if ``flow`` defines the requests, or for a ``key``.
    package var request: RequestTemplate?
    /// The answers are the access token.
    package var key: SignInKey?
    /// What responses can ask for. The first one whose rule holds is used.
    package var next: [SignInStep] = []
    /// For sign-in with OAuth.
    package var flow: OAuthFlow?
    /// Overrides the profile's own map.
    package var reply: ResponseMap?
    /// Whether the account has no password afterwards; `nil` if it depends on the user.
    package var needsPassword: Bool?

    package init(
        name: String, label: String, fields: [StepField], rules: [String: [FieldRule]] = [:],
        request: RequestTemplate? = nil, flow: OAuthFlow? = nil
    ) {
        self.name = name
        self.label = label
        self.fields = fields
        self.rules = rules
        self.request = request
        self.flow = flow
    }

    package var newPasswordField: StepField? { fields.first { $0.kind == FieldKind.newPassword } }
    /// The account's password: a profile may also give a field of this name no kind, and call it secret.
    package var passwordField: StepField? {
        fields.first { $0.kind == FieldKind.password } ?? fields.first { $0.secret && $0.name == FieldKind.password }
    }
}

/// A code, for example by e-mail: one request sends it, and a field accepts it.
package struct Challenge: Sendable, Equatable {
    /// The field for the code. This field, and later ones that the request does not use, are requested after the challenge.
    package var field: String
    package var request: RequestTemplate
    /// The destination, shown to the user; `nil` if no field has it.
    package var sentTo: Template?
    /// How long it is valid, if that is known.
    package var lifetime: Duration?
    /// How long the user waits before requesting another one.
    package var pause: Duration

    /// If the provider does not say; most require this.
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

/// Sent before a sign-in's own request. A response with a token completes the sign-in. After a response without one, and after
/// the statuses for an existing account, the sign-in's request follows.
package struct FirstRequest: Sendable, Equatable {
    package var request: RequestTemplate
    package var existingStatuses: Set<Int>

    package init(request: RequestTemplate, existingStatuses: Set<Int> = []) {
        self.request = request
        self.existingStatuses = existingStatuses
    }
}

/// An API key or personal token: nothing is requested for it, and nothing renews it.
package struct SignInKey: Sendable, Equatable {
    /// The access token, made of the answers.
    package var token: Template
    /// Shows whether the provider accepts it; `nil`: a request that the profile has anyway.
    package var check: RequestTemplate?

    package init(token: Template, check: RequestTemplate? = nil) {
        self.token = token
        self.check = check
    }
}

/// Requests about a password, with their names in profiles and the protocol.
package enum PasswordAction: String, Sendable, CaseIterable {
    case set
    case change
    case requestReset = "request_reset"
    case reset

    /// Whether it requires a session's token; the others are for users who cannot sign in.
    package var needsSession: Bool { self == .set || self == .change }
}

/// The kinds of fields with a meaning here; clients show them as text.
package enum FieldKind {
    package static let text = "text"
    package static let email = "email"
    package static let password = "password"
    package static let newPassword = "new-password"
    package static let code = "code"
    package static let idToken = "id-token"
    package static let key = "key"

    package static let all = [text, email, password, newPassword, code, idToken, key]
    /// An account with one of these has a password.
    package static let passwords: Set = [password, newPassword]
    /// Read without echo unless a profile says otherwise.
    package static let secret: Set = [password, newPassword, idToken, key]
}
