/// What a connection waits for, and how long it may.
package struct FrontTimes: Sendable {
    package enum Wait: Sendable, Equatable {
        /// The head of the first request.
        case head
        /// The next request.
        case next
        /// The client: for the rest of a body, or until it accepts a response.
        case client
        /// Something else than the client.
        case other
        /// The end of the connection, after the last response.
        case end
    }

    package private(set) var wait = Wait.head
    private var since: Duration
    private let limits: FrontLimits

    /// - Parameter now: on any clock that does not go back.
    package init(_ limits: FrontLimits, now: Duration) {
        self.limits = limits
        since = now
    }

    /// The client has made progress, or something else is waited for.
    package mutating func begin(_ wait: Wait, now: Duration) {
        self.wait = wait
        since = now
    }

    /// When to look again; `nil`: not before the next ``begin(_:now:)``.
    package var deadline: Duration? {
        switch wait {
        case .head: since + limits.headTime
        case .next: since + limits.idleTime
        case .client: since + limits.stallTime
        case .other: nil
        case .end: since + limits.lingerTime
        }
    }

    package func isOver(now: Duration) -> Bool { deadline.map { $0 <= now } ?? false }
}
