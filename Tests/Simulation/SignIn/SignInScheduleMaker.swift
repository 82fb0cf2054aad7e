import AuthModel

/// Makes a schedule of sign-ins from a seed: a user who signs in, and one to three kinds of trouble.
struct SignInScheduleMaker: RandomChoice {
    private enum Trouble: CaseIterable {
        case user, impatience, provider, process, clocks
    }

    var random: SeededRandom
    private let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed &* 0x9E37_79B9_7F4A_7C15 &+ 29)
    }

    mutating func schedule() -> SignInSchedule {
        var troubles = [Trouble.user, .user, .user]
        for _ in 0..<Int.random(in: 1...3, using: &random) { troubles.append(pick(Trouble.allCases)) }
        // Most of the time the user goes on with the way that was chosen.
        let way = pick(SignInWay.allCases)
        let count = Int.random(in: 3...(chance(10) ? 40 : 16), using: &random)
        var steps = [SimulationStep(makePause(), makeStart(way))]
        for _ in 1..<count { steps.append(SimulationStep(makePause(), makeOperation(pick(troubles), way))) }
        return SignInSchedule(seed: seed, steps: steps)
    }

    private mutating func makePause() -> Pause {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<55: .events(Int.random(in: 1...4, using: &random))
        case 55..<75: .time(random.duration(in: .zero...Duration.milliseconds(200)))
        case 75..<90: .time(random.duration(in: .zero...Duration.seconds(3)))
        case 90..<97: .time(random.duration(in: .seconds(1)...Duration.seconds(60)))
        default: .time(random.duration(in: .seconds(60)...Duration.seconds(1200)))
        }
    }

    private mutating func makeStart(_ way: SignInWay) -> SignInOperation {
        .start(
            chance(80) ? way : pick(SignInWay.allCases), account: Int.random(in: 1...2, using: &random),
            replaces: chance(40))
    }

    private mutating func makeOperation(_ trouble: Trouble, _ way: SignInWay) -> SignInOperation {
        switch trouble {
        case .user: makeUser(way)
        case .impatience: pick([.cancel, .leave, .join, .cancel, .leave, makeStart(way)])
        case .provider: pick([.provider(makeBehaviour()), .store(isWorking: chance(50))])
        case .process:
            chance(50)
                ? .crash(down: pick([.milliseconds(200), .seconds(60)]))
                : .stop(down: pick([.milliseconds(200), .seconds(60)]))
        case .clocks: .sleep(random.duration(in: .seconds(1)...Duration.seconds(2000)))
        }
    }

    private mutating func makeUser(_ way: SignInWay) -> SignInOperation {
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<25: makeStart(way)
        case 25..<45: .answer(isRight: chance(75))
        case 45..<60: .agree(chance(60))
        case 60..<75: .browser(chance(70) ? .code : pick(BrowserVisit.allCases))
        case 75..<90: .device(isApproved: chance(80))
        case 90..<95: .resend
        default: .join
        }
    }

    private mutating func makeBehaviour() -> SignInBehaviour {
        pick([
            .well, .well, .slow(.seconds(2)), .slow(.seconds(20)), .down, .withholdsUser, .withholdsUser, .refuses,
            .forgetsClients, .asksOn, .withholdsValues,
        ])
    }
}
