import ClusterTrial
import Testing

@Suite("The leaders of etcd")
struct LeaderTermsTests {
    private static let start = ContinuousClock.now
    private static func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    @Test("an election counts for a token that was issued before it and served after it, even after the next reading")
    func election() {
        var leaders = LeaderTerms(1, at: Self.at(0))
        leaders.note(1, at: Self.at(10))
        leaders.note(2, at: Self.at(20))
        leaders.note(2, at: Self.at(30))
        #expect(leaders.mayHaveChanged(from: Self.at(15), to: Self.at(27)))
        #expect(leaders.mayHaveChanged(from: Self.at(5), to: Self.at(12)))
        #expect(!leaders.mayHaveChanged(from: Self.at(21), to: Self.at(33)))
        #expect(!leaders.mayHaveChanged(from: Self.at(1), to: Self.at(9)))
    }

    @Test("if a term is unknown, there may have been an election")
    func unknown() {
        var leaders = LeaderTerms(1, at: Self.at(0))
        leaders.note(nil, at: Self.at(10))
        leaders.note(1, at: Self.at(20))
        leaders.note(1, at: Self.at(30))
        #expect(leaders.mayHaveChanged(from: Self.at(1), to: Self.at(2)))
        #expect(leaders.mayHaveChanged(from: Self.at(11), to: Self.at(12)))
        #expect(!leaders.mayHaveChanged(from: Self.at(21), to: Self.at(29)))
    }
}
