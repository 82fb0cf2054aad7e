package import Simulation

/// A schedule of hosts, each with its agent, that share a session in etcd.
package struct HostSchedule: SimulationSchedule {
    package var seed: UInt64
    package var hosts: Int
    package var life: Duration
    /// How long the provider accepts a refresh token after it was replaced.
    package var grace: Duration
    /// The provider replaces a refresh token when it is used.
    package var rotates: Bool
    /// The error of each host's clock.
    package var clockErrors: [Duration]
    package var steps: [SimulationStep<HostOperation>]

    package init(
        seed: UInt64 = 1, hosts: Int = 3, life: Duration = .seconds(3600), grace: Duration = .zero,
        rotates: Bool = true, clockErrors: [Duration] = [], steps: [SimulationStep<HostOperation>]
    ) {
        self.seed = seed
        self.hosts = hosts
        self.life = life
        self.grace = grace
        self.rotates = rotates
        self.clockErrors = clockErrors
        self.steps = steps
    }

    package var heading: String {
        let tokens = rotates ? "grace \(grace)" : "the refresh token stays"
        return "seed \(seed), \(hosts) hosts, life \(life), \(tokens), clocks \(clockErrors)"
    }

    package static var simplifications: [(inout HostSchedule) -> Void] {
        [
            { $0.hosts = 2 }, { $0.clockErrors = [] }, { $0.life = .seconds(3600) }, { $0.grace = .zero },
            { $0.rotates = true }, { $0.seed = 1 },
        ]
    }
}

/// An event that affects the hosts. They are numbered from 0.
package enum HostOperation: Sendable, Equatable {
    case ask(Int, HostAsk)
    /// A user signs in, signs out, removes a host or changes the record key. This happens only while there is no fault,
    /// so that the expected result is known.
    case signIn(Int)
    case signOut(Int)
    case forget(Int, by: Int)
    case changeKey(Int)
    /// No message passes between the host and etcd.
    case cut(Int, for: Duration)
    /// etcd carries out the host's requests, but its responses are lost.
    case loseAnswers(Int, for: Duration)
    /// The process does not run, but its clocks go on.
    case pause(Int, for: Duration)
    /// The process is killed, and started again later.
    case kill(Int, down: Duration)
    /// A majority of the members does not answer.
    case etcdGone(for: Duration)
    case provider(ProviderBehaviour)
    /// The host's wall clock is set. The time since its boot goes on.
    case setClock(Int, by: Duration)
    case backUp
    /// The last backup is restored.
    case restore(RestoredMembers)
}

package enum HostAsk: Sendable, Equatable, CaseIterable {
    case token, renewal
    /// A 401 with the token in use.
    case reject
}

/// The members of etcd after a restore.
package enum RestoredMembers: Sendable, Equatable, CaseIterable {
    case same
    /// They have another cluster ID.
    case new
    /// Watches stay open, as through a proxy, and report nothing until etcd has reached their revision again.
    case behindProxy
}

/// A fault between the agents and the rest, which the rules must find.
package enum HostInjectedFault: String, Sendable, CaseIterable {
    /// etcd gives each host every hold.
    case sharesHolds
    /// After a restore, etcd does not store the sessions that it receives.
    case losesSessions
    /// After a restore, etcd keeps sessions that it should delete.
    case keepsSessions
    /// The provider's responses are lost, and the simulation counts them as received.
    case losesTokens
    /// The provider ends a session after it has renewed it, without an error.
    case endsSessions
    /// A process that was started after the first ones finds no session in etcd.
    case hidesSessions
    /// A removed host receives the former list of hosts.
    case showsFormerHosts
    /// The watches of the last host stay open, and report nothing, and its checks get no response.
    case silencesWatches
    /// etcd keeps each hold for ever.
    case keepsHolds
    /// etcd refuses every change of the list of hosts.
    case refusesHosts
    /// Processes do not learn that the clock of their host was set.
    case hidesClocks
    /// A change of the list of hosts gets no response, and does not reach its time limit.
    case neverAnswers
    /// After a restore, etcd does not store the mark of the host that notices it.
    case losesMarks
    /// etcd does not store the list of ended sign-ins that a sign-out leaves.
    case losesSignOuts

    package var rule: HostRule {
        switch self {
        case .sharesHolds, .losesMarks: .alone
        case .losesTokens: .reuse
        case .endsSessions, .hidesSessions: .lost
        case .losesSessions, .losesSignOuts: .writtenAgain
        case .keepsSessions: .signOut
        case .showsFormerHosts: .membership
        case .silencesWatches: .convergence
        case .keepsHolds, .refusesHosts, .neverAnswers: .liveness
        case .hidesClocks: .clocks
        }
    }

    /// Whether the fault changes what a restore brings back.
    var isOfRestores: Bool { self == .losesSessions || self == .keepsSessions || self == .losesMarks }
}

