import Foundation
import TestSupport

/// The section of Docs/cluster.md that `make cluster` writes.
package enum ClusterPage {
    package static let heading = "## How soon the other hosts know"
    /// A shorter trial measures too little for the page.
    package static let fewestFaults = 100

    /// - Returns: the page with this section instead of the former one; `nil` if it has no such section.
    package static func replaced(_ page: String, with section: String) -> String? {
        var lines = page.components(separatedBy: "\n")
        guard let start = lines.firstIndex(of: heading) else { return nil }
        let rest = lines[(start + 1)...].firstIndex { $0.hasPrefix("## ") } ?? lines.endIndex
        lines.replaceSubrange((start + 1)..<rest, with: section.components(separatedBy: "\n") + [""])
        return lines.joined(separator: "\n")
    }

    /// Without the heading.
    /// - Parameter machine: when and where it was measured.
    package static func section(_ times: HostTimes, machine: String) -> String {
        let rows = [
            ("a new token, from its issue by the provider to the response of each other host", times.tokens),
            ("the same, from the response of the host that has renewed", times.tokensAfterWrite),
            ("a sign-out, from the request to the response of each other host", times.signOuts),
        ].map { name, all in
            let spread = HostTimes.Spread(all)
            let cells = [spread?.median, spread?.p99, spread?.longest].map { $0?.inWords ?? "" }
            return "| \(name) | \(all.count) | \(cells.joined(separator: " | ")) |"
        }
        return """
            `make cluster` measured this on \(machine).
            Three members of etcd, five hosts with debug builds of authd, and a provider share this machine, and 200 clients ask
            the hosts for tokens. One host after the other renews or signs out, and nothing fails meanwhile:

            | | times | median | p99 | longest |
            |---|---:|---:|---:|---:|
            \(rows.joined(separator: "\n"))

            A token is written to etcd after its issue, and before the host that has renewed responds: the time from the write is
            between the first two rows. \(times.soonTokens) of \(times.tokens.count) tokens arrived within 100 ms of their issue, and
            \(times.soonSignOuts) of \(times.signOuts.count) sign-outs within a second of the request. [How the hosts are watched](decisions/cluster-trial.md).
            """
    }

    /// Writes the section if the trial was long enough.
    /// - Returns: why the page is unchanged; `nil` if the section was written.
    package static func write(_ tally: ClusterTally, to path: String) async throws -> String? {
        guard tally.count >= fewestFaults else { return "\(path) is unchanged: it needs \(fewestFaults) faults" }
        guard tally.faults.isEmpty else { return "\(path) is unchanged: a rule was broken" }
        let page = try String(contentsOfFile: path, encoding: .utf8)
        guard let new = replaced(page, with: section(tally.hostTimes, machine: try await machine())) else {
            throw TrialError("\(path) has no section \(heading)")
        }
        try new.write(toFile: path, atomically: true, encoding: .utf8)
        return nil
    }

    private static func machine() async throws -> String {
        func found(_ pattern: Regex<(Substring, Substring)>, in path: String) -> String? {
            let text = try? String(contentsOfFile: path, encoding: .utf8)
            return text?.firstMatch(of: pattern).map { String($0.1) }
        }
        let processor = found(/model name\s*: (.*)/, in: "/proc/cpuinfo") ?? "an unknown processor"
        let kibibytes = found(/MemTotal:\s*(\d+)/, in: "/proc/meminfo").flatMap { Int($0) } ?? 0
        let kernel = found(/^([0-9.]+)/, in: "/proc/sys/kernel/osrelease") ?? "unknown"
        let etcd = try await Child(
            [EtcdMembers.Programs.debian.etcd, "--version"], environment: ["PATH": "/usr/bin:/bin"]
        ).output().out.firstMatch(of: /etcd Version: (\S+)/).map { String($0.1) }
        let day = Date.now.formatted(.iso8601.year().month().day())
        return "\(day): \(processor), \(ProcessInfo.processInfo.activeProcessorCount) processors, "
            + "\((kibibytes + (1 << 19)) >> 20) GiB, Linux \(kernel), etcd \(etcd ?? "unknown")"
    }
}
