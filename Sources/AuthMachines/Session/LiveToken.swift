package import AuthModel
internal import AuthWire

/// A token that is rendered once: the most frequent request is answered by copying bytes.
package struct LiveToken: Sendable {
    /// A ``TokenResult`` as JSON text, without time-dependent members and the last brace. Secret.
    private let head: [UInt8]
    private let end: BootInstant?
    private let usualMinValid: Duration
    /// When it was requested.
    private var askedAt: BootInstant?

    /// `nil` if the session has no valid token.
    package init?(_ snapshot: SessionSnapshot) {
        guard let token = snapshot.token, !snapshot.isSuspect else { return nil }
        let result = TokenResult(
            accessToken: token.reveal(), tokenType: snapshot.tokenType, expiresAt: snapshot.status.expiresAt,
            session: snapshot.status.session)
        head = Array(result.json.serialized().dropLast())
        end = snapshot.end
        usualMinValid = RenewalPolicy.defaultMinValid(life: snapshot.life)
    }

    /// Whether it is valid now for as long as the caller requires.
    package func isGood(minValid: Duration?, at now: BootInstant) -> Bool {
        guard let end else { return true }
        return now < end && end - now >= minValid ?? usualMinValid
    }

    /// The same token, for a request at that time.
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
