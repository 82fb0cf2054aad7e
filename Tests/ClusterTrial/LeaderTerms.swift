/// The times at which etcd may have elected a leader, as its term shows.
package struct LeaderTerms: Sendable {
    private var term: Int?
    private var readAt: ContinuousClock.Instant
    /// The intervals between two readings of the term in which it has changed.
    private var elections: [ClosedRange<ContinuousClock.Instant>] = []

    /// - Parameter term: `nil`: no member reported it.
    package init(_ term: Int?, at now: ContinuousClock.Instant) {
        self.term = term
        readAt = now
    }

    package mutating func note(_ term: Int?, at now: ContinuousClock.Instant) {
        if term == nil || term != self.term { elections.append(readAt...now) }
        (self.term, readAt) = (term, now)
    }

    /// Whether there may have been an election in that time.
    package func mayHaveChanged(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) -> Bool {
        elections.contains { $0.lowerBound <= end && start <= $0.upperBound }
    }
}
