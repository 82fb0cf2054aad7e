import AuthMachines
import AuthModel
import AuthWire

/// A renewal that a host has sent.
struct ProviderRequest {
    let host: Int
    let process: Int
    let request: RenewalRequestID
    let caller: CallerID
    let isInterrupted: Bool
    let tokens: TokenSet
    let sentAt: Duration
    let moment: Moment
    var isCarriedOut = false
    var result: Result<Grant, ProviderFailure>?
}

/// The last refresh token that the provider has replaced.
struct Commit {
    let host: Int
    let process: Int
    let at: Duration
    let refreshToken: Secret?
    var isWritten = false
    /// The provider's answer got lost.
    var isUnanswered = false
}

extension ClusterSimulationRun {
    private static let requestLimit = LeaseMachine.requestLimit

    func sendToProvider(_ host: SimulatedHost, _ caller: CallerID) {
        guard let renewal = host.renewals.removeValue(forKey: caller) else { return }
        checkAlone(host)
        coverage.renewals += 1
        let number = nextNumber()
        note("    \(host.number): sends \(renewal.record.tokens.words)")
        requests[number] = ProviderRequest(
            host: host.number, process: host.process, request: renewal.request, caller: caller,
            isInterrupted: host.isInterrupted, tokens: renewal.record.tokens, sentAt: now, moment: moment(host))
        var way = latency()
        if case .slow(let time) = provider.behaviour { way += time / 2 }
        queue.add(.reachesProvider(number), at: now + way)
        queue.add(.timesOut(number), at: now + Self.requestLimit)
    }

    func reachProvider(_ number: Int) {
        guard var request = requests[number], now < request.sentAt + Self.requestLimit else { return }
        let way = now - request.sentAt
        if provider.behaviour == .down {
            let error = AgentError(.providerUnreachable, "down")
            request.result = .failure(.temporary(error, retryAfter: nil))
        } else {
            checkReuse(request)
            let result = provider.renew(
                request.tokens, statedLife: schedule.life, sentAt: request.sentAt,
                wallAtSending: request.moment.wall, at: now)
            request.isCarriedOut = true
            request.result = result
            if case .success(let grant) = result {
                lastCommit = Commit(
                    host: request.host, process: request.process, at: now, refreshToken: grant.refreshToken,
                    isUnanswered: provider.behaviour == .losesAnswers)
            }
        }
        requests[number] = request
        if provider.behaviour != .losesAnswers { queue.add(.providerAnswers(number), at: now + way) }
    }

    func providerAnswered(_ number: Int) {
        guard let request = requests[number], let result = request.result else { return }
        end(number, result)
    }

    func timeOut(_ number: Int) {
        guard requests[number] != nil else { return }
        if lastCommit?.host == requests[number]?.host { lastCommit?.isUnanswered = true }
        end(number, .failure(.temporary(AgentError(.timeout, "no answer"), retryAfter: nil)))
    }

    /// As `SessionPerformer` does it.
    private func end(_ number: Int, _ result: Result<Grant, ProviderFailure>) {
        guard let request = requests.removeValue(forKey: number) else { return }
        let host = hosts[request.host]
        guard host.isRunning, host.process == request.process else { return }
        handle(host, .requestEnded(request.request, result, sentAt: request.moment))
        let end: HoldOutcome.FormerHold
        switch result {
        case .success:
            guard host.machine?.hasUnwrittenTokens != true else {
                return handleLease(host, .renewed(request.caller, Self.name))
            }
            end = .answered
        case .failure(.temporary): end = .unanswered
        case .failure(.final), .failure(.refused): end = request.isInterrupted ? .unanswered : .answered
        }
        handleLease(host, .ended(request.caller, Self.name, leaving: end))
    }

    /// A record is in etcd.
    func written(_ record: SessionRecord) {
        if record.tokens.refreshToken == lastCommit?.refreshToken { lastCommit?.isWritten = true }
    }

    // MARK: Rules

    /// Only one host's request may reach the provider at a time.
    private func checkAlone(_ host: SimulatedHost) {
        for request in requests.values.sorted(by: { $0.sentAt < $1.sentAt })
        where request.host != host.number && !request.isCarriedOut && now < request.sentAt + Self.requestLimit {
            report(
                .clusterAlone,
                "host \(host.number) sends a refresh token, and host \(request.host) did at \(request.sentAt)")
        }
    }

    /// The provider sees a used token only if the one that replaced it was lost on its way to etcd.
    private func checkReuse(_ request: ProviderRequest) {
        guard !provider.accepts(request.tokens, at: now), let account = provider.account(of: request.tokens),
            !provider.accounts[account].revoked
        else { return }
        coverage.reuses += 1
        guard let commit = lastCommit else { return report(.clusterReuse, "a refresh token that was never good") }
        guard isInterrupted(commit) || isSignedOut else {
            return report(.clusterReuse, "host \(request.host) sends a used token; it was replaced at \(commit.at)")
        }
        isLossExcused = true
    }

    /// The host that was given the newest tokens could not write them.
    private func isInterrupted(_ commit: Commit) -> Bool {
        let host = hosts[commit.host]
        return !commit.isWritten
            && (commit.isUnanswered || host.process != commit.process || host.lastFault >= commit.at)
    }

    /// Soon after the last fault each host has what etcd has, unless something is on its way.
    func checkConverged() {
        guard violation == nil, etcd.holder == nil, !isSignedOut, let stored = etcd.record,
            now - etcd.changedAt > .seconds(2)
        else { return }
        for host in hosts where host.isRunning {
            guard let machine = host.machine, machine.currentRequest == nil, !machine.hasUnwrittenTokens else {
                continue
            }
            if !machine.record.tokens.areSame(as: stored.tokens) {
                report(
                    .clusterConvergence,
                    "host \(host.number) has \(machine.record.tokens.words), and etcd \(stored.tokens.words)")
            }
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
            for host in hosts where host.machine != nil {
                report(.clusterSignOut, "host \(host.number) is still signed in")
            }
            return
        }
        guard let stored = etcd.record else { return report(.clusterLost, "the record is gone") }
        guard provider.accepts(stored.tokens, at: now) else {
            coverage.lost += 1
            if !isLossExcused, lastCommit.map(isInterrupted) != true {
                report(.clusterLost, "the provider accepts nothing of \(stored.tokens.words)")
            }
            return
        }
        for host in hosts {
            guard let machine = host.machine else {
                report(.clusterLost, "host \(host.number) has no session")
                continue
            }
            if host.published?.status.state != .active, machine.currentRequest == nil {
                report(
                    .clusterLiveness,
                    "host \(host.number) is \(String(describing: host.published?.status.state)), and the provider honours "
                        + stored.tokens.words)
            }
        }
    }
}
