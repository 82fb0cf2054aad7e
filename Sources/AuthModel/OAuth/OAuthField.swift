package import AuthWire

/// The fields that OAuth asks a person for.
package enum OAuthField {
    package static let clientSecret = "client_secret"
    package static let clientKey = "client_key"
    package static let refreshToken = "refresh_token"
    /// Where the browser came to in the end.
    package static let address = StepField(name: "address", label: "Address the browser ended at", secret: true)
}

extension OAuthProfile {
    /// What the agent says in requests itself; a profile cannot say it in its stead.
    package static let ownParameters = [
        "client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_challenge",
        "code_challenge_method", "code_verifier", "device_code", "dpop_jkt",
        "grant_type", "nonce", "redirect_uri", "refresh_token", "request", "request_uri", "resource",
        "response_mode",
        "response_type", "scope", "state",
    ]

    /// The ways to sign in that OAuth has, the first of which is taken when none is asked for.
    package var methods: [SignInMethod] {
        let secret = clientFields
        var methods = [
            SignInMethod(name: "browser", label: "In the browser", fields: secret, flow: .browser),
            SignInMethod(name: "device", label: "Code on another device", fields: secret, flow: .device),
            SignInMethod(
                name: "paste", label: "In any browser, pasting its last address", fields: secret, flow: .paste),
            SignInMethod(
                name: "import", label: "With a refresh token from elsewhere",
                fields: [StepField(name: OAuthField.refreshToken, label: "Refresh token", secret: true)] + secret,
                flow: .importing),
        ]
        if clientAuthentication != .none, !registers {
            methods.append(
                SignInMethod(name: "service", label: "As the client itself", fields: secret, flow: .service))
        }
        return methods
    }

    /// By what the provider knows that it is us.
    var clientFields: [StepField] {
        // Who registers us gives the secret too.
        switch registers ? .none : clientAuthentication {
        case .none: []
        case .basic, .post: [StepField(name: OAuthField.clientSecret, label: "Client secret", secret: true)]
        case .privateKey: [StepField(name: OAuthField.clientKey, label: "Client's private key (PEM)", secret: true)]
        }
    }

    /// Where an ID token and UserInfo keep the common user (OpenID Connect Core 1.0 §5.1).
    package static let user = UserMap(
        id: [claim("sub")].compactMap(\.self), email: claim("email"),
        name: [[claim("name")], [claim("given_name"), claim("family_name")], [claim("preferred_username")]]
            .map { $0.compactMap(\.self) },
        verified: claim("email_verified"))

    private static func claim(_ name: String) -> JSONPointer? { try? JSONPointer("/" + name) }
}
