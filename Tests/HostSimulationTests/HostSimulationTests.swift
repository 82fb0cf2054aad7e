import HostSimulation
import Simulation
import Testing

/// The real agents and the real store, on a simulated etcd. A schedule takes seconds in a debug build: `make
/// simulate-hosts` plays more of them.
@Suite("Simulated hosts whose etcd is restored", .timeLimit(.minutes(10)))
struct HostSimulationTests {
    private typealias Step = SimulationStep<HostOperation>

    /// Tokens that the backup lacks.
    private static func renewedSince(_ members: RestoredMembers = .same) -> [Step] {
        [
            Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .ask(0, .renewal)),
            Step(.time(.seconds(5)), .restore(members)),
        ]
    }

    private static let signedOutSince: [Step] = [
        Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .signOut(1)),
        Step(.time(.seconds(5)), .restore(.same)),
    ]

    private func play(_ steps: [Step], hosts: Int = 3) async -> HostSimulation.Outcome {
        let schedule = HostSchedule(hosts: hosts, steps: steps)
        let outcome = await HostSimulation.play(schedule)
        if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
        return outcome
    }

    @Test("newer tokens are in etcd again, with any members after the restore", arguments: RestoredMembers.allCases)
    func newerTokens(members: RestoredMembers) async {
        let outcome = await play(Self.renewedSince(members))
        #expect(outcome.coverage.restores == 1 && outcome.coverage.writtenAgain == 1)
        #expect(outcome.coverage.lost == 0 && outcome.coverage.reuses == 0)
    }

    @Test("a restore does not undo a sign-out")
    func signOut() async {
        let outcome = await play(Self.signedOutSince)
        #expect(outcome.coverage.signOuts == 1 && outcome.coverage.writtenAgain == 1)
    }

    @Test("a later sign-in counts, even if its host is off at the restore, and another host has read it")
    func laterSignIn() async {
        let outcome = await play([
            Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .signIn(1)),
            Step(.time(.seconds(5)), .kill(1, down: .seconds(60))), Step(.time(.seconds(1)), .restore(.same)),
        ])
        #expect(outcome.coverage.writtenAgain == 1 && outcome.coverage.lost == 0)
    }

    @Test("a later sign-in counts, even if each host was started after the sign-out before it")
    func signInAfterSignOut() async {
        let outcome = await play(signInAfterUnseenSignOut)
        #expect(outcome.coverage.signOuts == 1 && outcome.coverage.writtenAgain == 1)
        #expect(outcome.coverage.lost == 0 && outcome.coverage.unknown == 0)
    }

    @Test("a removed host does not become a member again")
    func removedHost() async {
        let outcome = await play([
            Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .forget(2, by: 0)),
            Step(.time(.seconds(10)), .restore(.same)),
        ])
        #expect(outcome.coverage.removedHosts == 1 && outcome.coverage.writtenAgain == 1)
    }

    @Test("a host that is disconnected while it is removed is not a member after that, even without any session")
    func removedWhileDisconnected() async {
        let outcome = await play(
            [
                Step(.events(0), .signOut(0)), Step(.events(0), .forget(2, by: 0)),
                Step(.events(2), .cut(2, for: .microseconds(5_646_685))),
            ], hosts: 4)
        #expect(outcome.coverage.removedHosts == 1)
    }

    @Test("a restore does not undo a change of the record key, and a host that was off reads everything")
    func keyChange() async {
        let outcome = await play([
            Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .changeKey(0)),
            Step(.time(.seconds(10)), .kill(2, down: .seconds(30))), Step(.time(.seconds(1)), .restore(.same)),
        ])
        #expect(outcome.coverage.keyChanges == 1 && outcome.coverage.writtenAgain == 1)
    }

    @Test("a renewal that is in progress stays the only one")
    func renewalInProgress() async {
        let outcome = await play([
            Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .provider(.slow(.seconds(12)))),
            Step(.time(.zero), .ask(0, .renewal)), Step(.time(.seconds(3)), .restore(.same)),
            Step(.time(.seconds(1)), .ask(1, .renewal)), Step(.time(.seconds(1)), .ask(2, .renewal)),
        ])
        #expect(outcome.coverage.renewals > 0 && outcome.coverage.reuses == 0 && outcome.coverage.lost == 0)
    }

    @Test("tokens that end with their host may be lost, even if it seals the former ones with a new key meanwhile")
    func lostRenewal() async {
        // It has broken rule 2: the former tokens, sealed again, counted as the new ones.
        let schedule = HostSchedule(
            seed: 1289, hosts: 2, life: .seconds(300),
            steps: [
                Step(.events(0), .ask(1, .renewal)), Step(.events(0), .changeKey(1)),
                Step(.time(.microseconds(254_894)), .kill(1, down: .seconds(60))),
            ])
        let outcome = await HostSimulation.play(schedule)
        if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
        #expect(outcome.coverage.reuses == 1 && outcome.coverage.lost == 1)
    }

    @Test("a clock that is set during a renewal changes no life of a token", arguments: [-600, 600])
    func clocks(seconds: Int) async {
        let outcome = await play([
            Step(.time(.seconds(1)), .provider(.slow(.seconds(2)))), Step(.time(.zero), .ask(0, .renewal)),
            Step(.time(.seconds(1)), .setClock(0, by: .seconds(seconds))),
            Step(.time(.seconds(5)), .setClock(1, by: .seconds(seconds))),
            Step(.time(.seconds(5)), .kill(2, down: .seconds(2))),
        ])
        #expect(outcome.coverage.renewals == 1)
    }

    @Test("data that no running host knows is counted separately")
    func nobodyKnows() async {
        let outcome = await play(
            [
                Step(.time(.seconds(1)), .kill(1, down: .seconds(60))), Step(.time(.seconds(1)), .backUp),
                Step(.time(.seconds(1)), .ask(0, .renewal)), Step(.time(.seconds(5)), .kill(0, down: .seconds(60))),
                Step(.time(.seconds(1)), .restore(.same)),
            ], hosts: 2)
        #expect(outcome.coverage.unknown == 1 && outcome.coverage.writtenAgain == 0)
    }

    /// Schedules that have broken a rule once.
    private static let former: [HostSchedule] = [
        // 1: the intent of an earlier request, which the backup had, said that no request was in progress.
        HostSchedule(
            seed: 10791, hosts: 4, life: .seconds(300),
            steps: [
                Step(.events(0), .provider(.losesAnswers)), Step(.time(.seconds(34)), .forget(0, by: 1)),
                Step(.events(0), .changeKey(0)), Step(.time(.seconds(40)), .kill(3, down: .seconds(60))),
                Step(.time(.seconds(52)), .setClock(0, by: .seconds(600))),
                Step(.time(.nanoseconds(5_962_166_616)), .ask(1, .reject)), Step(.time(.seconds(36)), .backUp),
                Step(.time(.nanoseconds(9_498_336_912)), .setClock(0, by: .seconds(120))),
                Step(.time(.nanoseconds(36_431_457_056)), .cut(2, for: .nanoseconds(34_557_340_985))),
                Step(.time(.seconds(3)), .restore(.behindProxy)),
            ]),
        // 2: a response from before everything is read again looked like a renewal of another host.
        HostSchedule(
            hosts: 2, life: .seconds(60), clockErrors: [.zero, .milliseconds(455_223)],
            steps: [
                Step(.events(0), .backUp), Step(.time(.seconds(40)), .ask(0, .renewal)),
                Step(.events(3), .restore(.new)),
            ]),
        HostSchedule(
            seed: 204,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .forget(2, by: 1)),
                Step(.time(.seconds(1)), .provider(.slow(.seconds(12)))), Step(.time(.seconds(40)), .ask(0, .renewal)),
                Step(.time(.microseconds(2_641_054)), .restore(.behindProxy)), Step(.events(0), .ask(0, .reject)),
            ]),
        // 2: a hold brought etcd to the revision that its host knew.
        HostSchedule(
            seed: 147, life: .seconds(60),
            steps: [
                Step(.events(5), .ask(2, .reject)), Step(.time(.seconds(42)), .backUp),
                Step(.events(7), .restore(.same)),
            ]),
        // 2: an error of etcd, which has no revision, counted as a response that shows the restore.
        HostSchedule(
            seed: 2209, life: .seconds(60),
            clockErrors: [
                .nanoseconds(337_112_988_242), .nanoseconds(-187_655_572_362), .nanoseconds(47_439_088_151),
            ],
            steps: [
                Step(.events(8), .backUp), Step(.events(10), .ask(2, .token)),
                Step(.events(12), .restore(.behindProxy)),
            ]),
        // 2: a host that was started after a sign-in took the former one, which the backup had, for a new one.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .signIn(1)),
                Step(.events(0), .kill(0, down: .milliseconds(200))), Step(.time(.seconds(1)), .ask(0, .renewal)),
                Step(.events(3), .restore(.behindProxy)), Step(.events(0), .ask(1, .renewal)),
            ]),
        // 2: a host that was started after a sign-out, and had signed in, treated the former sign-in as a new one (seed
        // 31195, whose messages have other times since a sign-out sends one more).
        HostSchedule(
            seed: 5, hosts: 2, life: .seconds(60),
            steps: [
                Step(.events(1), .backUp), Step(.events(0), .signOut(2)),
                Step(.time(.seconds(1)), .kill(0, down: .seconds(2))), Step(.events(0), .signIn(0)),
                Step(.time(.seconds(24)), .ask(0, .renewal)), Step(.events(3), .setClock(0, by: .seconds(3))),
                Step(.events(0), .restore(.same)),
            ]),
        // 4: the backup had a hold, even one of the host that had to write.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .ask(1, .reject)), Step(.time(.microseconds(136_943)), .backUp),
                Step(.time(.seconds(1)), .restore(.same)),
            ]),
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .ask(1, .renewal)), Step(.events(3), .backUp),
                Step(.time(.microseconds(297_401)), .restore(.same)),
            ]),
        // 4: a host that was sending gave up its intent because of an earlier refusal, and waited for a hold.
        HostSchedule(
            seed: 13879, hosts: 2,
            steps: [
                Step(.events(0), .ask(1, .reject)), Step(.time(.nanoseconds(180_630_369)), .ask(1, .reject)),
                Step(.events(1), .changeKey(0)), Step(.events(0), .signIn(1)),
                Step(.time(.nanoseconds(260_551_082)), .ask(1, .renewal)), Step(.time(.seconds(22)), .ask(0, .token)),
                Step(.events(0), .ask(0, .renewal)), Step(.events(2), .changeKey(0)), Step(.events(1), .backUp),
                Step(.time(.seconds(1)), .ask(0, .renewal)), Step(.time(.seconds(4)), .ask(0, .renewal)),
                Step(.events(4), .restore(.same)),
            ]),
        // 4: another host removed the earlier sign-in of the backup before the one with the later sign-in had read it.
        HostSchedule(
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .signOut(1)), Step(.events(0), .ask(0, .reject)),
                Step(.events(0), .forget(2, by: 1)), Step(.events(0), .signIn(1)),
                Step(.time(.seconds(1)), .restore(.new)),
            ]),
        // 4: a removed host, a member again in the backup, wrote the session with the former key. Nobody replaced that.
        HostSchedule(
            seed: 3646,
            steps: [
                Step(.events(0), .ask(2, .reject)), Step(.time(.seconds(3)), .ask(0, .renewal)),
                Step(.time(.seconds(1)), .ask(0, .renewal)), Step(.time(.nanoseconds(2_646_308_983)), .changeKey(0)),
                Step(.events(0), .ask(0, .renewal)), Step(.time(.nanoseconds(20_579_548_874)), .ask(1, .renewal)),
                Step(.events(3), .backUp), Step(.time(.nanoseconds(234_632_203)), .forget(1, by: 2)),
                Step(.time(.nanoseconds(11_864_685_236)), .ask(1, .renewal)), Step(.events(3), .restore(.behindProxy)),
            ]),
        // 5: a response from before everything is read again undid a sign-out.
        HostSchedule(
            seed: 32, hosts: 4, life: .seconds(60), clockErrors: [.zero, .zero, .zero, .microseconds(-153_381_580)],
            steps: [
                Step(.events(1), .pause(0, for: .microseconds(11_345_669))), Step(.events(2), .backUp),
                Step(.events(11), .ask(1, .renewal)),
                Step(.time(.seconds(33)), .pause(2, for: .microseconds(79_502_455))), Step(.events(0), .signOut(3)),
                Step(.time(.microseconds(220_876)), .restore(.behindProxy)),
            ]),
        // 5: a host whose write of newer tokens failed because of a sign-out did not remember the sign-out.
        HostSchedule(
            seed: 792, hosts: 4,
            steps: [
                Step(.time(.seconds(4)), .ask(1, .renewal)), Step(.events(5), .signOut(0)), Step(.events(0), .backUp),
                Step(.events(0), .kill(2, down: .seconds(2))),
                Step(.time(.nanoseconds(154_611_206)), .kill(0, down: .milliseconds(200))),
                Step(.time(.seconds(20)), .kill(3, down: .seconds(60))), Step(.events(0), .restore(.new)),
            ]),
        // 5: a host that was started after a sign-out, and had read a later change, was to repeat the sign-out.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .signOut(0)),
                Step(.events(0), .kill(1, down: .seconds(60))), Step(.events(0), .changeKey(0)),
                Step(.time(.seconds(1)), .cut(0, for: .nanoseconds(19_023_129_618))),
                Step(.events(3), .kill(0, down: .milliseconds(200))), Step(.events(7), .restore(.same)),
            ]),
        // 7: a record that was written after the restore had the same revision as the one before.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .signIn(0)), Step(.time(.seconds(1)), .ask(0, .reject)),
                Step(.events(3), .restore(.behindProxy)),
            ]),
        // 7: other changes brought etcd to the revision that a host knew, whose watch stayed open and silent.
        HostSchedule(
            hosts: 5,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .signIn(2)), Step(.time(.seconds(1)), .ask(4, .reject)),
                Step(.events(3), .restore(.behindProxy)),
                Step(.time(.microseconds(251_124)), .pause(4, for: .microseconds(9_481_357))),
            ]),
        // 7: a write failed because of the restore after everything was read again, and waited for the end of a long pause.
        HostSchedule(
            seed: 15623, hosts: 2,
            steps: [
                Step(.events(0), .cut(1, for: .nanoseconds(10_325_334_758))), Step(.events(0), .ask(0, .renewal)),
                Step(.events(6), .loseAnswers(0, for: .nanoseconds(46_830_476_311))), Step(.events(0), .backUp),
                Step(.time(.seconds(26)), .ask(0, .renewal)),
                Step(.time(.nanoseconds(15_543_358_429)), .restore(.new)), Step(.events(0), .ask(0, .renewal)),
            ]),
        // 8: a change of the record key failed on a host that had not read everything again.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(1), .ask(1, .reject)), Step(.events(0), .backUp), Step(.events(3), .ask(1, .renewal)),
                Step(.events(2), .restore(.new)), Step(.events(0), .changeKey(1)),
            ]),
        // 8: a host that found the restore with the write of a sign-in saved it a second later.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .ask(0, .renewal)), Step(.events(3), .restore(.new)),
                Step(.events(0), .signIn(1)),
            ]),
        // 8: a sign-out failed on a host that found the restore with it.
        HostSchedule(
            hosts: 2,
            steps: [
                Step(.events(0), .backUp), Step(.events(0), .ask(0, .renewal)),
                Step(.time(.nanoseconds(58_127_652)), .restore(.new)), Step(.events(0), .signOut(1)),
            ]),
    ]

    @Test("a schedule that has broken a rule once breaks none", arguments: former)
    func formerSchedules(schedule: HostSchedule) async {
        let outcome = await HostSimulation.play(schedule)
        if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
        #expect(outcome.coverage.restores == 1)
    }

    @Test("a new sign-in is written soon after a restore that interrupts its write, although etcd lacks the session")
    func newSignIn() async throws {
        // Nothing of the session was in etcd, so nothing was reported, and the next write came after a pause of 101 s.
        let schedule = HostSchedule(
            seed: 7, hosts: 2,
            steps: [
                Step(.time(.seconds(1)), .signOut(0)), Step(.time(.seconds(5)), .backUp),
                Step(.time(.seconds(1)), .signIn(1)), Step(.time(.seconds(5)), .signOut(1)),
                Step(.time(.seconds(5)), .signIn(0)), Step(.events(0), .loseAnswers(0, for: .seconds(500))),
                Step(.time(.milliseconds(83_700)), .restore(.new)),
            ])
        let outcome = await HostSimulation.play(schedule, isTraced: true)
        if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
        let after = outcome.trace.drop { !$0.contains("restore(") }
        let restored = try #require(Self.time(after.first))
        let written = try #require(Self.time(after.first { $0.hasSuffix(": sessions") }))
        #expect(outcome.coverage.restores == 1 && written - restored < 15)
    }

    /// Seconds since the beginning.
    private static func time(_ line: String?) -> Double? { line?.split(separator: " ").first.flatMap { Double($0) } }

    @Test("the first schedules break no rule")
    func firstSchedules() async {
        var coverage = HostCoverage()
        for seed in 1...6 as ClosedRange<UInt64> {
            let schedule = HostSimulation.schedule(seed: seed)
            let outcome = await HostSimulation.play(schedule)
            if outcome.violation != nil { Issue.record("\(await HostSimulation.report(schedule))") }
            coverage.add(outcome.coverage)
        }
        #expect(coverage.restores > 0 && coverage.renewals > 0, "\(coverage.words)")
    }

    @Test("a schedule has the same result twice", arguments: [2, 5] as [UInt64])
    func deterministic(seed: UInt64) async {
        let schedule = HostSimulation.schedule(seed: seed)
        let first = await HostSimulation.play(schedule, isTraced: true)
        let second = await HostSimulation.play(schedule, isTraced: true)
        #expect(first.trace.count > 100)
        #expect(first.trace == second.trace)
    }
}

/// No host has seen the former sign-in end: each was started after it.
let signInAfterUnseenSignOut: [SimulationStep<HostOperation>] = {
    typealias Step = SimulationStep<HostOperation>
    return [
        Step(.time(.seconds(1)), .backUp), Step(.time(.seconds(1)), .signOut(1)),
        Step(.time(.seconds(1)), .kill(1, down: .milliseconds(200))), Step(.time(.zero), .signIn(1)),
        Step(.time(.seconds(1)), .kill(0, down: .milliseconds(200))),
        Step(.time(.seconds(1)), .kill(1, down: .milliseconds(200))),
        Step(.time(.seconds(1)), .kill(2, down: .milliseconds(200))),
        Step(.time(.seconds(20)), .ask(0, .renewal)), Step(.time(.seconds(5)), .restore(.same)),
    ]
}()
