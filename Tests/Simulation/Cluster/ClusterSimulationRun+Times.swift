import AuthMachines
import AuthModel

/// When a host knows what another one has done, and how long a token lives.
extension ClusterSimulationRun {
    /// How long after a sign-out a host that is connected may still have the session.
    private static let signOutLimit = Duration.seconds(1)
    /// How long after a write callers on other hosts may wait for the tokens.
    private static let deliveryLimit = Duration.milliseconds(100)
    /// How long after a fault the calls that began during it have ended, and the host has connected again.
    private static let aftermath = callLimit + .seconds(1)

    /// The session was removed from etcd, or the host connects after that, or is paused.
    func expectSignOut(at host: SimulatedHost) {
        guard isSignedOut, etcd.record == nil, isConnected(host) else { return }
        queue.add(
            .signOutDue(host: host.number, faults: host.faults.count),
            at: max(now, host.pausedUntil) + Self.signOutLimit)
    }

    func checkSignOut(at host: SimulatedHost, _ faults: Int) {
        guard host.faults.count == faults, etcd.record == nil, host.isSignedIn else { return }
        report(.clusterSignOutTime, "host \(host.number) is connected, and still has the session")
    }

    /// A host has written the tokens of a renewal.
    func expectDelivery(from writer: SimulatedHost) {
        etcd.renewedAt = now
        for host in hosts where host !== writer && isWell(host) {
            queue.add(
                .tokensDue(host: host.number, faults: host.faults.count, written: now), at: now + Self.deliveryLimit)
        }
    }

    private func isWell(_ host: SimulatedHost) -> Bool {
        host.isSignedIn && isConnected(host) && now >= host.pausedUntil && now >= host.faults.end + Self.aftermath
    }

    func checkDelivery(to host: SimulatedHost, _ faults: Int, _ written: Duration) {
        guard host.faults.count == faults, etcd.renewedAt == written, !isSignedOut,
            let stored = etcd.record?.wrappedValue, let tokens = host.record?.wrappedValue.tokens,
            !host.hasUnwrittenTokens
        else { return }
        guard tokens.areSame(as: stored.tokens) else {
            return report(
                .clusterDelivery,
                "host \(host.number) has \(tokens.words), and etcd \(stored.tokens.words) since \(written)")
        }
        // A token that has ended on its way is renewed again.
        guard host.published?.token == stored.tokens.accessToken,
            let caller = host.waiting.first(where: { $0.value <= written })
        else { return }
        report(
            .clusterDelivery, "host \(host.number): caller \(caller.key.number) still waits for \(stored.tokens.words)")
    }

    /// Dates that differ by less than this are not corrected.
    private static let clockTolerance = Duration.seconds(3)

    /// This does not depend on wall clocks: the host that has renewed the token knows when it sent the request, and the
    /// others know the remaining lifetime. It is checked again only if the token or its end changes.
    func checkEnd(_ host: SimulatedHost) {
        guard violation == nil, let end = host.end, let tokens = host.record?.wrappedValue.tokens else { return }
        if let right = host.rightEnd, right.end == end, right.token == tokens.accessToken { return }
        guard let issued = provider.issued[tokens.accessToken.reveal()]?.end,
            abs((time(of: end) - issued).seconds) > Self.clockTolerance.seconds
        else { return host.rightEnd = (end, tokens.accessToken) }
        report(
            .clusterClocks,
            "host \(host.number) takes \(time(of: end)) for the end of \(tokens.words), not \(issued)")
    }
}
