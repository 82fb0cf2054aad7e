import AuthModel
import AuthWire

/// The writes of one session, one after the other.
struct WriteQueue: Sendable {
    /// How a write ends.
    indirect enum End: Sendable {
        case done(APIResponse)
        /// The caller still waits for it.
        case refused(AgentError)
        case givenUp(AgentError)
    }

    enum Work {
        case none
        case sending(String)
        /// The store is to record this end.
        case settling(String, End)

        /// It waits for the disk, and a better network does not help.
        var isSettling: Bool { if case .settling = self { true } else { false } }

        var id: String? {
            switch self {
            case .none: nil
            case .sending(let id), .settling(let id, _): id
            }
        }
    }

    var work = Work.none
    var backoff = Backoff()
    var notBefore: BootInstant?
    /// The provider asked for this wait: only the user ends it early.
    var isHeld = false

    /// The next try is after one more wait.
    mutating func postpone(
        retryAfter: Duration? = nil, from now: BootInstant, using random: inout SeededRandom
    ) {
        notBefore = now + backoff.next(retryAfter: retryAfter, using: &random)
    }

    /// The store has refused to record the end of its write, and is asked again later.
    var isUnrecorded: Bool { work.isSettling && notBefore != nil }

    /// Nothing is in progress: there is no work, or its end waits for a store that did not record it.
    var isIdle: Bool {
        switch work {
        case .none: true
        case .sending: false
        case .settling: notBefore != nil
        }
    }
}
