import AuthMachines

/// What the referee knows of a write.
struct WatchedWrite {
    enum Answer {
        case done, refused
    }

    let session: Int
    /// Of two of a session the one with the smaller number was written down first.
    let order: Int
    /// What the provider said of it, in this process.
    var answer: Answer?
    var wasStored = false
    /// The disk no longer has it.
    var isRemoved = false
    /// Its caller was refused before the disk had it.
    var isRefusedUnstored = false
    /// The user's requests to drop it that have no reply yet.
    var drops = 0
    /// It was removed while one of them was open.
    var wasDropped = false
    var isBeingRevived = false
    /// The provider's no, in whatever process.
    var wasRefused = false
    var timesDone = 0
    /// When it was sent, within the last hour.
    var sent: [Duration] = []

    var isDropped: Bool { drops > 0 || wasDropped }

    /// What a new process no longer knows.
    mutating func forget() {
        (answer, drops, isBeingRevived) = (nil, 0, false)
    }
}

/// What the referee knows of a session, in this process.
struct WatchedSession {
    var inProgress: Set<String> = []
    var heldUntil = Duration.zero
    private var deliverability: Deliverability?
    var wasAnswered = false
    /// A person is having the outbox tried.
    var isFlushing = false
    /// What may have begun the waits between tries anew.
    private(set) var beginnings = 0

    var maySend: Bool { isFlushing || wasAnswered || deliverability?.maySend == true }

    mutating func see(_ deliverability: Deliverability?) {
        guard deliverability != self.deliverability else { return }
        self.deliverability = deliverability
        wasAnswered = false
        beginnings += 1
    }

    mutating func flushed() {
        (isFlushing, heldUntil) = (true, .zero)
        beginnings += 1
    }
}
