/// A schedule of hosts that share a session.
package struct ClusterSchedule: SimulationSchedule {
    package var seed: UInt64
    package var hosts: Int
    package var life: Duration
    /// The provider accepts a refresh token for that long after it was replaced.
    package var grace: Duration
    /// The provider replaces a refresh token when it is used.
    package var rotates: Bool
    /// By host.
    package var clockErrors: [Duration]
    /// The hosts are watched for as long as recovery may take, even if everything is well before that.
    package var isWatchedLonger: Bool
    package var steps: [SimulationStep<ClusterOperation>]

    package init(
        seed: UInt64 = 1, hosts: Int = 2, life: Duration = .seconds(3600), grace: Duration = .zero,
        rotates: Bool = true, clockErrors: [Duration] = [], isWatchedLonger: Bool = true,
        steps: [SimulationStep<ClusterOperation>]
    ) {
        self.seed = seed
        self.hosts = hosts
        self.life = life
        self.grace = grace
        self.rotates = rotates
        self.clockErrors = clockErrors
        self.isWatchedLonger = isWatchedLonger
        self.steps = steps
    }

    package var heading: String {
        let tokens = rotates ? "grace \(grace)" : "the refresh token stays"
        return "seed \(seed), \(hosts) hosts, life \(life), \(tokens), clocks \(clockErrors)"
    }

    package static var simplifications: [(inout ClusterSchedule) -> Void] {
        [
            { $0.hosts = 2 }, { $0.clockErrors = Array(repeating: .zero, count: $0.clockErrors.count) },
            { $0.life = .seconds(3600) }, { $0.grace = .zero }, { $0.rotates = true }, { $0.seed = 1 },
        ]
    }
}
