/// What a request with a refresh token did.
package struct OAuthRenewal: Sendable, Equatable {
    package enum Refusal: Error, Sendable, Equatable {
        /// It was replaced, and its grace period is over. Its session has ended with this request.
        case reused
        /// Its session had ended before.
        case ended
        /// It was never issued, or is bound to another key.
        case unknown
    }

    package enum Outcome: Sendable, Equatable {
        /// - Parameter isRepeated: it had been replaced before, and was accepted because of its grace period.
        case renewed(accessToken: String, isRepeated: Bool)
        case refused(Refusal)
    }

    /// When it was carried out. The response is sent later.
    package let at: ContinuousClock.Instant
    /// The refresh token that was sent.
    package let sent: String
    /// The address of the client.
    package let client: String?
    package let outcome: Outcome

    package init(at: ContinuousClock.Instant = .now, sent: String, client: String?, outcome: Outcome) {
        self.at = at
        self.sent = sent
        self.client = client
        self.outcome = outcome
    }
}

/// What an access token is to its server.
package struct OAuthStanding: Sendable, Equatable {
    package let issuedAt: ContinuousClock.Instant
    package let endsAt: ContinuousClock.Instant
    /// When it, or its session, was revoked; `nil`: it was not.
    package let revokedAt: ContinuousClock.Instant?

    package init(
        issuedAt: ContinuousClock.Instant, endsAt: ContinuousClock.Instant, revokedAt: ContinuousClock.Instant? = nil
    ) {
        self.issuedAt = issuedAt
        self.endsAt = endsAt
        self.revokedAt = revokedAt
    }
}
