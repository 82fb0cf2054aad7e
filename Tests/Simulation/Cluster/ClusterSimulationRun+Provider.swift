import AuthMachines
import AuthModel
import AuthWire

/// A renewal that a host has sent.
struct ProviderRequest {
    let host: Int
    let process: Int
    let request: RenewalRequestID
    let caller: CallerID
    /// `false`: the provider's refresh tokens stay, and the host could not reach etcd.
    let isHeld: Bool
    let isInterrupted: Bool
    let tokens: TokenSet
    let sentAt: Duration
    let moment: Moment
    /// The last commit, if its tokens seemed to be lost when the request was sent, and why. The host that received them
    /// may run again and write them before the request arrives.
    let loss: (commit: Int, cause: Interruption)?
    var result: Result<Grant, ProviderFailure>?
}

/// The last refresh token that the provider has replaced.
struct Commit {
    let request: Int
    let host: Int
    let process: Int
    let at: Duration
    let refreshToken: Secret?
    /// When the host has received it.
    var receivedAt: Duration?
    var isWritten = false
    /// What has kept the host from writing it.
    var interruption: Interruption?
}

/// Why a refresh token may be lost between the provider and etcd. Nobody has it then.
enum Interruption: CaseIterable {
    /// The process was killed.
    case killed
    /// The provider's response was lost.
    case unanswered
    /// The process was paused, or could not reach etcd, until another host has sent the former token again.
    case cutOff
}

extension ClusterSimulationRun {
    static let requestLimit = InvariantChecker.sharedRequestLimit

    func sendToProvider(_ host: SimulatedHost, _ caller: CallerID, isHeld: Bool = true) {
        guard let renewal = host.renewals.removeValue(forKey: caller) else { return }
        if isHeld { checkAlone(host) }
        coverage.renewals += 1
        if lastSender == host.number { coverage.bySameHost += 1 }
        lastSender = host.number
        let number = nextNumber()
        note("    \(host.number): sends \(renewal.record.tokens.words)")
        requests[number] = ProviderRequest(
            host: host.number, process: host.process, request: renewal.request, caller: caller,
            isHeld: isHeld, isInterrupted: isHeld && host.isInterrupted, tokens: renewal.record.tokens, sentAt: now,
            moment: moment(host), loss: knownLoss())
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
            request.result = result
            if case .success(let grant) = result, schedule.rotates {
                lastCommit = Commit(
                    request: number, host: request.host, process: request.process, at: now,
                    refreshToken: grant.refreshToken, interruption: interruption(of: request))
            }
            if case .success = result {
                if fault == .endsSessions { provider.account(of: request.tokens).map(provider.revoke) }
                if fault == .releasesEarly { releaseEarly(hosts[request.host]) }
            }
        }
        requests[number] = request
        if provider.behaviour != .losesAnswers { queue.add(.providerAnswers(number), at: now + way) }
    }

    /// An injected fault.
    private func releaseEarly(_ host: SimulatedHost) {
        if let hold = host.hold, etcd.release(hold, leaving: .answered) { reportRelease() }
    }

    func providerAnswered(_ number: Int) {
        guard let request = requests[number], let result = request.result else { return }
        if lastCommit?.request == number { lastCommit?.receivedAt = now }
        guard fault == .losesTokens, case .success = result else { return end(number, result) }
        end(number, .failure(.temporary(AgentError(.badReply, "no tokens"), retryAfter: nil)))
    }

    func timeOut(_ number: Int) {
        guard requests[number] != nil else { return }
        if lastCommit?.request == number, lastCommit?.interruption == nil { lastCommit?.interruption = .unanswered }
        end(number, .failure(.temporary(AgentError(.timeout, "no answer"), retryAfter: nil)))
    }

    /// As `SessionPerformer` does it.
    private func end(_ number: Int, _ result: Result<Grant, ProviderFailure>) {
        guard let request = requests.removeValue(forKey: number) else { return }
        let host = hosts[request.host]
        guard host.isRunning, host.process == request.process else { return }
        handle(host, .requestEnded(request.request, result, sentAt: request.moment))
        guard request.isHeld else { return }
        let end: HoldOutcome.FormerHold
        switch result {
        case .success:
            guard !host.hasUnwrittenTokens else {
                return handleLease(host, .renewed(request.caller, Self.name))
            }
            end = .answered
        case .failure(.temporary): end = .unanswered
        case .failure(.final), .failure(.refused): end = request.isInterrupted ? .unanswered : .answered
        }
        handleLease(host, .ended(request.caller, Self.name, leaving: end))
    }

    /// What keeps the host of a request from receiving its result.
    private func interruption(of request: ProviderRequest) -> Interruption? {
        let host = hosts[request.host]
        if host.process != request.process { return .killed }
        return provider.behaviour == .losesAnswers ? .unanswered : nil
    }

    /// The process of the host is killed.
    func interrupt(_ host: SimulatedHost) {
        guard let commit = lastCommit, !commit.isWritten, commit.host == host.number, commit.process == host.process
        else { return }
        lastCommit?.interruption = .killed
    }

    /// A record is in etcd.
    func written(_ record: Shared<SessionRecord>, instead former: Shared<SessionRecord>?, by host: SimulatedHost) {
        let tokens = record.wrappedValue.tokens
        if tokens.refreshToken == lastCommit?.refreshToken { lastCommit?.isWritten = true }
        if let former { checkOrder(tokens, instead: former.wrappedValue.tokens, by: host) }
        if let former, !former.wrappedValue.tokens.areSame(as: tokens) { expectDelivery(from: host) }
    }
}
