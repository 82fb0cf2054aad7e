import AuthWire

/// Turns the state of the cluster into findings. Clocks of hosts are not compared: nothing depends on them.
struct ClusterChecks {
    /// Entries that a member may be behind the others: a busy cluster writes so many in a second.
    private static let entries = 1000
    /// After that, a host will probably not come back.
    private static let away: Double = 30 * 86_400

    private let status: ClusterStatus
    private let info: AgentInfo
    private let now: Double

    init(_ status: ClusterStatus, _ info: AgentInfo, now: Double) {
        (self.status, self.info, self.now) = (status, info, now)
    }

    var findings: [Finding] {
        let found = members + [majority].compactMap(\.self) + agent + hosts
        return found.contains { $0.level == .problem || $0.level == .warning } ? found : found + [summary]
    }

    private var answering: [EtcdMemberInfo] { status.etcd.filter { [.ready, .noLeader].contains($0.state) } }

    private var summary: Finding {
        let connected = status.hosts.count { $0.isConnected == true }
        return .ok(
            .cluster,
            "\(answering.count) of \(status.etcd.count) members of etcd respond; \(connected) of \(status.hosts.count) "
                + "hosts are connected")
    }

    // MARK: etcd

    private var members: [Finding] {
        status.etcd.flatMap { member in
            [state(member), lag(member)].compactMap(\.self) + member.alarms.compactMap { alarm($0, of: member) }
        }
    }

    private func state(_ member: EtcdMemberInfo) -> Finding? {
        let reason = member.message.map { ": \($0)" } ?? ""
        switch member.state {
        case .ready: return nil
        case .notAnswering:
            return .warning(
                .cluster, "\(member.endpoint) does not respond\(reason)",
                hint: "start it, or correct etcd.endpoints with `authc config edit`; authd uses the others")
        case .noLeader:
            return .warning(
                .cluster, "\(member.endpoint) cannot be used now\(reason)",
                hint: "`etcdctl endpoint status --cluster -w table` shows which members are connected")
        case .failed:
            return .warning(
                .cluster, "\(member.endpoint) refuses to show its state\(reason)",
                hint: "check the certificate and the user: `authc config get etcd`")
        case .otherCluster:
            return .problem(
                .cluster, .badSettings,
                "\(member.endpoint) belongs to a different cluster than the endpoints before it",
                hint: "name members of one cluster in etcd.endpoints: `authc config edit`")
        }
    }

    private func lag(_ member: EtcdMemberInfo) -> Finding? {
        guard let behind = member.behind, behind > Self.entries else { return nil }
        return .warning(
            .cluster, "\(member.endpoint) is \(behind) entries behind the other members",
            hint: "check its disk and its network: `etcdctl endpoint status --cluster -w table`")
    }

    /// What to do if etcd has no space left (etcd's "Space quota").
    static let spaceHint = """
        run `etcdctl compact REVISION`, `etcdctl defrag --cluster` and `etcdctl alarm disarm`; \
        `etcdctl endpoint status -w json` shows the revision
        """

    private func alarm(_ name: String, of member: EtcdMemberInfo) -> Finding? {
        // The store's own finding says so.
        guard info.store.cause != "cluster_no_space" || name != "NOSPACE" else { return nil }
        return .problem(
            .cluster, .keyring, "\(member.endpoint) has the alarm \(name)",
            hint: name == "NOSPACE"
                ? "etcd writes nothing: \(Self.spaceHint)"
                : "replace this member, whose data differs from that of the others: `etcdctl member list` shows its ID")
    }

    /// Whether the next failure of a member ends the majority.
    private var majority: Finding? {
        let voters = max(status.voters ?? 0, status.etcd.count)
        let missing = status.etcd.count { $0.state == .notAnswering || $0.state == .noLeader }
        let least = voters / 2 + 1
        // Without a majority the store itself is the problem.
        guard missing > 0, voters - missing == least else { return nil }
        return .warning(
            .cluster, "\(least) of \(voters) members of etcd are left: if another one fails, no session is renewed",
            hint: "start the missing members, which `authc cluster status` shows, before you stop another one")
    }

    // MARK: Hosts

    private var agent: [Finding] {
        var findings: [Finding] = []
        if let unprocessed = status.unprocessed, unprocessed > 0 {
            findings.append(
                .warning(
                    .cluster, "authd has not processed \(unprocessed) changes of other hosts",
                    hint: "if that lasts: \(RestartAdvice.commands(info))"))
        }
        if status.isRekeying {
            findings.append(
                .warning(
                    .cluster, "a change of the record key has not ended: sessions may be sealed with the former one",
                    hint: "if no host is changing it now, `authc store rekey` ends it, and renews the sessions"))
        }
        return findings
    }

    private var hosts: [Finding] { status.hosts.compactMap(host) }

    private func host(_ host: ClusterHostInfo) -> Finding? {
        guard !host.isThis, host.isConnected != nil else { return nil }
        let name = ClusterStatusText.name(of: host.id, in: status)
        let forget = "`authc cluster forget \(name)`"
        guard let version = host.version else {
            return .warning(
                .cluster, "\(name) reports no version: an older authd renews sessions at the same time as others",
                hint: "start a current authd there, or remove the host if it is gone: \(forget)")
        }
        if host.isConnected == false, let seenAt = host.seenAt, now - seenAt > Self.away {
            return .note(
                .cluster, "\(name) was \(ClusterStatusText.state(host, now: now)), and can still read the sessions",
                hint: "if it is gone: \(forget)")
        }
        guard version != info.version else { return nil }
        return .note(
            .cluster, "\(name) has authd \(version), and this host \(info.version)", hint: "update the older one")
    }
}
