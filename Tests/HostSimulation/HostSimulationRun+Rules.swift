import AuthEtcd
import AuthModel
import AuthWire

/// The checks after all faults have ended.
extension HostSimulationRun {
    /// A renewal that has just begun ends within this time, and so does the next one of another host.
    private static let longestChange = Duration.seconds(100)
    /// How long hosts take to read a change.
    private static let delivery = Duration.seconds(2)

    /// Checks that all hosts have the same tokens.
    func checkConverged() {
        guard violation == nil, account != nil else { return }
        awaitChanges()
        guard violation == nil, account != nil else { return }
        guard !isChanging else { return coverage.notCompared += 1 }
        for host in members where host.process.map({ $0.tokens == nil }) ?? false {
            report(.convergence, "host \(host.number) has no session")
        }
        let all = members.compactMap { host in host.process?.tokens.map { (host.number, $0) } }
        guard let first = all.first else { return }
        for (host, tokens) in all where !tokens.areSame(as: first.1) {
            report(
                .convergence,
                "host \(first.0) has \(Self.words(first.1)), and host \(host) \(Self.words(tokens))")
        }
    }

    /// Waits until no host renews the session, and hosts have read the last change.
    private func awaitChanges() {
        let end = time.now + Self.longestChange
        while violation == nil, isChanging, time.now < end { go(until: time.now + .milliseconds(500)) }
    }

    private var isChanging: Bool { isRenewing || time.now - changedAt <= Self.delivery }

    /// Dates of other hosts that differ by less than 3 s are not replaced, etcd counts lives in whole seconds, and a change of
    /// a clock by less than 2 s is not noticed.
    private static let clockTolerance = Duration.seconds(8)

    /// Checks what each host says about the end of its token, by its own clock.
    func checkEnds() {
        guard violation == nil else { return }
        for host in members where time.now >= host.pausedUntil {
            guard let process = host.process, let tokens = process.tokens, let date = tokens.expiresAt,
                let known = tokenTimes[tokens.accessToken.reveal()], known.issued > leasesProlongedAt,
                known.end > time.now + Self.clockTolerance
            else { continue }
            let (left, right) = (date - process.clock.now().wall, known.end - time.now)
            guard abs((left - right).seconds) > Self.clockTolerance.seconds else { continue }
            report(.clocks, "host \(host.number): \(tokens.accessToken.reveal()) ends in \(left), and not in \(right)")
        }
    }

    func checkRecovered() {
        guard violation == nil else { return }
        awaitChanges()
        awaitRenewals()
        guard violation == nil else { return }
        for host in members {
            guard let process = host.process else { continue }
            for since in process.waiting.values.sorted() where time.now - since > Self.longestWait {
                report(.liveness, "host \(host.number): a caller waits since \(since)")
            }
        }
        switch expected {
        case .unknown: break
        case .signedOut:
            for host in members where isSignedIn(host) {
                report(.signOut, "host \(host.number) is signed in")
            }
        case .signedIn(let account): checkSignedIn(account)
        }
    }

    func checkMembership() {
        for host in hosts where host.isRemoved {
            guard let process = host.process else { continue }
            process.perform { [self] in
                guard (try? await process.store.members()) != nil else { return }
                report(.membership, "host \(process.host) was removed, and reads the list of hosts")
            }
        }
        go(until: time.now + .seconds(10))
    }

    private func isSignedIn(_ host: SimulatedHost) -> Bool {
        switch host.process?.state {
        case nil, .signedOut: false
        default: true
        }
    }

    private func checkSignedIn(_ account: Int) {
        var refreshes = members.compactMap { $0.process?.tokens?.refreshToken?.reveal() }
        // If hosts renew the session all the time, the last tokens may be on their way from etcd to the hosts.
        if isChanging, let written = etcd.newestWritten { refreshes.append("r\(written.account).\(written.number)") }
        guard !provider.hasEnded(account), refreshes.contains(where: { provider.accepts($0, at: time.now) }) else {
            coverage.lost += 1
            if !isLossExcused, commit.map(isInterrupted) != true {
                report(.lost, "the provider accepts nothing of what the hosts have: \(refreshes)")
            }
            expected = .unknown
            return
        }
        for host in members {
            guard let state = host.process?.state else {
                report(.lost, "host \(host.number) has no session")
                continue
            }
            if state != .active {
                report(.liveness, "host \(host.number) is \(state), and the provider honours \(refreshes)")
            }
        }
    }

    /// Checks that a host that starts now, with only the data in etcd, has the same session.
    func checkStored() {
        guard violation == nil, let host = members.first else { return }
        kill(host)
        settle()
        start(host)
        go(until: time.now + .seconds(15))
        awaitRenewals()
        switch expected {
        case .unknown: break
        case .signedOut: if isSignedIn(host) { report(.signOut, "host \(host.number) is signed in after a start") }
        case .signedIn:
            if host.process?.state != .active {
                report(.lost, "host \(host.number) has no active session after a start")
            }
        }
    }

    private static func words(_ tokens: TokenSet) -> String {
        "\(tokens.accessToken.reveal()) and \(tokens.refreshToken?.reveal() ?? "no refresh token")"
    }
}
