import AuthModel

/// One fault: what fails, when, and for how long. It follows from the seed; what the machine does meanwhile does not.
package struct FaultPlan: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case agentKilled = "kill -9 of an agent"
        case agentPaused = "SIGSTOP of an agent"
        case leaderKilled = "kill -9 of etcd's leader"
        case memberKilled = "kill -9 of a member of etcd"
        case hostCutFromEtcd = "partition of a host from etcd"
        case memberCut = "partition of a member from the others"
        case hostCutFromProvider = "partition of a host from the provider"

        /// Whether a host with an agent fails; otherwise a member of etcd does.
        package var isOfHost: Bool {
            switch self {
            case .agentKilled, .agentPaused, .hostCutFromEtcd, .hostCutFromProvider: true
            case .leaderKilled, .memberKilled, .memberCut: false
            }
        }
    }

    package enum Moment: Sendable, Equatable {
        /// So long after all was well.
        case any(after: Duration)
        /// So long after the provider has replaced a refresh token. A host that fails is the one that gets the new one.
        case committed(after: Duration)
    }

    package let seed: UInt64
    package let kind: Kind
    package let moment: Moment
    /// The host that fails, if ``moment`` does not name it.
    package let host: Int
    package let member: Int
    /// From the fault to its end.
    package let length: Duration

    /// Every other fault is at a provider that accepts a replaced token for a while.
    package var hasGrace: Bool { seed.isMultiple(of: 2) }

    /// The tokens' life: any phase of it is met.
    static let longestWait = Duration.seconds(10)
    /// From the provider's commit to the write in etcd, which takes some 20 ms, on a slow machine.
    static let longestWrite = Duration.milliseconds(30)
    static let restart: ClosedRange<Duration> = .zero...Duration.seconds(5)
    static let cut = Duration.seconds(2)...Duration.seconds(16)
    /// Longer than the lease of 10 s.
    static let pause = Duration.seconds(11)...Duration.seconds(16)
    /// Another host claims the session meanwhile: after the end of the lease, the limit of a request, and the time to write
    /// its result, 55 s.
    static let claimed = Duration.seconds(58)...Duration.seconds(63)

    package init(seed: UInt64, hosts: Int, members: Int) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        kind = Kind.allCases.randomElement(using: &random) ?? .agentKilled
        host = Int.random(in: 0..<hosts, using: &random)
        member = Int.random(in: 0..<members, using: &random)
        moment =
            Bool.random(using: &random)
            ? .committed(after: random.duration(in: .zero...Self.longestWrite))
            : .any(after: random.duration(in: .zero...Self.longestWait))
        let isLong = Int.random(in: 0..<4, using: &random) == 0
        let lengths =
            switch kind {
            case .agentKilled, .leaderKilled, .memberKilled: Self.restart
            case .agentPaused: isLong ? Self.claimed : Self.pause
            case .hostCutFromEtcd: isLong ? Self.claimed : Self.cut
            case .memberCut, .hostCutFromProvider: Self.cut
            }
        length = random.duration(in: lengths)
    }
}

extension FaultPlan: CustomStringConvertible {
    package var description: String {
        let time =
            switch moment {
            case .any(let wait): "after \(wait.inWords)"
            case .committed(let wait): "\(wait.inWords) after a commit"
            }
        return
            "seed \(seed)\(hasGrace ? ", with a grace window" : ""): \(kind.rawValue), \(time), for \(length.inWords)"
    }
}

extension Duration {
    /// As in "12 ms" and "3.4 s".
    package var inWords: String {
        let milliseconds = Int((seconds * 1000).rounded())
        return milliseconds < 1000 ? "\(milliseconds) ms" : "\(milliseconds / 1000).\(milliseconds / 100 % 10) s"
    }
}
