package import AuthModel
package import AuthWire

/// When the token endpoint is asked again, and what its responses mean (RFC 8628 §3.5).
package struct DevicePoll: Sendable {
    /// How much slower each `slow_down` makes us (§3.5).
    private static let slowing = Duration.seconds(5)
    /// However often it says so: the user waits.
    private static let slowest = Duration.seconds(120)

    package private(set) var nextAt: BootInstant
    package let endsAt: BootInstant
    private var interval: Duration
    /// Longer after failed requests.
    private var pause: Duration

    package init(_ device: DeviceAuthorization, from start: BootInstant) {
        interval = device.interval
        pause = device.interval
        nextAt = start + device.interval
        endsAt = start + device.lifetime
    }

    /// When there is something to do: to ask again, or to give up.
    package var wakeAt: BootInstant { min(nextAt, endsAt) }

    /// Why the endpoint is not asked any more; `nil`: the code may still be entered.
    package func end(at now: BootInstant) -> AgentError? {
        now >= endsAt && now < nextAt ? .deviceCodeEnded : nil
    }

    /// - Returns: `nil` if the endpoint is to be asked again at ``nextAt``.
    /// - Throws: why the sign-in ends.
    package mutating func handle(
        _ result: Result<Grant, ProviderFailure>, at now: BootInstant
    ) throws(AgentError) -> Grant? {
        switch result {
        case .success(let grant): return grant
        case .failure(let failure):
            let error = failure.error
            switch error.cause {
            case "authorization_pending": pause = interval
            case "slow_down":
                interval = min(interval + Self.slowing, Self.slowest)
                pause = interval
            case "access_denied":
                throw AgentError(.denied, "The sign-in was refused on the other device.", cause: error.cause)
            case "expired_token": throw .deviceCodeEnded
            // The code has brought a token that we cannot use, and it is valid for one token.
            case "token_type": throw error
            default:
                guard case .temporary = failure else { throw error }
                // Exponentially, as §3.5 requires after a connection that timed out.
                pause = min(pause * 2, Self.slowest)
            }
            var demanded = Duration.zero
            if case .temporary(_, let retryAfter?) = failure { demanded = retryAfter }
            nextAt = now + max(pause, demanded)
            guard now < endsAt else { throw .deviceCodeEnded }
            return nil
        }
    }
}

extension AgentError {
    fileprivate static let deviceCodeEnded = AgentError(
        .timeout, "The code expired before it was entered: start the sign-in again.", cause: "expired_token")
}
