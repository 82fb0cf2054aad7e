import AuthMachines

/// What the checker knows of a write.
struct WatchedWrite {
    enum Answer {
        case done, refused
    }

    let session: Int
    /// A write of a session with a smaller number was stored before.
    let order: Int
    /// The provider's final answer, in this process.
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
    /// The provider's final refusal, in any process.
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

/// What the checker knows of a session, in this process.
struct WatchedSession {
    var inProgress: Set<String> = []
    var heldUntil = Duration.zero
    private var deliverability: Deliverability?
    var wasAnswered = false
    /// The user has all entries sent.
    var isFlushing = false
    /// How often the waits between tries may have begun again.
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
