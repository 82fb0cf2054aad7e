import Foundation
import TestSupport
import Testing

/// The hosts are network namespaces, which the program creates as root or in a user namespace. Their agents, members of
/// etcd and clients need a processor in time, so Tests/run-suites has a separate stream for this target.
@Suite("A cluster of five hosts and three members of etcd", .serialized, .timeLimit(.minutes(10)))
struct ClusterFaultTests {
    /// Ten short faults, of every kind (``FaultPlanTests/ten()``). `make cluster FAULTS=1 CLUSTER_FIRST=seed` plays one
    /// of them again, but the machine's timing differs each time.
    static let first: UInt64 = 14_791

    @Test("keeps its session through ten faults, and each client gets valid tokens in time")
    func tenFaults() async throws {
        let output = try await Child(
            [Programs.folder + "/cluster-faults", "10", "\(Self.first)"],
            environment: ProcessInfo.processInfo.environment
        ).output()
        #expect(output.status == 0, "\(output.out)\(output.err)")
        #expect(output.out.contains("10 faults, 0 broken rules, 0 sessions lost"), "\(output.out)")
        // How soon depends on how busy the machine is. That each host knows it is a rule.
        let counts = output.out.matches(of: /at the other agents, while nothing fails: (\d+),/).compactMap { Int($0.1) }
        #expect(counts.count >= 2 && counts.allSatisfy { $0 > 0 }, "\(output.out)")
    }

    @Test("is not run with arguments that are not numbers")
    func usage() async throws {
        let output = try await Child(
            [Programs.folder + "/cluster-faults", "many"], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(output.status == 64 && output.out.contains("usage: cluster-faults"), "\(output.out)")
    }
}
