package import AuthModel

/// When a token is renewed, and how much life a caller may ask for.
package enum RenewalPolicy {
    /// The share of the lifetime after which a token is renewed: late enough to send few requests, early enough to wait for
    /// the end of an outage.
    package static let share = 0.65...0.85
    /// The same where another host has renewed the session last: that host goes first.
    package static let laterShare = 0.87...0.95
    /// A renewal begins at least this long before the end, or a quarter of a short life; half as long if another host goes
    /// first.
    package static let margin = Duration.seconds(30)
    /// The least time between a renewal and the next one without a request, even for a very short lifetime.
    package static let minInterval = Duration.seconds(5)
    /// Between a failed try and the next one that a caller's request begins: callers in a loop do not flood the provider,
    /// and wait no longer than a user would before the next try.
    package static let callerSpacing = Duration.seconds(5)
    /// A token with less left than this is returned only after a try to renew it.
    package static let minUseful = Duration.seconds(10)
    /// A 401 on a token younger than this says nothing about its age: renewing again would flood the provider.
    package static let minRejectAge = Duration.seconds(30)
    /// A stored token that was issued later than this from now: the clock was wrong then, or is now.
    package static let clockTolerance = Duration.seconds(60)
    /// A provider may count the life of a token from a later moment than its client. So it may consider the token
    /// valid, and refuse the renewal, until this long after the end.
    package static let endTolerance = Duration.seconds(2)
    /// How long the response with a token may have taken, if it was not measured in this run: the limit of a request.
    package static let longestResponse = Duration.seconds(30)
    /// The least time between two tries after the token's end.
    private static let recheckSpacing = Duration.seconds(5)
    /// Dates move by less than this all the time, as a time server trims the clock.
    package static let noticeableShift = Duration.seconds(2)

    /// The deadline for the renewal of a token that lives from `start` to `end`.
    /// - Parameter isLater: whether another host should be first.
    package static func due(
        start: BootInstant, end: BootInstant, isLater: Bool = false, using random: inout SeededRandom
    ) -> BootInstant {
        let share = isLater ? laterShare : share
        let byShare = start + .seconds((end - start).seconds * Double.random(in: share, using: &random))
        return max(start + minInterval, min(byShare, latest(start: start, end: end, isLater: isLater)))
    }

    /// The latest start of a renewal. It leaves time to try again after failures, but not to wait for a host that has ended
    /// during its renewal.
    private static func latest(start: BootInstant, end: BootInstant, isLater: Bool = false) -> BootInstant {
        let margin = min(margin, (end - start) / 4)
        return end - (isLater ? margin / 2 : margin)
    }

    /// When a renewal that was refused because the token may be valid is tried again: once near the end, and then after it,
    /// until the token has surely ended at the provider too.
    static func recheck(_ life: MeasuredLife, after refusal: BootInstant) -> BootInstant? {
        guard let end = life.end, let last = life.endAtProvider else { return nil }
        let near = latest(start: life.start, end: end)
        if refusal < near { return near }
        let first = last - life.slack
        if refusal < first { return life.slack < recheckSpacing ? last : first }
        // The tries before the last one are for callers, who have no token until then.
        let spacing = max(recheckSpacing, refusal - end)
        let next = refusal + spacing
        return max(refusal, next + spacing <= last ? next : last)
    }

    /// When a renewal begins after its obstacle went away (network, sleep): a session without a token, or soon without
    /// one, goes first, and none waits longer than two seconds.
    ///
    /// - Parameter left: of the token's life; `nil` if that has no known end.
    package static func recoverySpread(left: Duration?) -> ClosedRange<Duration> {
        guard let left, left < margin else { return .milliseconds(500)...Duration.seconds(2) }
        return .zero...Duration.milliseconds(500)
    }

    /// The longest wait after a failed try if the token itself has to authorize the next one: at most half of what is left of
    /// its life, so that the tries come closer together as the end comes near.
    static func waitBeforeEnd(left: Duration, using random: inout SeededRandom) -> Duration {
        max(Backoff.shortest, .seconds(left.seconds * Double.random(in: 0.25...0.5, using: &random)))
    }

    /// Between renewals that bring nothing new.
    package static func pause(life: Duration) -> Duration {
        max(Backoff.shortest, min(margin, life / 10))
    }

    /// How long before the end of a session that nothing renews the user is notified; a quarter of a short life.
    package static func endingNotice(life: Duration) -> Duration {
        min(.seconds(600), life / 4)
    }

    /// How long before a refresh token ends the user is notified, who then has to sign in: 7 days and 1 day, if it lives at
    /// least twice as long. Shorter ones are usually replaced before.
    package static func refreshNotices(life: Duration) -> [Duration] {
        [Duration.seconds(7 * 86_400), .seconds(86_400)].filter { $0 <= life / 2 }
    }

    /// The remaining life for a caller that does not say how much it needs.
    package static func defaultMinValid(life: Duration?) -> Duration {
        guard let life else { return .zero }
        return min(minUseful, life / 10)
    }

    /// Whether a 401 on a token of this age can be answered by renewing it.
    package static func canReject(age: Duration, life: Duration?) -> Bool {
        guard let life else { return age >= minRejectAge }
        return age >= min(minRejectAge, life / 4)
    }
}
