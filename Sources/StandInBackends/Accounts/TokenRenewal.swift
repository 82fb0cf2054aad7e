package struct TokenRenewal: Sendable, Equatable {
    package let former: String
    package let token: String
    /// When it happened. The response is sent later.
    package let at: ContinuousClock.Instant
}
