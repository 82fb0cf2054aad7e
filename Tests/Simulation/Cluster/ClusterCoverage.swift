/// How much of a cluster was played.
package struct ClusterCoverage: Sendable {
    package internal(set) var renewals = 0
    /// By the host that has also sent the renewal before.
    package internal(set) var bySameHost = 0
    /// Without etcd, at a provider whose refresh tokens stay.
    package internal(set) var apart = 0
    /// Tokens that another host had renewed while one waited for its turn.
    package internal(set) var overtaken = 0
    package internal(set) var interrupted = 0
    /// Refresh tokens that were used again after an interruption.
    package internal(set) var reuses = 0
    /// Sessions at a provider without a grace window.
    var lost: [Interruption: Int] = [:]

    package mutating func add(_ other: ClusterCoverage) {
        renewals += other.renewals
        bySameHost += other.bySameHost
        apart += other.apart
        overtaken += other.overtaken
        interrupted += other.interrupted
        reuses += other.reuses
        lost.merge(other.lost, uniquingKeysWith: +)
    }

    var words: String {
        "Clusters: \(renewals) renewals, \(bySameHost) by the host of the one before, \(apart) without etcd, "
            + "\(overtaken) overtaken, \(interrupted) after an interruption, "
            + "\(reuses) used tokens sent again; sessions lost without a grace window: \(lost(by: .killed)) by a kill "
            + "before the write, \(lost(by: .unanswered)) with a response of the provider, "
            + "\(lost(by: .cutOff)) by a pause or a time without etcd"
    }

    private func lost(by cause: Interruption) -> Int { lost[cause, default: 0] }
}
