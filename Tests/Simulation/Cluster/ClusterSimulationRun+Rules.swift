import AuthMachines
import AuthModel
import AuthWire

/// The rules that hold whatever happens to the hosts.
extension ClusterSimulationRun {
    /// How long a renewal takes without a fault.
    private static let longestRenewal = Duration.seconds(10)

    /// At most one renewal is in progress in the cluster. It is in progress until the response arrives or the time limit
    /// of the request ends, even if the process that has sent it was killed. One without etcd does not count: it replaces
    /// no refresh token. If that stays, the result of one without etcd may end the wait for another one.
    func checkAlone(_ host: SimulatedHost) {
        guard schedule.rotates else { return }
        for request in requests.values.sorted(by: { $0.sentAt < $1.sentAt })
        where request.isHeld && now < request.sentAt + Self.requestLimit {
            report(
                .clusterAlone,
                "host \(host.number) sends a refresh token, and host \(request.host) did at \(request.sentAt)")
        }
    }

    /// The provider gets a used token, even one that it still accepts, only if the token that replaced it was lost on
    /// its way to etcd. A sign-out ends the session anyway.
    func checkReuse(_ request: ProviderRequest) {
        guard let account = provider.account(of: request.tokens), !provider.accounts[account].revoked,
            provider.number(of: request.tokens.refreshToken) != provider.accounts[account].current
        else { return }
        coverage.reuses += 1
        guard let commit = lastCommit else { return report(.clusterReuse, "a refresh token that was never good") }
        let cause = interruption(of: commit) ?? request.loss.flatMap { $0.commit == commit.request ? $0.cause : nil }
        guard cause != nil || isSignedOut else {
            return report(.clusterReuse, "host \(request.host) sends a used token; it was replaced at \(commit.at)")
        }
        if !provider.accepts(request.tokens, at: now) { lossCause = cause }
    }

    func knownLoss() -> (commit: Int, cause: Interruption)? {
        guard let commit = lastCommit, let cause = interruption(of: commit) else { return nil }
        return (commit.request, cause)
    }

    /// What has kept the host that was given the newest tokens from writing them; `nil`: nothing, or they are in etcd.
    private func interruption(of commit: Commit) -> Interruption? { commit.isWritten ? nil : commit.interruption }

    /// Another host is about to send what it finds in etcd: from now on, the one that was given the newest tokens cannot
    /// write them. It must have had its time for that, unless it could not use it.
    func claimed(by host: SimulatedHost) {
        guard let commit = lastCommit, !commit.isWritten, commit.interruption == nil, commit.host != host.number,
            now - commit.at >= LeaseMachine.writeTime,
            hosts[commit.host].faults.wasCutOff(since: commit.receivedAt, at: now)
        else { return }
        lastCommit?.interruption = .cutOff
    }

    /// Without a grace window, the provider accepts nothing any more if the newest tokens are lost.
    private func checkLoss(_ tokens: TokenSet) {
        guard schedule.grace == .zero, let cause = lossCause ?? lastCommit.flatMap(interruption) else {
            return report(.clusterLost, "the provider accepts nothing of \(tokens.words)")
        }
        coverage.lost[cause, default: 0] += 1
    }

    /// If the refresh token stays, hosts may have renewed independently. Then any valid token may replace another one.
    func checkOrder(_ tokens: TokenSet, instead former: TokenSet, by host: SimulatedHost) {
        let isOlder =
            schedule.rotates
            ? provider.isOlder(tokens, than: former) : provider.isOutlived(tokens, by: former, at: now)
        guard isOlder else { return }
        report(.clusterOrder, "host \(host.number) writes \(tokens.words) instead of \(former.words)")
    }

    /// Soon after the last fault each host has what etcd has, even while one of them renews the session. A host whose
    /// own tokens are not written yet has newer ones.
    func checkConverged() {
        guard violation == nil, !isSignedOut, let stored = etcd.record?.wrappedValue else { return }
        for host in hosts where host.isRunning {
            guard let tokens = host.record?.wrappedValue.tokens else {
                report(.clusterConvergence, "host \(host.number) has no session")
                continue
            }
            guard !host.hasUnwrittenTokens, !tokens.areSame(as: stored.tokens) else { continue }
            report(
                .clusterConvergence, "host \(host.number) has \(tokens.words), and etcd \(stored.tokens.words)")
        }
    }

    func checkRecovered() {
        guard violation == nil else { return }
        for host in hosts {
            if let waiting = host.waiting.first {
                report(
                    .clusterLiveness, "host \(host.number): caller \(waiting.key.number) waits since \(waiting.value)")
            }
        }
        if isSignedOut {
            for host in hosts where host.isSignedIn {
                report(.clusterSignOut, "host \(host.number) is still signed in")
            }
            return
        }
        guard let stored = etcd.record?.wrappedValue else { return report(.clusterLost, "the record is gone") }
        guard provider.accepts(stored.tokens, at: now) else { return checkLoss(stored.tokens) }
        for host in hosts {
            if !host.isSignedIn { report(.clusterLost, "host \(host.number) has no session") }
        }
        checkActive(stored.tokens)
        checkWritten()
    }

    /// In the end, etcd has what each host has: nothing keeps them from writing it.
    private func checkWritten() {
        let end = now + Self.longestRenewal
        func writers() -> [SimulatedHost] { hosts.filter(\.hasUnwrittenTokens) }
        while violation == nil, !writers().isEmpty, now < end { go(until: now + .milliseconds(500)) }
        for host in writers() {
            let tokens = host.record?.wrappedValue.tokens.words ?? "its tokens"
            report(.clusterConvergence, "host \(host.number) has \(tokens), and has not written all that it has")
        }
        awaitDelivery()
        checkConverged()
    }

    /// Each host has a valid token, or has one soon: a renewal may have just begun.
    private func checkActive(_ tokens: TokenSet) {
        let end = now + Self.longestRenewal
        var others = hosts.filter { !$0.isActive }
        while violation == nil, !others.isEmpty, now < end {
            go(until: now + .milliseconds(500))
            others.removeAll { $0.isActive }
        }
        guard let host = others.first else { return }
        report(
            .clusterLiveness,
            "host \(host.number) is \(host.published?.status.state.rawValue ?? "unknown"), and the provider honours "
                + tokens.words)
    }
}
