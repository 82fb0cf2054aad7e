/// One token put in the place of another.
package struct TokenRenewal: Sendable, Equatable {
    package let former: String
    package let token: String
    /// When it was done; the answer goes out later.
    package let at: ContinuousClock.Instant
}
