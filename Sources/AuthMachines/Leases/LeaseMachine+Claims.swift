internal import AuthModel
internal import AuthWire

/// What the machine knows about the lease, and about each session that is wanted or held.
extension LeaseMachine {
    struct Lease {
        let id: LeaseID
        var endsAt: BootInstant
        var keepAliveAt: BootInstant
        var isKeeping = false
    }

    struct Waiter {
        let caller: CallerID
        let version: RecordVersion
        let until: BootInstant
    }

    enum Stage {
        /// For a lease that lasts long enough.
        case waiting
        /// The store is asked for the hold.
        case requested
        /// Another host holds it.
        case elsewhere(checkAt: BootInstant)
        /// This host holds it, and the result of another host's request may still be written.
        case settling(until: BootInstant, checkAt: BootInstant)
        /// The store is about to note what this host will send, after a holder whose result is unknown.
        case claiming
        /// The caller renews.
        case held(until: BootInstant)
        /// The renewal has ended, and its tokens are not in the store yet.
        case writing(until: BootInstant)
        case releasing
    }

    struct Claim {
        var waiter: Waiter
        var stage = Stage.waiting
        /// The end of the wait for another host's result, while the store is asked again.
        var settlesUntil: BootInstant?
        /// Its caller has its reply, or no longer waits.
        var isReplied = false
        /// What the next holder gets to know if nothing is sent under this hold.
        var unsent = HoldOutcome.FormerHold.answered
        /// What the hold is attached to.
        var lease: LeaseID?
        /// Its caller still waits for a hold after this release.
        var asksAgain = false

        /// Another host has the session while it is elsewhere: a lease of this host changes nothing then.
        var needsLease: Bool {
            switch stage {
            case .elsewhere, .releasing: false
            case .waiting, .requested, .settling, .claiming, .held, .writing: true
            }
        }
    }
}
