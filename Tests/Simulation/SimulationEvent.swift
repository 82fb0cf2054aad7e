import AuthMachines
import AuthModel
import AuthWire

/// What is going to happen by itself.
enum SimulationEvent {
    /// Somebody's turn at the provider has come.
    case turn
    case reachesProvider(Int)
    case answered(Int)
    case timesOut(Int)
    case storeCarriesOut(Int)
    case storeAnswers(Int)
    /// The network watch has noticed how things are.
    case networkReported
    /// Of one agent.
    case restart(Int)
    case signInReaches(Int)
    case signInAnswered(Int)
    case revocationArrives(Int)
}

/// A renewal on its way.
struct Request {
    let session: Int
    let currentRequest: RenewalRequestID
    /// `nil`: a renewal.
    let target: TokenTarget?
    let tokens: TokenSet
    let account: Int?
    /// Who sent it: an answer to somebody who has gone is nobody's.
    let seat: SimulatedSession?
    var sentAt: Moment
    /// Since the beginning of the schedule.
    var sent: Duration
    var result: Result<Grant, ProviderFailure>?
    /// It never left the machine.
    private(set) var hasStayed = false

    mutating func fail(_ failure: ProviderFailure) {
        result = .failure(failure)
        hasStayed = true
    }
}

/// A sign-in on its way.
struct SignInRequest {
    let session: Int
    let sentAt: Moment
    /// Since the beginning of the schedule.
    let sent: Duration
    /// The process that waits for it.
    let process: Int
    var account: Int?
    var tokens: TokenSet?
}

/// What a provider is told of a sign-out.
struct Revocation {
    let session: Int
    let account: Int
    let tokens: TokenSet
    /// It came after the sign-out: nobody waits for it.
    let isLate: Bool
    /// Waits before it is tried again.
    var pauses: [Duration]
}

/// What has to be dead after a sign-out.
struct SignedOut {
    var accessTokens: Set<String> = []
    var refreshTokens: Set<String> = []
    /// All that the agent had was told to the provider, which heard it.
    var hasReached = false
    /// The provider could not be told of everything, or the process died before.
    var isExcused = false
}

/// A call to the store on its way.
struct StoreCall {
    let session: Int
    let call: SimulatedStore.Call
    let seat: SimulatedSession?
    let error: StoreError?
    /// What the store holds that was not overwritten.
    var found: SessionRecord?

    mutating func carryOut(in store: inout SimulatedStore, at key: Int) {
        found = store.carryOut(call, for: key)
    }
}

/// What happens next first; of two at the same time, what was put in first.
struct SimulationEventQueue<Event> {
    private var entries: [(at: Duration, event: Event)] = []

    var next: Duration? { entries.last?.at }

    mutating func add(_ event: Event, at time: Duration) {
        let index = entries.lastIndex { $0.at > time }.map { $0 + 1 } ?? 0
        entries.insert((time, event), at: index)
    }

    mutating func pop() -> Event? { entries.popLast()?.event }

    /// Nothing happens before that time: what was to happen earlier happens then.
    mutating func delay(until time: Duration) {
        for index in entries.indices where entries[index].at < time { entries[index].at = time }
    }

    mutating func removeAll(where isGone: (Event) -> Bool) {
        entries.removeAll { isGone($0.event) }
    }
}
