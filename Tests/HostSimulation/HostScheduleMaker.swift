import AuthModel
import Simulation

/// Makes a schedule from a seed: two to five hosts, whose programs request tokens, one to three kinds of faults, and in
/// most schedules a backup that is restored.
struct HostScheduleMaker: RandomChoice {
    private enum Trouble: CaseIterable {
        case callers, users, connections, pauses, kills, etcd, provider
    }

    var random: SeededRandom
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 57)
    }

    mutating func schedule() -> HostSchedule {
        let hosts = Int.random(in: 2...5, using: &random)
        var troubles = [Trouble.callers, .callers, .users]
        for _ in 0..<Int.random(in: 1...3, using: &random) { troubles.append(pick(Trouble.allCases)) }
        var steps: [SimulationStep<HostOperation>] = []
        for _ in 0..<Int.random(in: 4...14, using: &random) {
            let (pause, trouble) = (makePause(), pick(troubles))
            steps.append(
                SimulationStep(pause, makeOperation(trouble, Int.random(in: 0..<hosts, using: &random), hosts)))
        }
        if chance(85) { addRestore(to: &steps) }
        let errors = (0..<hosts).map { _ in
            chance(50) ? Duration.zero : random.duration(in: .seconds(-600)...Duration.seconds(600))
        }
        let life = pick([Duration.seconds(60), .seconds(300), .seconds(3600)])
        let grace = pick([.zero, .zero, Duration.seconds(120)])
        if chance(40) { setClocks(of: hosts, in: &steps) }
        return HostSchedule(
            seed: seed, hosts: hosts, life: life, grace: grace, rotates: !chance(20), clockErrors: errors,
            steps: steps)
    }

    /// Sets clocks at some places.
    private mutating func setClocks(of hosts: Int, in steps: inout [SimulationStep<HostOperation>]) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let jump = pick([Duration.seconds(-600), .seconds(-120), .seconds(3), .seconds(120), .seconds(600)])
            let step = SimulationStep(
                makePause(), HostOperation.setClock(Int.random(in: 0..<hosts, using: &random), by: jump))
            steps.insert(step, at: Int.random(in: 0...steps.count, using: &random))
        }
    }

    /// Adds a backup at one place, and its restore at a later one.
    private mutating func addRestore(to steps: inout [SimulationStep<HostOperation>]) {
        let backup = Int.random(in: 0..<steps.count, using: &random)
        let restore = Int.random(in: backup + 1...steps.count, using: &random)
        let members = pick(RestoredMembers.allCases)
        steps.insert(SimulationStep(makePause(), .restore(members)), at: restore)
        steps.insert(SimulationStep(makePause(), .backUp), at: backup)
    }

    private mutating func makePause() -> Pause {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<30: .events(Int.random(in: 1...12, using: &random))
        case 30..<50: .time(random.duration(in: .zero...Duration.milliseconds(300)))
        case 50..<70: .time(random.duration(in: .zero...Duration.seconds(5)))
        default: .time(random.duration(in: .seconds(1)...Duration.seconds(60)))
        }
    }

    private mutating func makeOperation(_ trouble: Trouble, _ host: Int, _ hosts: Int) -> HostOperation {
        let short = random.duration(in: .milliseconds(50)...Duration.seconds(20))
        switch trouble {
        case .callers: return .ask(host, pick([.token, .renewal, .renewal, .reject]))
        case .users:
            let other = (host + Int.random(in: 1..<hosts, using: &random)) % hosts
            switch Int.random(in: 0..<100, using: &random) {
            case 0..<30: return .signIn(host)
            case 30..<55: return .signOut(host)
            case 55..<75: return .forget(other, by: host)
            default: return .changeKey(host)
            }
        case .connections:
            let time = chance(30) ? random.duration(in: .seconds(20)...Duration.seconds(90)) : short
            return chance(60) ? .cut(host, for: time) : .loseAnswers(host, for: time)
        case .pauses:
            return .pause(host, for: chance(30) ? random.duration(in: .seconds(10)...Duration.seconds(90)) : short)
        case .kills: return .kill(host, down: pick([.milliseconds(200), .seconds(2), .seconds(60)]))
        case .etcd: return .etcdGone(for: short)
        case .provider:
            return .provider(
                pick([.well, .slow(.seconds(2)), .slow(.seconds(12)), .slow(.seconds(29)), .losesAnswers]))
        }
    }
}
