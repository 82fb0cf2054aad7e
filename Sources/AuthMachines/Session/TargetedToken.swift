package import AuthModel
import AuthWire

/// A token for one aim, as it came. It is in memory alone: another can be had as long as the session is there.
package struct TargetedToken: Sendable {
    package let accessToken: Secret
    let tokenType: String
    let expiresAt: WallTime?
    let obtained: BootInstant
    let end: BootInstant?
    let life: Duration?
    /// ``SessionMachine/rotations`` when it came.
    var rotation: UInt64 = 0

    /// `nil` where nothing was given that is a token.
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

    /// Good for as long as the caller asks, or too young for another one to be better.
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
