/// When the provider asks to try again (RFC 9110 §10.2.3).
package enum RetryAfter {
    /// The longest accepted wait: one wrong header must not stop a session forever.
    static let longest = Duration.seconds(86_400)

    /// Seconds, or a date relative to the response's own `Date`, so that a wrong clock on either side does no harm.
    package static func read(_ reply: HTTPResponse, sentAt: WallTime?) -> Duration? {
        guard let text = reply.header("Retry-After")?.withoutSpaceAround else { return nil }
        if let wait = CacheControl.seconds(text) { return min(wait, longest) }
        let century = sentAt ?? WallTime(unixSeconds: 0)
        let answeredAt = reply.header("Date").flatMap { HTTPDate.parse($0, now: century) }
        guard let now = answeredAt ?? sentAt, let date = HTTPDate.parse(text, now: now) else { return nil }
        return min(max(.zero, date - now), longest)
    }
}
