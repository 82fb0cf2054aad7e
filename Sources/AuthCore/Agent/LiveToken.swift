internal import AuthWire

/// A token as it is given out, rendered once: what is asked most is answered by copying bytes.
package struct LiveToken: Sendable {
    /// A ``TokenResult`` as JSON text. Secret.
    package let json: [UInt8]
    private let end: BootInstant?
    private let usualMinValid: Duration

    /// `nil` where the session gives out none.
    package init?(_ snapshot: SessionSnapshot) {
        guard let token = snapshot.token else { return nil }
        json =
            TokenResult(
                accessToken: token.reveal(), tokenType: snapshot.tokenType, expiresAt: snapshot.status.expiresAt,
                session: snapshot.status.session
            ).json.serialized()
        end = snapshot.end
        usualMinValid = RenewalPolicy.defaultMinValid(life: snapshot.life)
    }

    /// Whether it is good now for as long as the caller asks.
    package func isGood(minValid: Duration?, at now: BootInstant) -> Bool {
        guard let end else { return true }
        return now < end && end - now >= minValid ?? usualMinValid
    }
}
