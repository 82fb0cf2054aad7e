package import AuthModel
internal import AuthWire

/// A token as it is given out, rendered once: what is asked most is answered by copying bytes.
package struct LiveToken: Sendable {
    /// A ``TokenResult`` as JSON text, without what depends on the time and without its last brace. Secret.
    private let head: [UInt8]
    private let end: BootInstant?
    private let usualMinValid: Duration
    /// When it was asked for.
    private var askedAt: BootInstant?

    /// `nil` where the session gives out none.
    package init?(_ snapshot: SessionSnapshot) {
        guard let token = snapshot.token, !snapshot.isSuspect else { return nil }
        let result = TokenResult(
            accessToken: token.reveal(), tokenType: snapshot.tokenType, expiresAt: snapshot.status.expiresAt,
            session: snapshot.status.session)
        head = Array(result.json.serialized().dropLast())
        end = snapshot.end
        usualMinValid = RenewalPolicy.defaultMinValid(life: snapshot.life)
    }

    /// Whether it is good now for as long as the caller asks.
    package func isGood(minValid: Duration?, at now: BootInstant) -> Bool {
        guard let end else { return true }
        return now < end && end - now >= minValid ?? usualMinValid
    }

    /// The same, for an answer at that time.
    package func asked(at now: BootInstant) -> LiveToken {
        var token = self
        token.askedAt = now
        return token
    }

    /// A ``TokenResult`` as JSON text. Secret.
    package var json: [UInt8] {
        guard let end, let askedAt else { return head + [UInt8(ascii: "}")] }
        return head + Array(",\"valid_ms\":\(max(.zero, end - askedAt).wholeMilliseconds)}".utf8)
    }
}
