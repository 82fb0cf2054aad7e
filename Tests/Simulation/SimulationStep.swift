package import AuthWire

/// One thing that is done to a simulated world, and when.
package struct SimulationStep<Operation: Sendable & Equatable>: Sendable, Equatable {
    package var pause: Pause
    package var operation: Operation

    package init(_ pause: Pause, _ operation: Operation) {
        self.pause = pause
        self.operation = operation
    }
}

/// How long the simulation continues by itself before an operation.
package enum Pause: Sendable, Equatable {
    case time(Duration)
    /// Until so many things have happened: the way to act between any two of them.
    case events(Int)
}

/// What can be done to the world. Sessions are numbered from 0.
package enum SimulatedOperation: Sendable, Equatable {
    case ask(Int, Ask)
    /// The caller that has waited longest goes away.
    case leave(Int)
    case network(NetworkState)
    case provider(ProviderBehaviour)
    case store(StoreBehaviour)
    /// The provider ends the session for another reason.
    case revoke(Int)
    /// Another program renews the session from the store, and writes what it got there.
    case otherWriter(Int)
    /// The user removes it from the store, if the store reports that.
    case removeFromStore(Int)
    /// The wall clock is set.
    case setClock(by: Duration)
    /// The machine sleeps: time passes and nothing happens.
    case sleep(Duration)
    /// The process dies after it has carried out so many more actions, and is started again later.
    case crash(afterActions: Int, down: Duration, reboot: Bool)
    /// The profile is reloaded; broken, nothing renews its sessions.
    case reload(renewable: Bool)
}

/// What callers ask of a session.
package enum Ask: Sendable, Equatable {
    case token(minValid: Duration?)
    /// A token for a scope or an audience, by its number.
    case targeted(Int)
    case renewal
    /// A 401 with the token in use, or with the one before.
    case reject(current: Bool)
    case signOut
    /// The same, without a revocation at the provider.
    case signOutQuietly
    /// A request to sign in is sent now.
    case signIn
    case write
    case userChange
    case setPassword
    /// The provider is to be asked whether the session is good.
    case check
    case makeDefault
}

package enum ProviderBehaviour: Sendable, Equatable {
    case well
    case slow(Duration)
    /// Connections are refused.
    case down
    /// Nothing comes back; the request may have been carried out.
    case silent(carriesOut: Bool)
    /// Carried out, and the connection is lost before the answer.
    case losesAnswers
    /// Carried out, and the answer cannot be read.
    case garbage
    case html
    case fails(retryAfter: Duration?)
    case limits(retryAfter: Duration?)
    /// A refusal that is not final.
    case refuses
    /// It states a different life than the token has.
    case states(life: Duration)
}

package enum StoreBehaviour: Sendable, Equatable {
    case ready
    case locked
    case failing
    case slow(Duration)
    /// No answer within the limit; the call may have been carried out.
    case silent(carriesOut: Bool)
}
