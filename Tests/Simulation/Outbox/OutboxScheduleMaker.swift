import AuthModel
import AuthWire

/// Makes a schedule of the outbox from a seed: writes, and one to three kinds of trouble.
struct OutboxScheduleMaker: RandomChoice {
    var random: SeededRandom
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 11)
    }

    mutating func schedule() -> OutboxSchedule {
        let sessions = chance(25) ? Int.random(in: 2...3, using: &random) : 1
        var troubles = [Trouble.writers, .writers]
        for _ in 0..<Int.random(in: 1...3, using: &random) { troubles.append(pick(Trouble.allCases)) }
        let count = Int.random(in: 2...(chance(10) ? 50 : 20), using: &random)
        let steps = (0..<count).map { _ in SimulationStep(makePause(), makeOperation(pick(troubles), sessions)) }
        return OutboxSchedule(seed: seed, sessions: sessions, steps: steps)
    }

    private enum Trouble: CaseIterable {
        case writers, user, provider, network, disk, process, clocks, account
    }

    private mutating func makePause() -> Pause {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45: .events(Int.random(in: 1...4, using: &random))
        case 45..<65: .time(random.duration(in: .zero...Duration.milliseconds(50)))
        case 65..<80: .time(random.duration(in: .zero...Duration.seconds(2)))
        case 80..<95: .time(random.duration(in: .seconds(1)...Duration.seconds(60)))
        default: .time(random.duration(in: .seconds(60)...Duration.seconds(7200)))
        }
    }

    private mutating func makeOperation(_ trouble: Trouble, _ sessions: Int) -> OutboxOperation {
        let session = Int.random(in: 0..<sessions, using: &random)
        switch trouble {
        case .writers: return chance(15) ? .leave : .post(session)
        case .user: return pick([.flush, .drop(session), .revive(session)])
        case .provider: return .provider(makeBehaviour())
        case .network: return .network(pick([.online, .online, .offline, .portal]))
        case .disk: return .disk(pick([.ready, .ready, .failing, .slow(.seconds(1)), .slow(.seconds(4))]))
        case .process:
            return .crash(
                afterActions: Int.random(in: 0...8, using: &random),
                down: pick([.milliseconds(200), .seconds(5), .seconds(4000)]))
        case .clocks:
            return chance(50)
                ? .setClock(by: pick([.seconds(7200), .seconds(-40_000_000)]))
                : .sleep(random.duration(in: .seconds(1)...Duration.seconds(20_000)))
        case .account: return pick([.signOut(session), .signIn(session, other: false), .signIn(session, other: true)])
        }
    }

    private mutating func makeBehaviour() -> WriteBehaviour {
        let wait: Duration? = pick([nil, .seconds(1), .seconds(20), .seconds(900)])
        return pick([
            .well, .well, .well, .slow(.seconds(1)), .slow(.seconds(20)), .down, .silent(carriesOut: true),
            .silent(carriesOut: false), .losesAnswers, .html, .fails(retryAfter: wait), .limits(retryAfter: wait),
            .refuses,
        ])
    }
}
