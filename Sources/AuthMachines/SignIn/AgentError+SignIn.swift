import AuthModel
package import AuthWire

extension AgentError {
    package static let cancelledLogin = AgentError(.denied, "The sign-in was cancelled.")
    static let asksForNothing = AgentError(.busy, "This sign-in asks for nothing now: wait for it.")
    package static let unknownAddress = AgentError(
        .notFound, "This address does not belong to a sign-in in progress.")

    static func noProof(_ authority: ProviderProfile, for profile: ProviderProfile) -> AgentError {
        AgentError(
            .badReply, "\(authority.title) returned no ID token, which \(profile.title) requires.", cause: "id_token",
            retryable: false)
    }

    /// RFC 6749 §5.2, RFC 7591 §3.2.2; RFC 6750 §3.1 has another word for the same at an API.
    package var isUnknownClient: Bool {
        ["invalid_client", "unauthorized_client", "invalid_redirect_uri"].contains(cause)
    }
}
