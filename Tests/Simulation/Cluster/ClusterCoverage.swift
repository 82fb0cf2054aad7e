/// How much of a cluster was played.
package struct ClusterCoverage: Sendable {
    package internal(set) var renewals = 0
    /// Tokens that another host had renewed while one waited for its turn.
    package internal(set) var overtaken = 0
    package internal(set) var interrupted = 0
    /// Refresh tokens that were used again after an interruption.
    package internal(set) var reuses = 0
    package internal(set) var lost = 0

    package mutating func add(_ other: ClusterCoverage) {
        renewals += other.renewals
        overtaken += other.overtaken
        interrupted += other.interrupted
        reuses += other.reuses
        lost += other.lost
    }

    var words: String {
        "Clusters: \(renewals) renewals, \(overtaken) overtaken, \(interrupted) after an interruption, "
            + "\(reuses) used tokens sent again, \(lost) sessions lost by an interruption"
    }
}
