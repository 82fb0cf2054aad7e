import Foundation
import TestSupport
import Testing

/// The hosts are network namespaces: the program makes them as root, or in a user namespace.
@Suite("A cluster of five hosts and three members of etcd", .serialized, .timeLimit(.minutes(15)))
struct ClusterFaultTests {
    @Test("keeps its session through ten faults, and each client gets valid tokens in time")
    func tenFaults() async throws {
        // Others each time; a failure names its seed, and `make cluster FAULTS=1 CLUSTER_FIRST=seed` plays that fault again.
        let first = Int.random(in: 1...1_000_000)
        let program = try await Child(
            [Programs.folder + "/cluster-faults", "10", "\(first)"], environment: ProcessInfo.processInfo.environment)
        let output = await program.output()
        #expect(output.status == 0, "\(output.out)\(output.err)")
        #expect(output.out.contains("10 faults, 0 broken rules, 0 sessions lost"), "\(output.out)")
    }

    @Test("is not played with arguments that are not numbers")
    func usage() async throws {
        let output = try await Child(
            [Programs.folder + "/cluster-faults", "many"], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(output.status == 64 && output.out.contains("usage: cluster-faults"), "\(output.out)")
    }
}
