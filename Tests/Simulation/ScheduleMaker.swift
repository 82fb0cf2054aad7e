import AuthModel
import AuthWire

/// Makes a schedule from a seed.
///
/// Each schedule has a few kinds of trouble rather than a little of all: so they meet often enough.
struct ScheduleMaker: RandomChoice {
    var random: SeededRandom
    private let seed: UInt64
    private var setting = Setting()

    init(seed: UInt64) {
        self.seed = seed
        random = SeededRandom(seed: seed &* 0x2545_F491_4F6C_DD1D &+ 7)
    }

    mutating func schedule() -> Schedule {
        setting = makeSetting()
        var troubles = [Trouble.callers]
        for _ in 0..<Int.random(in: 1...3, using: &random) { troubles.append(pick(Trouble.allCases)) }
        let count = Int.random(in: 3...(chance(10) ? 60 : 24), using: &random)
        let steps = (0..<count).map { _ in SimulationStep(makePause(), makeOperation(pick(troubles))) }
        return Schedule(seed: seed, setting: setting, steps: steps)
    }

    private enum Trouble: CaseIterable {
        case callers, ends, provider, network, store, process, clocks, others, targets
    }

    private mutating func makeSetting() -> Setting {
        var setting = Setting()
        setting.sessions = chance(15) ? Int.random(in: 2...3, using: &random) : 1
        setting.life = pick([
            .seconds(3600), .seconds(3600), .seconds(900), .seconds(300), .seconds(60), .seconds(10), nil,
        ])
        setting.rotation = pick([
            .rotating(grace: .zero, reuse: .revokes), .rotating(grace: .zero, reuse: .revokes),
            .rotating(grace: .zero, reuse: .refuses), .rotating(grace: .seconds(30), reuse: .revokes),
            .rotating(grace: .seconds(600), reuse: .refuses), .fixed, .fixed, .sliding, .bearer, .none,
        ])
        setting.targets = pick([.grants, .grants, .refuses, .narrows])
        setting.handsOver = chance(50)
        setting.agents = chance(15) ? 2 : 1
        // A store that several agents share reports changes to them.
        setting.reportsChanges = setting.agents > 1 || chance(50)
        setting.quiet = min(.seconds(7200), (setting.life ?? .seconds(600)) * 2)
        limitRenewals(&setting)
        // By the seed itself, so that other schedules stay the same.
        setting.revokesFamily = seed % 3 == 0
        setting.hasAtomicUpdates = setting.agents == 1 || seed % 3 != 1
        return setting
    }

    /// Some providers renew only near the end of a token. They are chosen by the seed itself, so that other schedules stay the
    /// same.
    private func limitRenewals(_ setting: inout Setting) {
        guard setting.means == .lasting, let life = setting.life, seed % 7 == 2 else { return }
        let shares = [Duration.zero, .zero, life / 10, life / 3]
        setting.renewsBeforeEnd = shares[Int(seed / 7 % 4)]
        // A token for a scope or an audience would be its newest one, whose end says nothing about the session's own.
        setting.targets = .refuses
    }

    private mutating func makePause() -> Pause {
        let life = setting.life ?? .seconds(600)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<40: return .events(Int.random(in: 1...4, using: &random))
        case 40..<55: return .time(random.duration(in: .zero...Duration.milliseconds(50)))
        case 55..<70: return .time(random.duration(in: .zero...Duration.seconds(2)))
        case 70..<85: return .time(random.duration(in: .seconds(1)...Duration.seconds(60)))
        default: return .time(random.duration(in: (life / 2)...(life * 5 / 4)))
        }
    }

    private mutating func makeOperation(_ trouble: Trouble) -> SimulatedOperation {
        let session = Int.random(in: 0..<setting.seats, using: &random)
        switch trouble {
        case .callers: return chance(10) ? .leave(session) : .ask(session, makeAsk())
        case .ends:
            return .ask(
                session, pick([.signOut, .signOut, .signOutQuietly, .signIn, .signIn, .reject(current: true), .write]))
        case .targets: return .ask(session, .targeted(Int.random(in: 0..<3, using: &random)))
        case .provider: return .provider(makeProviderBehaviour())
        case .network: return .network(pick([.online, .online, .offline, .limited, .portal]))
        case .store: return .store(makeStoreBehaviour())
        case .process:
            return .crash(
                afterActions: Int.random(in: 0...12, using: &random), down: makeDown(), reboot: chance(25))
        case .clocks:
            return chance(50)
                ? .setClock(
                    by: pick([.seconds(7200), .seconds(-7200), .seconds(-40_000_000), .seconds(90), .seconds(-5)]))
                : .sleep(random.duration(in: .seconds(1)...Duration.seconds(20_000)))
        case .others:
            return pick([
                .revoke(session), .otherWriter(session), .otherWriter(session), .removeFromStore(session),
                .reload(renewable: false), .reload(renewable: true),
            ])
        }
    }

    private mutating func makeAsk() -> Ask {
        let life = setting.life ?? .seconds(600)
        return pick([
            .token(minValid: nil), .token(minValid: nil), .token(minValid: life / 2), .token(minValid: life * 9 / 10),
            .token(minValid: life * 2), .renewal, .reject(current: true), .reject(current: false), .write,
            .userChange, .setPassword, .check, .makeDefault,
        ])
    }

    private mutating func makeProviderBehaviour() -> ProviderBehaviour {
        let wait: Duration? = pick([nil, .seconds(1), .seconds(20), .seconds(120), .seconds(900)])
        return pick([
            .well, .well, .well, .slow(.seconds(1)), .slow(.seconds(20)), .down, .silent(carriesOut: true),
            .silent(carriesOut: false), .losesAnswers, .garbage, .html, .fails(retryAfter: wait),
            .limits(retryAfter: wait), .refuses, .states(life: .zero), .states(life: .seconds(1)),
            .states(life: (setting.life ?? .seconds(600)) * 3),
        ])
    }

    private mutating func makeStoreBehaviour() -> StoreBehaviour {
        pick([
            .ready, .ready, .ready, .locked, .failing, .slow(.seconds(1)), .slow(.seconds(4)),
            .silent(carriesOut: true), .silent(carriesOut: false),
        ])
    }

    private mutating func makeDown() -> Duration {
        pick([.milliseconds(200), .seconds(1), .seconds(100), (setting.life ?? .seconds(600)) * 2])
    }
}
