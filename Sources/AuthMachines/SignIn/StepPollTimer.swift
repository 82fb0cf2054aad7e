package import AuthModel
package import AuthWire

/// When the request of a step is repeated that waits for the user to do something elsewhere.
package struct StepPollTimer: Sendable {
    /// However long the provider does not answer: the user waits.
    private static let longestPause = Duration.seconds(60)

    package private(set) var nextAt: BootInstant
    package let endsAt: BootInstant
    private let interval: Duration
    private var pause: Duration

    package init(_ poll: StepPoll, from start: BootInstant) {
        interval = poll.interval
        pause = poll.interval
        nextAt = start + poll.interval
        endsAt = start + poll.lifetime
    }

    /// When there is something to do: to ask again, or to give up.
    package var wakeAt: BootInstant { min(nextAt, endsAt) }

    /// Whether nothing more is requested.
    package func hasEnded(at now: BootInstant) -> Bool { now >= endsAt && now < nextAt }

    /// The provider says that the user has not done it yet.
    /// - Throws: if there is no time left.
    package mutating func pending(at now: BootInstant) throws(AgentError) {
        pause = interval
        try wait(from: now)
    }

    /// The request failed for now. The pauses become longer, unless the provider says how long they are to be.
    /// - Throws: if there is no time left.
    package mutating func failed(at now: BootInstant, retryAfter: Duration?) throws(AgentError) {
        pause = retryAfter == nil ? max(min(pause * 2, Self.longestPause), interval) : interval
        try wait(from: now, atLeast: retryAfter ?? .zero)
    }

    private mutating func wait(from now: BootInstant, atLeast demanded: Duration = .zero) throws(AgentError) {
        nextAt = now + max(pause, demanded)
        guard now < endsAt else { throw .waitEnded }
    }
}

extension AgentError {
    static let waitEnded = AgentError(
        .timeout, "This was not done in time: start the sign-in again.", cause: "wait_ended")
}
