/// When etcd may have elected a leader, as far as its term shows that.
package struct LeaderTerms: Sendable {
    private var term: Int?
    private var readAt: ContinuousClock.Instant
    /// From one reading of the term to the next one, between which it has changed.
    private var elections: [ClosedRange<ContinuousClock.Instant>] = []

    /// - Parameter term: `nil`: no member said it.
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
