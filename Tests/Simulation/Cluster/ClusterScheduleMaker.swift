import AuthModel

/// Makes a schedule from a seed: two to five hosts, whose programs want tokens, and one to three kinds of trouble.
struct ClusterScheduleMaker: RandomChoice {
    private enum Trouble: CaseIterable {
        case callers, connections, pauses, kills, etcd, provider
    }

    var random: SeededRandom
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 31)
    }

    mutating func schedule() -> ClusterSchedule {
        let hosts = Int.random(in: 2...5, using: &random)
        var troubles = [Trouble.callers, .callers]
        for _ in 0..<Int.random(in: 1...3, using: &random) { troubles.append(pick(Trouble.allCases)) }
        var steps: [SimulationStep<ClusterOperation>] = []
        for _ in 0..<Int.random(in: 3...(chance(10) ? 40 : 16), using: &random) {
            let (pause, trouble) = (makePause(), pick(troubles))
            steps.append(SimulationStep(pause, makeOperation(trouble, Int.random(in: 0..<hosts, using: &random))))
        }
        let errors = (0..<hosts).map { _ in
            chance(20) ? Duration.zero : random.duration(in: .seconds(-600)...Duration.seconds(600))
        }
        let life = pick([Duration.seconds(10), .seconds(60), .seconds(300), .seconds(3600)])
        let grace = pick([.zero, .zero, Self.grace])
        if chance(60) { setClocks(of: hosts, in: &steps) }
        return ClusterSchedule(
            seed: seed, hosts: hosts, life: life, grace: grace, rotates: !chance(20), clockErrors: errors,
            isWatchedLonger: seed.isMultiple(of: Self.longWatches), steps: steps)
    }

    /// One schedule in this many is watched longer: most of that time is renewals without a fault.
    private static let longWatches: UInt64 = 16

    /// Sets clocks at some places.
    private mutating func setClocks(of hosts: Int, in steps: inout [SimulationStep<ClusterOperation>]) {
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let jump = pick([
                Duration.seconds(-600), .seconds(-120), .seconds(-3), .seconds(3), .seconds(120), .seconds(600),
            ])
            let step = SimulationStep(
                makePause(), ClusterOperation.setClock(Int.random(in: 0..<hosts, using: &random), by: jump))
            steps.insert(step, at: Int.random(in: 0...steps.count, using: &random))
        }
    }

    /// It lasts longer than any schedule, so no session is lost, however many faults there are.
    private static let grace = Duration.seconds(86_400)

    private mutating func makePause() -> Pause {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<50: .events(Int.random(in: 1...5, using: &random))
        case 50..<70: .time(random.duration(in: .zero...Duration.milliseconds(200)))
        case 70..<90: .time(random.duration(in: .zero...Duration.seconds(5)))
        default: .time(random.duration(in: .seconds(1)...Duration.seconds(90)))
        }
    }

    private mutating func makeOperation(_ trouble: Trouble, _ host: Int) -> ClusterOperation {
        let short = random.duration(in: .milliseconds(50)...Duration.seconds(20))
        switch trouble {
        case .callers:
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<40: return .ask(host, .token)
            case 40..<70: return .ask(host, .renewal)
            case 70..<85: return .ask(host, .reject)
            case 85..<97: return .ask(host, .userChange)
            default: return .ask(host, .signOut)
            }
        case .connections:
            let time = chance(30) ? random.duration(in: .seconds(20)...Duration.seconds(200)) : short
            return chance(60) ? .cut(host, for: time) : .loseAnswers(host, for: time)
        case .pauses:
            return .pause(host, for: chance(30) ? random.duration(in: .seconds(10)...Duration.seconds(90)) : short)
        case .kills: return .kill(host, down: pick([.milliseconds(200), .seconds(2), .seconds(60)]))
        case .etcd: return .etcdGone(for: short)
        case .provider:
            return .provider(
                pick([.well, .well, .slow(.seconds(2)), .slow(.seconds(12)), .slow(.seconds(29)), .down, .losesAnswers])
            )
        }
    }
}
