package import AuthWire

/// What can be done to the world of the outbox. Sessions are numbered from 0.
package enum OutboxOperation: Sendable, Equatable {
    /// A program posts a write, and waits for its outcome.
    case post(Int)
    /// The program that has waited longest goes away.
    case leave
    case network(NetworkState)
    case provider(WriteBehaviour)
    case disk(DiskBehaviour)
    case signOut(Int)
    /// - Parameter other: not the account whose writes wait.
    case signIn(Int, other: Bool)
    /// The user has all entries sent now.
    case flush
    /// The user drops the oldest write of a session.
    case drop(Int)
    /// The user has the first write that was given up sent again.
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
    /// A final refusal of this write.
    case refuses
}

package enum DiskBehaviour: Sendable, Equatable {
    case ready
    case failing
    case slow(Duration)
}
