import ClusterTrial
import Foundation
import TestSupport
import Testing

@Suite("The section of Docs/cluster.md that make cluster writes")
struct MeasuredTimesPageTests {
    private static var times: HostTimes {
        let start = ContinuousClock.now
        var times = HostTimes()
        times.noteRenewal(
            of: "new", by: "a", issued: start, done: start + .milliseconds(20),
            [HostTimes.Arrival(host: "b", token: "new", at: start + .milliseconds(30))])
        times.noteSignOut(by: "a", requested: start, [HostTimes.Arrival(host: "b", at: start + .milliseconds(40))])
        return times
    }

    @Test("replaces the former one, and nothing else")
    func replaced() throws {
        let page = "# Title\n\(ClusterPage.heading)\nformer\n\nlines\n\n## Next\nmore\n"
        let new = try #require(ClusterPage.replaced(page, with: "one\ntwo"))
        #expect(new == "# Title\n\(ClusterPage.heading)\none\ntwo\n\n## Next\nmore\n")
        #expect(ClusterPage.replaced(new, with: "one\ntwo") == new)
        #expect(ClusterPage.replaced("# Title\n", with: "one") == nil)
    }

    @Test("names the machine, and has each time with its median, its p99 and the longest one")
    func section() {
        let text = ClusterPage.section(Self.times, machine: "a day: a machine")
        #expect(text.hasPrefix("`make cluster` measured this on a day: a machine.\n"))
        #expect(text.contains("of each other host | 1 | 30 ms | 30 ms | 30 ms |"), "\(text)")
        #expect(text.contains("has renewed | 1 | 10 ms | 10 ms | 10 ms |"), "\(text)")
        #expect(text.contains("| 1 | 40 ms | 40 ms | 40 ms |"), "\(text)")
        #expect(text.contains("1 of 1 tokens arrived within 100 ms"), "\(text)")
    }

    @Test("is not written after a short trial, or after a broken rule")
    func unwritten() async throws {
        let folder = try TemporaryFolder()
        let page = try folder.write("\(ClusterPage.heading)\nformer\n", to: "cluster.md")
        var tally = ClusterTally()
        #expect(try await ClusterPage.write(tally, to: page)?.contains("needs 100 faults") == true)
        for seed in 1...UInt64(ClusterPage.fewestFaults) {
            var outcome = FaultOutcome(FaultPlan(seed: seed, hosts: 5, members: 3))
            outcome.converged = .seconds(1)
            tally.note(outcome)
        }
        tally.note(HostTimes(), clients: ["a client waited"])
        #expect(try await ClusterPage.write(tally, to: page)?.contains("a rule was broken") == true)
        #expect(try String(contentsOfFile: page, encoding: .utf8).contains("former"))
    }

    @Test("is in the page")
    func page() throws {
        #expect(try ClusterPage.replaced(SourceTree.text("Docs/cluster.md"), with: "") != nil)
    }
}
