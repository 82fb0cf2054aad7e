package import AuthModel
import AuthWire

/// A targeted token. It exists only in memory: another one can be fetched as long as the session exists.
package struct TargetedToken: Sendable {
    package let accessToken: Secret
    let tokenType: String
    let expiresAt: WallTime?
    let obtained: BootInstant
    let end: BootInstant?
    let life: Duration?
    /// ``SessionMachine/rotations`` when it was received.
    var rotation: UInt64 = 0

    /// `nil` if the response has no token.
    init?(_ grant: Grant, sentAt: Moment) {
        guard let token = grant.accessToken else { return nil }
        accessToken = token
        tokenType = grant.tokenType ?? "Bearer"
        expiresAt = grant.expiresAt
        obtained = sentAt.boot
        life = grant.expiresAt.map { max(.zero, $0 - grant.issuedAt) }
        end = life.map { sentAt.boot + $0 }
    }

    func isLive(_ now: Moment) -> Bool { end.map { now.boot < $0 } ?? true }

    /// Valid for as long as the caller requires, or so young that another one would not be better.
    func isEnough(_ minValid: Duration?, _ now: Moment) -> Bool {
        guard isLive(now) else { return false }
        guard let end else { return true }
        return end - now.boot >= minValid ?? RenewalPolicy.defaultMinValid(life: life)
            || !RenewalPolicy.canReject(age: now.boot - obtained, life: life)
    }

    func result(_ session: SessionName) -> TokenResult {
        TokenResult(
            accessToken: accessToken.reveal(), tokenType: tokenType, expiresAt: expiresAt?.unixSeconds,
            session: session)
    }
}
