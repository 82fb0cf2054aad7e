import AuthMachines
import AuthModel
import AuthWire
import Testing

@testable import AuthAgent

@Suite("Statistics of requests for tokens")
struct TokenRequestStatisticsTests {
    private func failure(_ cause: String?) -> Result<Grant, ProviderFailure> {
        .failure(.temporary(AgentError(.providerUnreachable, "down", cause: cause), retryAfter: nil))
    }

    @Test("counts outcomes and durations by provider")
    func counts() throws {
        let statistics = TokenRequestStatistics()
        let grant = Result<Grant, ProviderFailure>.success(Grant(issuedAt: WallTime(unixSeconds: 0), expiresAt: nil))
        statistics.record("b", grant, duration: .milliseconds(50))
        statistics.record("b", grant, duration: .milliseconds(51))
        statistics.record("b", failure(nil), duration: .seconds(31))
        statistics.record("a", failure("no_network"), duration: .zero)
        #expect(statistics.all.map(\.provider) == ["a", "b"])
        let counts = try #require(statistics.all.last)
        #expect(counts.succeeded == 2 && counts.total == 3 && counts.failed == ["provider_unreachable": 1])
        #expect(counts.within["50"] == 1 && counts.within["100"] == 2 && counts.within["30000"] == 2)
        #expect(counts.duration == .milliseconds(31_101))
    }

    @Test("counts invalid causes, and too many of them, together")
    func causes() throws {
        let statistics = TokenRequestStatistics()
        for number in 1...40 { statistics.record("a", failure("cause-\(number)"), duration: .zero) }
        statistics.record("a", failure("cause-1"), duration: .zero)
        for cause in ["", "a b", "a\"\u{301}", String(repeating: "x", count: 65)] {
            statistics.record("a", failure(cause), duration: .zero)
        }
        let failed = try #require(statistics.all.first).failed
        #expect(failed.count == 33 && failed["other"] == 12 && failed["cause-1"] == 2)
    }
}
