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

    /// The limit of a renewal (`LeaseMachine.requestLimit`). So long before another host sends the tokens again, the
    /// first one may write what it has received.
    static let claimWait = Duration.seconds(30)

    /// Whether what the provider gave to a client may be lost because of this.
    /// - Parameters:
    ///   - commit: when the provider replaced the refresh token.
    ///   - again: when it was sent again.
    func mayLose(
        whatWasGivenTo client: String?, at commit: ContinuousClock.Instant, until again: ContinuousClock.Instant
    ) -> Bool {
        guard let host, host == client, began <= again else { return false }
        let end = ended ?? again
        switch kind {
        // What a process has sent before its end still reaches the provider.
        case .agentKilled: return began >= commit - Self.claimWait
        case .hostCutFromProvider: return end >= commit
        // If it is shorter, the host still has time to write.
        case .agentPaused, .hostCutFromEtcd: return end >= commit && end - max(began, commit) >= Self.claimWait
        case .leaderKilled, .memberKilled, .memberCut: return false
        }
    }
}
