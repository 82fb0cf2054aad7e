internal import AuthMachines
internal import AuthModel
internal import AuthWire

/// Why a call of a provider's API was not made, or did not succeed.
extension AgentError {
    static func signInHasEnded(_ session: SessionName) -> AgentError {
        AgentError(
            .denied,
            "Session \(session) was signed out of, or signed in again, during this call. Repeat the call if it is to be made "
                + "with the present sign-in.", cause: "other_sign_in")
    }

    static func tokenRefused(
        _ profile: ProviderProfile, _ session: SessionName, _ error: AgentError
    ) -> AgentError {
        AgentError(
            .refused,
            "\(profile.title) did not accept the access token for this call, but session \(session) is valid: "
                + "the account may lack the right.", cause: tokenRefusal, httpStatus: error.httpStatus,
            providerMessage: error.providerMessage, details: error.details)
    }

    /// A 401 to a body that its client can read only once.
    static func bodyIsSpent(_ error: AgentError) -> AgentError {
        AgentError(
            .refused,
            "The provider refused the token, and the body can be read only once. The token was renewed: "
                + "send the request again.", cause: "body_once", httpStatus: error.httpStatus,
            providerMessage: error.providerMessage)
    }

    /// The API names the server that issues tokens for it. The session is valid elsewhere, and another sign-in would not help.
    static func notForThisAPI(_ error: AgentError) -> AgentError {
        var error = error
        error.message +=
            " The session is valid. If this API requires separate tokens, set `resource` in the profile "
            + "(resource_metadata names it), or get one with --audience."
        return error
    }

    /// A nonce was asked for when the body had been read (RFC 9449 §9); the next proof has it.
    static let bodyIsSpentOnChallenge = AgentError(
        .providerError,
        "The provider requires a nonce in the proof, and the body can be read only once. Send the request again.",
        cause: DPoPProof.challenge, retryable: true)

    /// What is refused is the proof, not the token.
    static func wantsNonceAgain(_ error: AgentError) -> AgentError {
        AgentError(
            .providerError, "The provider requires another nonce in the proof, although it had just sent one.",
            cause: DPoPProof.challenge, httpStatus: error.httpStatus, providerMessage: error.providerMessage,
            retryable: true)
    }

    static func unknownEndpoint(_ name: String, of profile: ProviderProfile) -> AgentError {
        guard !profile.endpoints.isEmpty else {
            return AgentError(
                .unknownEndpoint,
                "The profile of \(profile.title) has no endpoints: `authc request METHOD PATH` sends any request.")
        }
        let near = Suggestion.nearest(to: name, among: profile.endpoints.map(\.name))
        let meant = near.map { " (did you mean \($0)?)" } ?? ""
        return AgentError(
            .unknownEndpoint,
            "\(profile.title) has no endpoint of that name\(meant): `authc provider show \(profile.name) --endpoints` "
                + "shows what there is.")
    }
}
