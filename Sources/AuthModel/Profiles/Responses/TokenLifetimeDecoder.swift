import AuthWire

/// Reads when an access token ends, in the ways in which providers report it.
///
/// An unreadable date counts as missing: rejecting the response for it could lose a rotated refresh token.
enum TokenLifetimeDecoder {
    /// Unix seconds from 1970 to 9999.
    static let dates = 0.0...253_402_300_799

    /// A number above this (the year 5138 in seconds) is in milliseconds, as in JavaScript.
    private static let millisecondsFrom = 1e11

    /// The lifetime first, because it does not depend on the provider's clock; then the date; then the token itself; then
    /// the cookie that contains it.
    /// Dates use the provider's clock.
    static func end(
        in reply: HTTPResponse, _ body: ResponseBody, map: ResponseMap, token: Secret?, sentAt: WallTime
    ) -> WallTime? {
        let skew = reply.skew
        if let value = map.expiresIn?.find(in: reply, body), let end = end(after: value, from: sentAt) { return end }
        if let value = map.expiresAt?.find(in: reply, body), let end = date(value) { return end + (.zero - skew) }
        if map.expiresFromJWT, let end = token.flatMap(JWTClaims.expiry) { return end + (.zero - skew) }
        guard case .cookie(let name) = map.accessToken else { return nil }
        return end(ofCookie: name, in: reply, sentAt: sentAt)
    }

    /// When a cookie that the response sets ends; `nil`: with the session.
    static func end(ofCookie name: String, in reply: HTTPResponse, sentAt: WallTime) -> WallTime? {
        guard let cookie = SetCookie.last(named: name, in: reply) else { return nil }
        if let seconds = cookie.maxAge { return end(after: .number(seconds), from: sentAt) }
        return cookie.expires.map { $0 + (.zero - reply.skew) }
    }

    /// Seconds as a number or string; a negative number means that it ended when it was requested.
    static func end(after value: JSON, from sentAt: WallTime) -> WallTime? {
        guard let seconds = number(value) else { return nil }
        return WallTime(unixSeconds: min(sentAt.unixSeconds + max(0, seconds), dates.upperBound))
    }

    private static func date(_ value: JSON) -> WallTime? {
        if let number = number(value) {
            let seconds = number >= millisecondsFrom ? number / 1000 : number
            return dates.contains(seconds) ? WallTime(unixSeconds: seconds) : nil
        }
        return value.stringValue.flatMap(TimestampParser.parse)
    }

    /// A number of seconds, or its text, as some providers write it.
    static func number(_ value: JSON) -> Double? {
        if let number = value.doubleValue { return number.isFinite ? number : nil }
        guard let text = value.stringValue, !text.isEmpty, text.utf8.count <= 32,
            text.utf8.allSatisfy({ $0.isDigit || "-+.eE".utf8.contains($0) }), let number = Double(text),
            number.isFinite
        else { return nil }
        return number
    }
}
