import AuthWire
import Simulation
import Testing

@Suite("Simulated fleets", .timeLimit(.minutes(5)))
struct FleetTests {
    @Test("200 sessions of one provider that ended without a network are active 25 s after it is back, ten a second")
    func fleet() throws {
        for seed in 1...3 as ClosedRange<UInt64> {
            var setting = Setting()
            setting.sessions = 200
            setting.quiet = .seconds(60)
            let moves = [
                Move(.time(.seconds(10)), .network(.offline)), Move(.time(.seconds(5)), .sleep(.seconds(20_000))),
                Move(.time(.seconds(5)), .network(.online)),
            ]
            let schedule = Schedule(seed: seed, setting: setting, moves: moves)
            let outcome = Simulation.play(schedule, traced: true)
            // The rule of ten a second is the referee's.
            if outcome.violation != nil { Issue.record("\(Simulation.report(schedule))") }
            let online = Duration.seconds(1 + 10 + 5 + 20_000 + 5)
            for history in outcome.history {
                let back = try #require(history.states.last)
                #expect(back.state == .active && back.at - online < .seconds(25))
                #expect(history.calls.count == 1)
            }
        }
    }
}
