package import AuthModel
package import AuthWire

/// When the token endpoint is asked again, and what its answers mean (RFC 8628 §3.5).
package struct DevicePoll: Sendable {
    package enum Outcome: Sendable {
        /// At ``DevicePoll/nextAt``.
        case again
        case granted(Grant)
        case ended(AgentError)
    }

    /// How much slower each `slow_down` makes us (§3.5).
    private static let slowing = Duration.seconds(5)
    /// However often it says so: a person waits at the other end.
    private static let slowest = Duration.seconds(120)

    package private(set) var nextAt: BootInstant
    package let endsAt: BootInstant
    private var interval: Duration

    package init(_ device: DeviceAuthorization, from start: BootInstant) {
        interval = device.interval
        nextAt = start + device.interval
        endsAt = start + device.lifetime
    }

    /// When there is something to do: to ask again, or to give up.
    package var wakeAt: BootInstant { min(nextAt, endsAt) }

    /// Why nobody is asked any more; `nil`: the code may still be given.
    package func end(at now: BootInstant) -> AgentError? {
        now >= endsAt && now < nextAt ? .deviceCodeEnded : nil
    }

    package mutating func take(_ answer: Result<Grant, ProviderFailure>, at now: BootInstant) -> Outcome {
        switch answer {
        case .success(let grant): return .granted(grant)
        case .failure(let failure):
            let error = failure.error
            switch error.cause {
            case "authorization_pending": break
            case "slow_down": interval = min(interval + Self.slowing, Self.slowest)
            case "access_denied":
                return .ended(AgentError(.denied, "The sign-in was refused on the other device.", cause: error.cause))
            case "expired_token": return .ended(.deviceCodeEnded)
            // A token that we cannot use came of the code, which is good for one.
            case "token_type": return .ended(error)
            default:
                guard case .temporary(_, let retryAfter) = failure else { return .ended(error) }
                // Exponentially, as §3.5 wants it after a connection that timed out.
                interval = min(max(interval * 2, retryAfter ?? .zero), Self.slowest)
            }
            nextAt = now + interval
            return now < endsAt ? .again : .ended(.deviceCodeEnded)
        }
    }
}

extension AgentError {
    fileprivate static let deviceCodeEnded = AgentError(
        .timeout, "The code expired before it was entered: start the sign-in again.", cause: "expired_token")
}
