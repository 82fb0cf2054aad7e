/// The requests of hosts to etcd during some time.
package struct EtcdLoad: Sendable {
    /// For each host, the number of requests of each path.
    package let requests: [[String: Int]]
    package let renewals: Int
    package let violation: HostViolation?

    package func count(of path: String) -> Int { requests.reduce(0) { $0 + ($1[path] ?? 0) } }

    package var total: Int { requests.flatMap(\.values).reduce(0, +) }
}

extension HostSimulationRun {
    /// Longer than another host needs to read what was written.
    private static let reading = Duration.seconds(5)

    func load(in period: Duration) -> EtcdLoad {
        begin()
        let former = coverage.renewals
        etcdRequests = hosts.map { _ in [:] }
        go(until: time.now + period)
        awaitRenewals()
        go(until: time.now + Self.reading)
        let load = EtcdLoad(
            requests: etcdRequests, renewals: coverage.renewals - former, violation: violation)
        end()
        return load
    }
}
