import AuthModel
import AuthWire
import Simulation
import Testing

/// What goes wrong for others, played through: each with forty different answer times and jitters.
@Suite("Simulated cases", .timeLimit(.minutes(5)))
struct CaseTests {
    private static let seeds = 1...40 as ClosedRange<UInt64>
    private static let life = Duration.seconds(3600)

    @Test("100 callers at the moment of expiry, within 50 ms, cause one call at the provider")
    func hundredCallers() throws {
        for seed in Self.seeds {
            var random = SeededRandom(seed: seed)
            // Asleep over its deadline, so that the callers come at the end.
            var steps = [
                SimulationStep<SimulatedOperation>(.time(.zero), .sleep(Self.life - .seconds(1) - .milliseconds(25)))
            ]
            var instants = (0..<100).map { _ in random.duration(in: .zero...Duration.milliseconds(50)) }.sorted()
            for (index, instant) in instants.enumerated().reversed() where index > 0 {
                instants[index] = instant - instants[index - 1]
            }
            steps += instants.map {
                SimulationStep<SimulatedOperation>(.time($0), .ask(0, .token(minValid: .seconds(60))))
            }
            let outcome = play(steps, seed: seed, quiet: .seconds(60))
            #expect(outcome.history[0].calls.count == 1, "seed \(seed)")
        }
    }

