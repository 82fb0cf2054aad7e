import ClusterTrial
import Testing

@Suite("The times until the other hosts of a cluster know")
struct HostTimesTests {
    private static let start = ContinuousClock.now
    private static func at(_ seconds: Double) -> ContinuousClock.Instant { start + .seconds(seconds) }

    private static func arrival(_ host: String, _ seconds: Double?, token: String? = nil) -> HostTimes.Arrival {
        HostTimes.Arrival(host: host, token: token, at: seconds.map(at))
    }

    @Test("begin with the issue of a token, and with the response to its renewal, for each host that has this token")
    func renewal() {
        var times = HostTimes()
        times.noteRenewal(
            of: "new", by: "a", issued: Self.at(0), done: Self.at(0.25),
            [
                Self.arrival("b", 0.125, token: "new"), Self.arrival("c", 0.5, token: "new"),
                Self.arrival("d", 1, token: "newer"),
            ])
        #expect(times.tokens == [.seconds(0.125), .seconds(0.5)])
        #expect(times.tokensAfterWrite == [.zero, .seconds(0.25)])
        #expect(times.faults == [])
        #expect("\(times)".contains("while nothing fails: 2, 0 of them within 100 ms"), "\(times)")
    }

    @Test("are a fault if a host does not know within the limit")
    func late() {
        var times = HostTimes()
        times.noteRenewal(of: "new", by: "a", issued: Self.at(0), done: Self.at(1), [Self.arrival("b", nil)])
        times.noteSignOut(by: "a", requested: Self.at(0), [Self.arrival("b", 0.5), Self.arrival("c", nil)])
        #expect(times.tokens == [] && times.signOuts == [.seconds(0.5)])
        #expect(times.faults.count == 2 && times.faults.allSatisfy { $0.hasPrefix("while nothing fails: ") })
        var tally = ClusterTally()
        tally.note(times, clients: ["a client waited"])
        #expect(tally.faults.count == 3)
        #expect(tally.report.contains("0 faults, 3 broken rules"), "\(tally.report)")
        #expect(tally.report.contains("sign-outs at the other agents, while nothing fails: 1, 1 of them"))
    }

    @Test("have a median, a p99, which 99 of 100 do not exceed, and a longest one")
    func spread() {
        let spread = HostTimes.Spread((1...200).map { .milliseconds($0) }.shuffled())
        #expect(spread?.median == .milliseconds(101) && spread?.p99 == .milliseconds(198))
        #expect(spread?.longest == .milliseconds(200) && HostTimes.Spread([]) == nil)
        for (count, most) in [(1, 1), (80, 80), (99, 99), (100, 99), (101, 100)] {
            #expect(HostTimes.Spread((1...count).map { .milliseconds($0) })?.p99 == .milliseconds(most), "\(count)")
        }
    }
}
