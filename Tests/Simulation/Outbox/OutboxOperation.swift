package import AuthWire

/// What can be done to the world of the outbox. Sessions are numbered from 0.
package enum OutboxOperation: Sendable, Equatable {
    /// A program hands a write in, and waits for what becomes of it.
    case post(Int)
    /// The program that has waited longest goes away.
    case leave
    case network(NetworkState)
    case provider(WriteBehaviour)
    case disk(DiskBehaviour)
    case signOut(Int)
    /// - Parameter other: not the account whose writes wait.
    case signIn(Int, other: Bool)
    /// A person has the outbox tried now.
    case flush
    /// A person drops the oldest write of a session.
    case drop(Int)
    /// A person has the first write that was given up tried again.
    case revive(Int)
    case setClock(by: Duration)
    /// The machine sleeps: time passes and nothing happens.
    case sleep(Duration)
    /// The process dies after it has carried out so many more actions, and is started again later.
    case crash(afterActions: Int, down: Duration)
}

/// What a provider does about a write that reaches it.
package enum WriteBehaviour: Sendable, Equatable {
    case well
    case slow(Duration)
    /// Connections are refused.
    case down
    /// Nothing comes back; the write may have been carried out.
    case silent(carriesOut: Bool)
    /// Carried out, and the connection is lost before the answer.
    case losesAnswers
    case html
    case fails(retryAfter: Duration?)
    case limits(retryAfter: Duration?)
    /// A no to this write that stands.
    case refuses
}

package enum DiskBehaviour: Sendable, Equatable {
    case ready
    case failing
    case slow(Duration)
}

/// A schedule of the outbox: with the seed, everything that happens follows from it.
package struct OutboxSchedule: Sendable, Equatable {
    /// Of what is left to chance: how long each answer takes, and the machine's own jitter.
    package var seed: UInt64
    package var sessions = 1
    package var moves: [SimulationStep<OutboxOperation>]

    package init(seed: UInt64, sessions: Int = 1, moves: [SimulationStep<OutboxOperation>]) {
        self.seed = seed
        self.sessions = sessions
        self.moves = moves
    }
}

extension OutboxSchedule: CustomStringConvertible {
    package var description: String {
        (["seed \(seed), sessions \(sessions)"] + moves.map { "  \($0.pause) → \($0.deed)" }).joined(separator: "\n")
    }
}

extension OutboxSchedule: Shortenable {
    static var simplifications: [(inout OutboxSchedule) -> Void] { [{ $0.sessions = 1 }, { $0.seed = 1 }] }
}
