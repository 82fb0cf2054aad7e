package import AuthWire

/// The fields that OAuth requests from the user.
package enum OAuthField {
    package static let clientID = "client_id"
    package static let clientSecret = "client_secret"
    package static let clientKey = "client_key"
    package static let refreshToken = "refresh_token"
    /// The last address that the browser opened.
    package static let address = StepField(name: "address", label: "Last address of the browser", secret: true)
}

extension OAuthProfile {
    /// Parameters that the agent sets itself; a profile cannot set them.
    package static let ownParameters = [
        "client_assertion", "client_assertion_type", "client_id", "client_secret", "code", "code_challenge",
        "code_challenge_method", "code_verifier", "device_code", "dpop_jkt",
        "grant_type", "nonce", "redirect_uri", "refresh_token", "request", "request_uri", "resource",
        "response_mode",
        "response_type", "scope", "state",
    ]

    /// The sign-in methods of OAuth. The first one is the default. Without discovery, they are those whose endpoint the profile
    /// names.
    package var methods: [SignInMethod] {
        let secret = clientFields
        var methods: [SignInMethod] = []
        let (hasPage, hasDevices) = (endpoints.authorization != nil, endpoints.deviceAuthorization != nil)
        if hasPage || issuer != nil {
            methods.append(SignInMethod(name: "browser", label: "In the browser", fields: secret, flow: .browser))
        }
        if hasDevices || issuer != nil {
            methods.append(SignInMethod(name: "device", label: "Code on another device", fields: secret, flow: .device))
        }
        if hasPage || issuer != nil {
            methods.append(
                SignInMethod(
                    name: "paste", label: "In any browser; paste its last address", fields: secret, flow: .paste))
        }
        methods.append(
            SignInMethod(
                name: "import", label: "With an existing refresh token",
                fields: [StepField(name: OAuthField.refreshToken, label: "Refresh token", secret: true)] + secret,
                flow: .importing))
        if clientAuthentication != .none, !registers, !asksForClient {
            methods.append(
                SignInMethod(name: "service", label: "As the client itself", fields: secret, flow: .service))
        }
        return methods
    }

    /// The fields for client authentication.
    var clientFields: [StepField] {
        if asksForClient {
            return [
                StepField(name: OAuthField.clientID, label: "Client ID", kind: FieldKind.text),
                StepField(name: OAuthField.clientSecret, label: "Client secret", secret: true, optional: true),
            ]
        }
        // A provider that registers us issues the secret too.
        return switch registers ? .none : clientAuthentication {
        case .none: []
        case .basic, .post: [StepField(name: OAuthField.clientSecret, label: "Client secret", secret: true)]
        case .privateKey: [StepField(name: OAuthField.clientKey, label: "Client's private key (PEM)", secret: true)]
        }
    }

    /// The claims of the common user in an ID token and in UserInfo (OpenID Connect Core 1.0 §5.1).
    package static let user = UserMap(
        id: [claim("sub")].compactMap(\.self), email: [claim("email")].compactMap(\.self),
        name: [[claim("name")], [claim("given_name"), claim("family_name")], [claim("preferred_username")]]
            .map { $0.compactMap(\.self) },
        verified: claim("email_verified"))

    private static func claim(_ name: String) -> JSONPointer? { try? JSONPointer("/" + name) }
}
