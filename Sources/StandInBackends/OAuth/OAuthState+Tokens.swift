extension OAuthState {
    struct AccessToken: Sendable {
        let family: Int
        var endsAt: Double
        let issuedAt: ContinuousClock.Instant
        let lifetime: Double
        /// When it was revoked by itself.
        var revokedAt: ContinuousClock.Instant?
    }

    struct RefreshToken: Sendable {
        let family: Int
        /// When another one replaced it, in Unix seconds.
        var replacedAt: Double?
    }

    /// The family of a valid refresh token, or the refusal that the client gets.
    func family(ofRefreshToken token: String) throws(Refusal) -> Int {
        do throws(OAuthRenewal.Refusal) {
            return try use(refreshToken: token, thumbprint: nil).family
        } catch {
            throw .oauth("invalid_grant")
        }
    }
}
