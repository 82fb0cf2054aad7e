import Foundation
import TestSupport
import Testing

@Suite("The page about clusters", .timeLimit(.minutes(1)))
struct ClusterPageTests {
    private static let page = "Docs/cluster.md"

    /// How many hosts and sessions each user has, and the start of their row. Tokens are valid for one hour.
    private struct Calculation {
        let (users, hosts, sessions): (Int, Int, Int)
        let row: String
    }

    @Test("calculates the requests of many users from those of a host, of a renewal and of the hosts that read it")
    func calculation() throws {
        let text = try SourceTree.text(Self.page)
        func requests(_ row: Regex<(Substring, Substring)>) throws -> Double {
            let found = try #require(text.firstMatch(of: row))
            return try #require(Double(found.1))
        }
        let idle = try requests(/\| a host, each hour: [^|]* \| (\d+) \| 4 \|/)
        let renewing = try requests(/\| a renewal, on the host that renews: [^|]* \| (\d+), [^|]* \| 2 \|/)
        let reading = try requests(/\| the same on each other host: [^|]* \| (\d+) \| 0 \|/)
        let formula = "\(Int(idle)) × H + S × (\(Int(renewing)) + (H − 1)) / (0.75 × T) requests"
        #expect(reading == 1 && text.contains(formula), "\(formula)")
        for example in [
            Calculation(users: 1, hosts: 5, sessions: 3, row: "1 user, 5 hosts, 3 sessions"),
            Calculation(users: 1, hosts: 500, sessions: 1, row: "1 service, 500 CI runners, 1 session"),
            Calculation(
                users: 10_000, hosts: 2, sessions: 2,
                row: "10,000 users with 2 hosts and 2 sessions each, on one cluster"),
        ] {
            let (users, hosts) = (Double(example.users), Double(example.hosts))
            let renewals = Double(example.sessions) / 0.75
            let hourly = users * (idle * hosts + renewals * (renewing + reading * (hosts - 1)))
            let revisions = users * (4 * hosts + renewals * 2)
            let cells = text.components(separatedBy: "\n").first { $0.hasPrefix("| \(example.row) |") }?
                .components(separatedBy: " | ").dropFirst()
                .compactMap { Double($0.filter { $0.isNumber || $0 == "." }) }
            let found = try #require(cells, "\(example.row)")
            #expect(found.count == 3 && found[0] == hourly.rounded() && found[2] == revisions.rounded(), "\(found)")
            #expect(found.count == 3 && abs(found[1] - hourly / 3600) <= 0.5, "\(found)")
        }
    }

    @Test("has a unit of a member of etcd that systemd accepts without a warning")
    func unit() async throws {
        let text = try SourceTree.text(Self.page)
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
