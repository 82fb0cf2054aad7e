import AuthMachines
import AuthModel
import AuthWire

/// What is going to happen by itself.
enum SimulationEvent {
    /// The next renewal at the provider may begin.
    case turn
    case reachesProvider(Int)
    case answered(Int)
    case timesOut(Int)
    /// The first step of a write, in a store without atomic updates.
    case storeCompares(Int)
    case storeCarriesOut(Int)
    case storeAnswers(Int)
    /// The network watch has noticed how things are.
    case networkReported
    /// A restart of one agent.
    case restart(Int)
    case signInReaches(Int)
    case signInAnswered(Int)
    case revocationArrives(Int)
    /// A reply that an injected fault has delayed.
    case repliesLate(Int)
}

/// A renewal on its way.
struct Request {
    let session: Int
    let currentRequest: RenewalRequestID
    /// `nil`: a renewal.
    let target: TokenTarget?
    let tokens: TokenSet
    let account: Int?
    /// The session that sent it; a result for one that is gone is dropped.
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

/// What a caller gets too late.
struct LateReply {
    let reply: SessionReply
    let caller: CallerID
    let session: Int
    let process: Int
}

/// A revocation that is sent to the provider at a sign-out.
struct Revocation {
    let session: Int
    let account: Int
    let tokens: TokenSet
    /// It came after the sign-out, and no caller waits for it.
    let isLate: Bool
    /// Waits before it is tried again.
    var pauses: [Duration]
}

/// What must be revoked after a sign-out.
struct SignedOut {
    var accessTokens: Set<String> = []
    var refreshTokens: Set<String> = []
    /// The provider has received all tokens that the agent had.
    var hasReached = false
    /// The provider could not be reached for all of them, or the process died before.
    var isExcused = false
}

/// A call to the store on its way. An object: records are large.
final class StoreCall {
    let session: Int
    let call: SimulatedStore.Call
    let seat: SimulatedSession?
    let error: StoreError?
    /// What the store holds that was not overwritten.
    private(set) var found: SessionRecord?
    private var isCompared = false

    init(session: Int, call: SimulatedStore.Call, seat: SimulatedSession?, error: StoreError?) {
        self.session = session
        self.call = call
        self.seat = seat
        self.error = error
    }

    func compare(in store: SimulatedStore, at key: Int) {
        guard case .save(let record, let replacesOther) = call else { return }
        found = store.newer(than: record, for: key, replacesOther: replacesOther)
        isCompared = true
    }

    func carryOut(in store: SimulatedStore, at key: Int) {
        guard isCompared, case .save(let record, _) = call else {
            found = store.carryOut(call, for: key)
            return
        }
        if found == nil { store.write(record, for: key) }
    }
}