/// The rules that every schedule must keep (Docs/cluster.md, Docs/decisions/simulation.md).
package enum HostRule: String, Sendable, CaseIterable {
    case alone = "1: one host sends a refresh token at a time, even after a restore"
    case reuse = "2: a used refresh token is sent again only if the next one was lost on its way to etcd"
    case lost = "3: a session that the provider accepts is lost on no host"
    case writtenAgain = "4: what a running host knows and a restored backup lacks is in etcd again ten seconds later"
    case signOut = "5: a sign-out is one on all hosts, and stays one after a restore"
    case membership = "6: a host that was removed is not a member again after a restore"
    case convergence = "7: 15 seconds after the last fault each host has the same tokens"
    case liveness = "8: after the last fault, the session is active on each host, no caller waits, and no hold is left"
    case clocks = "9: each host knows when its token ends, however wrong its clock is and whenever that is set"
}

/// A broken rule, and when it was broken.
package struct HostViolation: Sendable, Equatable, CustomStringConvertible {
    package let rule: HostRule
    /// The time since the beginning of the schedule.
    package let at: Duration
    package let what: String

    package var description: String { "at \(at): \(what) [\(rule.rawValue)]" }
}

/// Counts of the events in the schedules that were played.
package struct HostCoverage: Sendable, Equatable {
    package internal(set) var renewals = 0
    /// Used refresh tokens that were sent again after an interruption.
    package internal(set) var reuses = 0
    package internal(set) var restores = 0
    /// Restores after which a running host has written again what the backup lacks.
    package internal(set) var writtenAgain = 0
    /// Restores after which no running host knew what the backup lacks.
    package internal(set) var unknown = 0
    package internal(set) var removedHosts = 0
    package internal(set) var keyChanges = 0
    package internal(set) var signOuts = 0
    /// Sessions that nothing could have kept.
    package internal(set) var lost = 0
    /// Schedules in which the hosts' tokens were not compared, because hosts renewed them all the time.
    package internal(set) var notCompared = 0
    /// Restores after which another event happened before etcd's data could be read.
    package internal(set) var notInspected = 0

    package init() {}

    package mutating func add(_ other: HostCoverage) {
        renewals += other.renewals
        reuses += other.reuses
        restores += other.restores
        writtenAgain += other.writtenAgain
        unknown += other.unknown
        removedHosts += other.removedHosts
        keyChanges += other.keyChanges
        signOuts += other.signOuts
        lost += other.lost
        notCompared += other.notCompared
        notInspected += other.notInspected
    }

    package var words: String {
        "\(renewals) renewals, \(reuses) used tokens sent again, \(restores) restores (\(writtenAgain) made up for, "
            + "\(unknown) that no running host could), \(removedHosts) hosts removed, \(keyChanges) changes of the key, "
            + "\(signOuts) sign-outs, \(lost) sessions that nothing could have kept; not checked: the same tokens "
            + "\(notCompared) times, and what etcd has after a restore \(notInspected) times"
    }
}
