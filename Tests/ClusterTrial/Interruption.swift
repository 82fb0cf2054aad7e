/// A fault that was carried out.
package struct Interruption: Sendable {
    package let kind: FaultPlan.Kind
    /// The address of the host that failed; `nil`: a member of etcd failed.
    package let host: String?
    package let began: ContinuousClock.Instant
    /// `nil`: it has not ended.
    package var ended: ContinuousClock.Instant?

    package init(
        kind: FaultPlan.Kind, host: String?, began: ContinuousClock.Instant, ended: ContinuousClock.Instant? = nil
    ) {
        self.kind = kind
        self.host = host
        self.began = began
        self.ended = ended
    }

    /// The limit of a renewal (`LeaseMachine.requestLimit`).
    static let requestLimit = Duration.seconds(30)
    /// How long after the longest request the first host may still write what it has received, before another one sends the
    /// former tokens again (`LeaseMachine.writeTime`).
    static let writeTime = Duration.seconds(15)
    /// A host that reaches etcd for less than this may have no time to write: see ``FaultOutcome/convergence``.
    static let shortestContact = FaultOutcome.convergence

    /// Whether what the provider gave to a client may be lost because of this.
    /// - Parameters:
    ///   - commit: when the provider replaced the refresh token.
    ///   - again: when it was sent again.
    func mayLose(
        whatWasGivenTo client: String?, at commit: ContinuousClock.Instant, until again: ContinuousClock.Instant
    ) -> Bool {
        guard let host, host == client, began <= again else { return false }
        let end = min(ended ?? again, again)
        switch kind {
        // What a process has sent before its end still reaches the provider.
        case .agentKilled: return began >= commit - Self.requestLimit
        case .hostCutFromProvider: return end >= commit
        // If it is shorter, or ends earlier, the host still has time to write.
        case .agentPaused, .hostCutFromEtcd:
            return end - max(began, commit) >= Self.writeTime && again - end < Self.shortestContact
        case .leaderKilled, .memberKilled, .memberCut: return false
        }
    }
}
