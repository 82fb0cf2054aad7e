import AuthWire

/// Shows a cluster: its hosts, the members of etcd, and the sessions that a host renews now.
///
/// On a terminal these are tables, never wider than the screen. In a file or pipe each line is about one thing, which
/// its first word names, with whole values and `-` for a missing one, so that all lines with the same word have the
/// same columns.
struct ClusterStatusText {
    let status: ClusterStatus
    let now: Double
    let screen: Screen

    var text: String { (screen.isTerminal ? fitted : plain).joined(separator: "\n") }

    /// What a command names: the host's name, or its ID if several have that name or none is known.
    static func name(of id: String?, in status: ClusterStatus) -> String {
        guard let id else { return "a host with an older authd" }
        guard let host = status.hosts.first(where: { $0.id == id }) else { return id }
        return status.hosts.count { $0.name == host.name } == 1 ? host.name : id
    }

    // MARK: For users

    private var fitted: [String] {
        let tables = [hosts, members, renewals].filter { !$0.rows.isEmpty }.map { $0.lines(on: screen) }
        let notes = self.notes.flatMap { Layout.wrapped($0, on: screen) }
        return Array((tables + [notes]).filter { !$0.isEmpty }.joined(separator: [""]))
    }

    private var hosts: ClusterTable {
        ClusterTable(
            titles: ["HOST", "AUTHD", "STATE", "ID"], least: [12, 5, 17, 32], shrinking: [2, 0], omitting: [3, 1],
            rows: status.hosts.map { host in
                ClusterTable.Row(
                    cells: [
                        host.name + (host.isThis ? " (this host)" : ""), host.version ?? "-",
                        Self.state(host, now: now), host.id,
                    ], colour: host.isConnected == true ? .green : .dim)
            })
    }

    /// `connected`, or when it was.
    static func state(_ host: ClusterHostInfo, now: Double) -> String {
        if host.isConnected == true { return "connected" }
        guard let seenAt = host.seenAt else { return host.isConnected == nil ? "unknown" : "no report" }
        return "last seen \(length(max(0, now - seenAt))) ago"
    }

    /// In one unit: reports are a quarter of an hour apart.
    private static func length(_ seconds: Double) -> String {
        switch seconds {
        case ..<3600: "\(max(1, Int(seconds / 60))) min"
        case ..<(48 * 3600): "\(Int(seconds / 3600)) h"
        default: "\(Int(min(seconds, 1e12) / 86_400)) d"
        }
    }

    private var members: ClusterTable {
        ClusterTable(
            titles: ["ETCD", "STATE", "VERSION", "BEHIND", "SIZE"], least: [24, 13, 7, 6, 8], shrinking: [1, 0],
            omitting: [4, 2, 3],
            rows: status.etcd.map { member in
                let state = member.isLeader ? "leader" : StatusCard.spaced(member.state.rawValue)
                let isFine = member.state == .ready && member.alarms.isEmpty
                return ClusterTable.Row(
                    cells: [
                        member.endpoint, ([state] + member.alarms).joined(separator: ", "), member.version ?? "-",
                        member.behind.map { "\($0)" } ?? "-", member.bytes.map { TransferBar.size($0) } ?? "-",
                    ], colour: isFine ? .green : .red)
            })
    }

    private var renewals: ClusterTable {
        ClusterTable(
            titles: ["RENEWAL", "HOST"], least: [14, 12], shrinking: [1, 0], omitting: [],
            rows: status.renewals.map { renewal in
                ClusterTable.Row(
                    cells: [renewal.session.text, Self.name(of: renewal.host, in: status)], colour: .yellow)
            })
    }

    private var notes: [String] {
        var notes: [String] = []
        if let unprocessed = status.unprocessed, unprocessed > 0 {
            notes.append("This agent has not processed \(unprocessed) changes yet.")
        }
        if status.isRekeying {
            notes.append("A change of the record key has not ended. If no host is changing it now: `authc store rekey`")
        }
        return notes.map(AdvisedCommands.text)
    }

    // MARK: For programs

    private var plain: [String] {
        let hosts = status.hosts.map { host in
            let state = host.isConnected.map { $0 ? "connected" : "away" }
            return [
                "host", host.name, host.version, state, host.seenAt.map(WallClock.utc), host.isThis ? "this" : nil,
                host.id,
            ]
        }
        let members = status.etcd.map { member in
            [
                "etcd", member.endpoint, member.state.rawValue, member.isLeader ? "leader" : nil, member.version,
                member.term.map { "\($0)" }, member.index.map { "\($0)" }, member.behind.map { "\($0)" },
                member.bytes.map { "\($0)" }, member.alarms.isEmpty ? nil : member.alarms.joined(separator: ","),
            ]
        }
        let renewals = status.renewals.map { ["renewal", $0.session.text, $0.host] }
        let authd = [
            "authd", status.revision.map { "\($0)" }, status.processedRevision.map { "\($0)" },
            status.unprocessed.map { "\($0)" }, status.isRekeying ? "rekeying" : nil,
        ]
        return [hosts, members, renewals, [authd]].flatMap(aligned)
    }

    private func aligned(_ rows: [[String?]]) -> [String] {
        let cells = rows.map { $0.map { ($0 ?? "").isEmpty ? "-" : Visible.line($0 ?? "") } }
        let widths = (cells.first ?? []).indices.map { index in cells.map { Layout.width($0[index]) }.max() ?? 0 }
        return cells.map { row in
            let padded = zip(row, widths).dropLast().map {
                Layout.padded($0, to: $1) + String(repeating: " ", count: FittedColumns.gap)
            }
            return padded.joined() + (row.last ?? "")
        }
    }
}
