/// A schedule of sign-ins to one session.
package struct SignInSchedule: SimulationSchedule {
    package var seed: UInt64
    package var steps: [SimulationStep<SignInOperation>]

    package var heading: String { "seed \(seed), sign-ins" }

    package static var simplifications: [(inout SignInSchedule) -> Void] { [{ $0.seed = 1 }] }
}