    @Test("a refused token does not sign out if another program has put a newer one into the store")
    func loserAdopts() {
        for seed in Self.seeds {
            var setting = Setting()
            setting.rotation = .rotating(grace: .zero, reuse: .refuses)
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .otherWriter(0)),
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .ask(0, .renewal)),
            ]
            let outcome = play(steps, seed: seed, setting: setting)
            #expect(outcome.history[0].states.map(\.state) == [.active])
        }
    }

    @Test(
        "what users change while the store is locked never replaces tokens that another program has rotated there",
        arguments: [.setPassword, .userChange, .makeDefault] as [Ask])
    func changedWhileLocked(change: Ask) {
        for seed in Self.seeds {
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .store(.locked)),
                SimulationStep<SimulatedOperation>(.time(.seconds(1)), .otherWriter(0)),
                SimulationStep<SimulatedOperation>(.time(.seconds(1)), .ask(0, change)),
                SimulationStep<SimulatedOperation>(.time(.seconds(1)), .store(.ready)),
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .ask(0, .renewal)),
            ]
            let outcome = play(steps, seed: seed)
            #expect(outcome.history[0].states.map(\.state) == [.active])
        }
    }

    @Test(
        "whatever the network does to a renewal, the session stays",
        arguments: [
            .down, .silent(carriesOut: false), .html, .garbage, .losesAnswers, .fails(retryAfter: nil),
            .limits(retryAfter: .seconds(30)), .refuses,
        ] as [ProviderBehaviour])
    func blip(behaviour: ProviderBehaviour) {
        for seed in Self.seeds {
            var setting = Setting()
            setting.rotation = .rotating(grace: .seconds(600), reuse: .revokes)
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(60)), .provider(behaviour)),
                SimulationStep<SimulatedOperation>(.time(.zero), .ask(0, .renewal)),
                SimulationStep<SimulatedOperation>(.time(.seconds(40)), .provider(.well)),
            ]
            let outcome = play(steps, seed: seed, setting: setting)
            #expect(outcome.history[0].states.map(\.state) == [.active])
            #expect(outcome.history[0].calls.count >= 2)
        }
    }

    @Test("a token that renews itself is renewed in the last 16 s of its life, if its provider is back by then")
    func lastChance() {
        for seed in Self.seeds {
            var setting = Setting()
            setting.sessions = 12
            setting.life = .seconds(120)
            setting.rotation = .bearer
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.zero), .provider(.down)),
                SimulationStep<SimulatedOperation>(.time(.seconds(103)), .provider(.well)),
            ]
            let outcome = play(steps, seed: seed, setting: setting, quiet: .seconds(120))
            for history in outcome.history { #expect(history.states.map(\.state) == [.active]) }
        }
    }

    @Test("a sign-out beside a renewal leaves nothing live at a provider that was reached", arguments: 1...12)
    func signOutDuringRenewal(events: Int) {
        for seed in Self.seeds {
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .ask(0, .renewal)),
                SimulationStep<SimulatedOperation>(.events(events), .ask(0, .signOut)),
            ]
            #expect(play(steps, seed: seed, quiet: .seconds(60)).violation == nil)
        }
    }

    @Test("two agents with one store use the tokens that either of them has renewed")
    func twoAgents() {
        for seed in Self.seeds {
            var setting = Setting()
            setting.agents = 2
            setting.reportsChanges = true
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .ask(0, .renewal)),
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .ask(1, .renewal)),
                SimulationStep<SimulatedOperation>(.time(.seconds(1)), .ask(1, .setPassword)),
                SimulationStep<SimulatedOperation>(.time(.zero), .ask(0, .renewal)),
            ]
            let outcome = play(steps, seed: seed, setting: setting, quiet: .seconds(60))
            for history in outcome.history { #expect(history.states.map(\.state) == [.active]) }
        }
    }

    @Test("a 401 with a token counts even after the other agent has written that token with another refresh token")
    func rejectedAtTwoAgents() {
        for seed in Self.seeds {
            var setting = Setting()
            setting.agents = 2
            setting.reportsChanges = true
            setting.rotation = .rotating(grace: .zero, reuse: .refuses)
            setting.answerTime = .milliseconds(100)...Duration.milliseconds(100)
            setting.storeTime = .milliseconds(10)...Duration.milliseconds(10)
            // The answer to the other agent is on its way when the 401 comes.
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(60)), .ask(1, .targeted(2))),
                SimulationStep<SimulatedOperation>(.events(2), .ask(0, .reject(current: true))),
                SimulationStep<SimulatedOperation>(.events(0), .ask(0, .token(minValid: nil))),
            ]
            let outcome = play(steps, seed: seed, setting: setting)
            for history in outcome.history { #expect(history.states.last?.state == .active) }
        }
    }

    @Test(
        "a token that renews itself stays if the store answers for the new one only after that has ended",
        arguments: [.silent(carriesOut: false), .silent(carriesOut: true), .slow(.seconds(2))] as [StoreBehaviour])
    func endedDuringWrite(store: StoreBehaviour) {
        for (seed, isRejected) in Self.seeds.flatMap({ [($0, false), ($0, true)] }) {
            var setting = Setting()
            setting.rotation = .bearer
            var steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(100)), .provider(.states(life: .seconds(1)))),
                SimulationStep<SimulatedOperation>(.time(.zero), .store(store)),
                SimulationStep<SimulatedOperation>(.time(.zero), .ask(0, .renewal)),
            ]
            if isRejected {
                steps.append(
                    SimulationStep<SimulatedOperation>(.time(.seconds(1)), .ask(0, .reject(current: true))))
            }
            steps.append(SimulationStep<SimulatedOperation>(.time(.milliseconds(4500)), .store(.ready)))
            let outcome = play(steps, seed: seed, setting: setting, quiet: .seconds(60))
            #expect(outcome.history[0].states.last?.state == .active, "seed \(seed)")
        }
    }

    @Test("a provider that fails for a day gets less than 60 requests an hour, and less than 40 on average")
    func noStorm() {
        for seed in Self.seeds.prefix(20) {
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.zero), .provider(.fails(retryAfter: nil))),
                SimulationStep<SimulatedOperation>(.time(.seconds(86_400)), .provider(.well)),
            ]
            let outcome = play(steps, seed: seed)
            #expect(outcome.coverage.maxCalls < 60)
            #expect(outcome.history[0].calls.count < 24 * 40)
        }
    }

    @Test("tokens of 15 minutes with refresh tokens for one use: a day without a loss, a second use or a gap")
    func dayOfShortTokens() {
        for seed in Self.seeds {
            var setting = Setting()
            setting.life = .seconds(900)
            setting.rotation = .rotating(grace: .zero, reuse: .revokes)
            // A second use would end the session, which the simulation reports.
            let outcome = play([], seed: seed, setting: setting, quiet: .seconds(86_400))
            #expect(outcome.history[0].states.map(\.state) == [.active])
            // 96 tokens would do if each were used to its end; they are renewed at 65 to 85 % of it.
            #expect((96...150).contains(outcome.history[0].calls.count), "\(outcome.history[0].calls.count)")
        }
    }

    @Test("a provider that renews only after the end of a token loses no session in a day", arguments: [0, 60, 300])
    func dayOfEarlyRefusals(before seconds: Int) {
        for seed in Self.seeds.prefix(10) {
            var setting = Setting()
            setting.life = .seconds(900)
            setting.renewsBeforeEnd = .seconds(seconds)
            let outcome = play([], seed: seed, setting: setting, quiet: .seconds(86_400))
            #expect(!outcome.history[0].states.contains { $0.state == .signInRequired })
            // At most three requests for each token.
            #expect((96...300).contains(outcome.history[0].calls.count), "\(outcome.history[0].calls.count)")
        }
    }

    @Test(
        "a 401 for a token just received ends no session at a provider that renews only near the end",
        arguments: [0, 60])
    func rejectedAfterRenewal(before seconds: Int) {
        for seed in Self.seeds {
            var setting = Setting()
            setting.renewsBeforeEnd = .seconds(seconds)
            let reject = SimulationStep<SimulatedOperation>(.time(.seconds(5)), .ask(0, .reject(current: true)))
            let outcome = play([reject, reject], seed: seed, setting: setting)
            // It is stale for a moment after the end of its token.
            #expect(!outcome.history[0].states.contains { $0.state == .signInRequired })
        }
    }

    @Test("after sleeping past its end a session waits for the network, and is active two seconds after that")
    func resume() throws {
        for seed in Self.seeds {
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(60)), .network(.offline)),
                SimulationStep<SimulatedOperation>(.time(.seconds(5)), .sleep(.seconds(30_000))),
                SimulationStep<SimulatedOperation>(.time(.seconds(20)), .network(.online)),
            ]
            let outcome = play(steps, seed: seed)
            // The network watch reports within a second; then comes the jitter, then the answer.
            let online = Duration.seconds(1 + 60 + 5 + 30_000 + 20)
            let back = try #require(outcome.history[0].states.last)
            #expect(back.state == .active)
            #expect(back.at - online < .seconds(1 + 2 + 1))
            #expect(outcome.history[0].calls.allSatisfy { $0 > online })
        }
    }

    @Test("dates corrected under a wrong clock, and read after a crash under the right one, lose no session")
    func datedUnderAnotherClock() throws {
        for seed in Self.seeds {
            var setting = Setting()
            setting.life = .seconds(60)
            let steps = [
                SimulationStep<SimulatedOperation>(.events(0), .setClock(by: .seconds(7200))),
                SimulationStep<SimulatedOperation>(
                    .events(0), .crash(afterActions: 0, down: .seconds(100), reboot: true)),
                SimulationStep<SimulatedOperation>(.time(.seconds(1)), .setClock(by: .seconds(-7200))),
                // At the restart: then it is unknown how old its token is.
                SimulationStep<SimulatedOperation>(.events(1), .ask(0, .token(minValid: .seconds(54)))),
            ]
            let outcome = play(steps, seed: seed, setting: setting, quiet: .seconds(120))
            #expect(try #require(outcome.history[0].states.last).state == .active)
            #expect(outcome.history[0].calls.count > 0)
        }
    }

    @Test(
        "a sign-in during the removal of the former session is in the store, even if that removal gets no reply",
        arguments: [true, false])
    func signInDuringRemoval(carriesOut: Bool) {
        for seed in Self.seeds {
            // A renewal is being written when the sign-out comes.
            for events in 1...6 {
                let steps = [
                    SimulationStep<SimulatedOperation>(.events(events), .ask(0, .signOut)),
                    SimulationStep<SimulatedOperation>(.events(0), .store(.silent(carriesOut: carriesOut))),
                    SimulationStep<SimulatedOperation>(.time(.seconds(1)), .ask(0, .signIn)),
                ]
                #expect(play(steps, seed: seed, quiet: .seconds(60)).violation == nil)
            }
        }
    }

    @Test("an hour without a network causes no call")
    func offlineHour() throws {
        for seed in Self.seeds {
            var steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(3000)), .network(.offline)),
                SimulationStep<SimulatedOperation>(.time(.seconds(2)), .leave(0)),
            ]
            steps += (1...60).map { _ in
                SimulationStep<SimulatedOperation>(.time(.seconds(60)), .ask(0, .token(minValid: nil)))
            }
            steps.append(SimulationStep<SimulatedOperation>(.time(.zero), .network(.online)))
            let outcome = play(steps, seed: seed)
            let calls = outcome.history[0].calls
            #expect(!calls.contains { $0 > .seconds(3003) && $0 < .seconds(6603) })
            #expect(calls.contains { $0 > .seconds(6603) && $0 < .seconds(6607) })
        }
    }

    @Test("an hour without a network wakes the agent at the end of each token, and at nothing else")
    func offlineRest() throws {
        for seed in Self.seeds {
            var setting = Setting()
            setting.sessions = 10
            let steps = [
                SimulationStep<SimulatedOperation>(.time(.seconds(60)), .network(.offline)),
                SimulationStep<SimulatedOperation>(.time(.seconds(2 * 3600)), .network(.online)),
            ]
            let outcome = play(steps, seed: seed, setting: setting)
            let away = Duration.seconds(63)...Duration.seconds(61 + 2 * 3600)
            for history in outcome.history {
                let ended = try #require(history.states.first { $0.state == .stale }).at
                #expect(history.wakes.filter(away.contains).allSatisfy { $0 == ended }, "\(history.wakes)")
                #expect(!history.calls.contains(where: away.contains))
            }
        }
    }

    private func play(
        _ steps: [SimulationStep<SimulatedOperation>], seed: UInt64, setting: Setting = Setting(),
        quiet: Duration? = nil
    ) -> Outcome<Coverage> {
        var setting = setting
        setting.quiet = quiet ?? setting.quiet
        let schedule = Schedule(seed: seed, setting: setting, steps: steps)
        let outcome = SessionSimulation.trace(schedule)
        if outcome.violation != nil { Issue.record("\(SessionSimulation.report(schedule))") }
        return outcome
    }
}
