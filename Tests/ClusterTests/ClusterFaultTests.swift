import Foundation
import TestSupport
import Testing

/// `make cluster` runs it with faults: how late its parts are depends on the machine.
@Suite("The program that interrupts a cluster", .timeLimit(.minutes(1)))
struct ClusterFaultTests {
    @Test("is not run with arguments that are not numbers")
    func usage() async throws {
        let output = try await Child(
            [Programs.folder + "/cluster-faults", "many"], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(output.status == 64 && output.out.contains("usage: cluster-faults"), "\(output.out)")
    }
}
