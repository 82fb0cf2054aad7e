import Foundation
import TestSupport
import Testing

/// A short run of `make cluster-scale`, whose figures are in Docs/cluster.md.
@Suite("The measurement of a cluster", .serialized, .timeLimit(.minutes(2)))
struct ClusterScaleTests {
    private static let program = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "ClusterScale/cluster-scale").path

    @Test(
        "counts hosts, and finds that no user can read, write or watch what belongs to another one",
        arguments: ["3.4", "3.5"])
    func short(version: String) async throws {
        let programs = version == "3.4" ? EtcdMembers.Programs.debian : try .pypi()
        let output = try await Child(
            [
                "python3", Self.program, "--etcd", programs.etcd, "--hosts", "1,4", "--renewals", "2", "--users", "12",
                "--samples", "3",
            ], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(output.status == 0, "\(output)")
        let rows = output.out.split(separator: "\n").compactMap { line in
            line.firstMatch(of: /^\| ([0-9]+|none[^|]*) \|/).map { String($0.1) }
        }
        #expect(rows == ["1", "4", "4", "none, without `auth enable`", "10", "12"], "\(output.out)")
        #expect(output.out.contains("etcd \(version)."), "\(output.out)")
    }
}
