import Foundation
import TestSupport
import Testing

@Suite("The page about clusters", .timeLimit(.minutes(1)))
struct ClusterPageTests {
    @Test("has a unit of a member of etcd that systemd accepts without a warning")
    func unit() async throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Docs/cluster.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let unit = try #require(
            text.split(separator: "```ini\n").first { $0.contains("ExecStart=/usr/bin/etcd") }
                .flatMap { $0.split(separator: "```").first })
        let folder = try TemporaryFolder()
        let file = try folder.write(String(unit), to: "etcd.service")
        let output = try await Child(
            ["systemd-analyze", "verify", "--man=no", file], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        // Unknown keys only cause warnings.
        #expect(output.status == 0 && output.out + output.err == "", "\(output)")
    }
}
