package import AuthModel
package import AuthWire

/// A token that is rendered once: the most frequent request is answered by copying bytes. A class, so that a request
/// retains one object.
package final class LiveToken: Sendable {
    package let session: SessionName
    /// Another token has another number.
    package let number: UInt64
    package let token: Secret
    /// A ``TokenResult`` as JSON text, without time-dependent members and the last brace. Secret.
    package let head: [UInt8]
    private let end: BootInstant?
    private let usualMinValid: Duration

    /// `nil` if the session has no valid token.
    package init?(_ snapshot: SessionSnapshot, number: UInt64 = 0) {
        guard let token = snapshot.token, !snapshot.isSuspect else { return nil }
        session = snapshot.status.session
        self.number = number
        self.token = token
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

    /// What follows ``head`` except for this time and the last brace.
    package static let validKey: StaticString = #","valid_ms":"#

    /// How long it is valid from now on; `nil` if the provider does not say.
    package func validMilliseconds(at now: BootInstant) -> Int64? {
        guard let end else { return nil }
        return max(0, end.milliseconds(after: now))
    }

    /// A ``TokenResult`` as JSON text. Secret.
    package func json(at now: BootInstant) -> [UInt8] {
        head + (validMilliseconds(at: now).map { Array("\(Self.validKey)\($0)".utf8) } ?? []) + [UInt8(ascii: "}")]
    }
}
