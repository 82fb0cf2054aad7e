package import AuthModel
import AuthWire

/// A targeted token. It exists only in memory: another one can be fetched as long as the session exists.
package struct TargetedToken: Sendable {
    package let accessToken: Secret
    let tokenType: String
    let expiresAt: WallTime?
    let life: MeasuredLife
    /// As the provider lists them (RFC 6749 §5.1).
    let scopes: [String]?
    /// The provider issued the session's own token once more.
    private let isOwn: Bool
    /// ``SessionMachine/rotations`` when it was received.
    var rotation: UInt64 = 0

    /// `nil` if the response has no token.
    init?(_ grant: Grant, of record: SessionRecord, sentAt: Moment) {
        guard let token = grant.accessToken else { return nil }
        accessToken = token
        scopes = grant.scopes
        isOwn = token == record.tokens.accessToken
        tokenType = grant.tokenType ?? "Bearer"
        expiresAt = grant.expiresAt
        life = MeasuredLife(start: sentAt.boot, length: grant.expiresAt.map { max(.zero, $0 - grant.issuedAt) })
    }

    /// Valid for as long as the caller requires, or so young that another one would not be better.
    func isEnough(_ minValid: Duration?, _ now: Moment) -> Bool {
        !life.isOver(at: now.boot)
            && (life.isEnough(minValid, at: now.boot) || life.isTooYoungToReject(at: now.boot))
    }

    func result(of record: SessionRecord) -> TokenResult {
        var result = TokenResult(
            accessToken: accessToken.reveal(), tokenType: tokenType, expiresAt: expiresAt?.unixSeconds,
            session: record.session)
        result.granted = scopes
        result.isOwn = isOwn || accessToken == record.tokens.accessToken
        return result
    }
}
