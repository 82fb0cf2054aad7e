import AuthMachines
import AuthModel
import AuthWire

/// Which host may send the refresh token.
extension ClusterSimulationRun {
    func handleLease(_ host: SimulatedHost, _ event: LeaseEvent) {
        guard violation == nil, host.isRunning else { return }
        let turn = host.leases.handle(event, at: moment(host))
        host.leaseWakeUp = turn.wakeUp.map { max(time(of: $0), now) }
        for action in turn.actions {
            note("    \(host.number): ⇒ \(action)")
            switch action {
            case .grant: send(.grant, from: host)
            case .keepAlive(let lease): if fault != .keepsNoLease { send(.keepAlive(lease), from: host) }
            case .hold(_, let version, let lease): send(.hold(lease, version), from: host)
            case .claim(_, let version, let lease):
                if let hold = host.hold, !hold.isLost {
                    send(.claim(hold, version, lease), from: host)
                } else {
                    handleLease(host, .claimed(Self.name, lease, .failure(.cluster(.leaseLost))))
                }
            case .release(_, let end):
                let hold = host.hold
                // The author of an intent that stays may still write what it has received.
                if end == .abandoned, hold?.intent != nil { host.hold?.isLost = true } else { host.hold = nil }
                if hold?.intent != nil { host.intents.end(fault == .forgetsIntents ? .answered : end) }
                if let hold, !hold.isLost || hold.intent != nil {
                    send(.release(hold, leaving: fault == .forgetsIntents ? .answered : end), from: host)
                } else {
                    handleLease(host, .releaseEnded(Self.name))
                }
            }
        }
        for (caller, reply) in turn.replies { permitted(host, caller, reply) }
    }

    /// As `RenewalHolds` does it.
    private func permitted(_ host: SimulatedHost, _ caller: CallerID, _ reply: LeaseReply) {
        guard let renewal = host.renewals[caller] else { return }
        switch reply {
        case .failure(.cluster(let cause)) where cause.isConnection && renewal.record.tokens.keepsRefreshToken:
            guard host.read({ $0.isCurrent(renewal.request) }) ?? false else {
                host.renewals[caller] = nil
                let end = ProviderFailure.temporary(.offline, retryAfter: nil)
                return handle(host, .requestEnded(renewal.request, .failure(end), sentAt: moment(host)))
            }
            coverage.apart += 1
            sendToProvider(host, caller, isHeld: false)
        case .failure(let error):
            host.renewals[caller] = nil
            handle(host, .notSent(renewal.request, error))
        case .held(let stored, let isInterrupted):
            if isInterrupted { coverage.interrupted += 1 }
            let unsent: HoldOutcome.FormerHold = isInterrupted ? .unanswered : .answered
            let isOurs = stored.map { $0.allowsRenewal(of: renewal.record) }
            guard isOurs ?? (host.read { $0.isStored } == false) else {
                host.renewals[caller] = nil
                coverage.overtaken += 1
                handleLease(host, .ended(caller, Self.name, leaving: unsent))
                return handle(host, .overtaken(renewal.request, stored))
            }
            let isCurrent = host.read { $0.isCurrent(renewal.request) } ?? false
            guard isCurrent, host.leases.mayBegin(Self.name, for: caller, at: moment(host).boot) else {
                host.renewals[caller] = nil
                handleLease(host, .ended(caller, Self.name, leaving: unsent))
                if isCurrent { return handle(host, .notSent(renewal.request, .cluster(.leaseLost))) }
                let end = ProviderFailure.temporary(.offline, retryAfter: nil)
                return handle(host, .requestEnded(renewal.request, .failure(end), sentAt: moment(host)))
            }
            host.isInterrupted = isInterrupted
            sendToProvider(host, caller)
        }
    }
}
