/// A schedule of the outbox.
package struct OutboxSchedule: SimulationSchedule {
    package var seed: UInt64
    package var sessions: Int
    package var steps: [SimulationStep<OutboxOperation>]

    package var heading: String { "seed \(seed), sessions \(sessions)" }

    package static var simplifications: [(inout OutboxSchedule) -> Void] { [{ $0.sessions = 1 }, { $0.seed = 1 }] }
}
