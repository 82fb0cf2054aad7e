import AuthModel

/// Tracks what the store has of a session, what is being written, and when to try again.
///
/// Invariant: one store call of a session at a time, so that an older record never overwrites a newer one, and a removed one
/// never returns.
struct RecordWriter: Sendable {
    enum Call {
        case saving, deleting, reading
    }

    /// The call in progress.
    private var call: Call?
    /// The version in the store, as far as it is known.
    private var written: RecordVersion?
    private var backoff = Backoff()
    private(set) var lastError: StoreError?
    /// Why the last write failed. A successful reading since then has not written anything.
    private(set) var writeError: StoreError?
    /// When a failed call is repeated; `nil` if none is waiting.
    private(set) var retryAt: BootInstant?
    /// The store became ready during the call.
    private var becameReady = false
    /// The store has reported a change during the call.
    private var sawChange = false

    var isSaving: Bool { call == .saving }

    func isBehind(_ version: RecordVersion) -> Bool { !(written?.covers(version) ?? false) }

    /// Whether the user data of this version is not written yet.
    func lacksRevision(of version: RecordVersion) -> Bool {
        written.map { $0.signIn != version.signIn || $0.revision < version.revision } ?? true
    }

    /// Whether the tokens of this version are not written yet.
    func lacksTokens(of version: RecordVersion) -> Bool {
        written.map { $0.signIn != version.signIn || $0.generation < version.generation } ?? true
    }

    /// Whether this call may begin now; the caller must then perform it.
    mutating func begin(_ new: Call, at now: BootInstant) -> Bool {
        guard call == nil else { return false }
        if let retryAt, now < retryAt { return false }
        retryAt = nil
        (becameReady, sawChange) = (false, false)
        call = new
        return true
    }

    /// The store has replied to the call, with or without doing it.
    mutating func ended() {
        if call != .reading { writeError = nil }
        call = nil
        lastError = nil
        retryAt = nil
        backoff.reset()
    }

    mutating func failed(_ error: StoreError, at now: BootInstant, using random: inout SeededRandom) {
        if call != .reading { writeError = error }
        call = nil
        lastError = error
        let pause = backoff.next(retryAfter: nil, using: &random)
        // The cause of the failure may have ended since.
        retryAt = becameReady || (sawChange && Self.isOver(error)) ? nil : now + pause
    }

    /// The store was read or written, and has this version.
    mutating func holds(_ version: RecordVersion) {
        written = version
    }

    /// A removal ended, or may have happened, after a new sign-in had begun: everything is written again.
    mutating func forgetWritten() {
        written = nil
    }

    /// The cause of failed calls may have ended: the next call does not wait, even if the one in progress fails.
    mutating func storeIsReady() {
        becameReady = call != nil
        tryAgain()
    }

    /// Another host, or another program, has changed the record. The pause after a failed call ends if its cause is over by
    /// then, and there is none if the call in progress fails for such a cause.
    mutating func storeChanged() {
        sawChange = call != nil
        if let lastError, Self.isOver(lastError) { tryAgain() }
    }

    /// Whether the report of a change shows that the cause of a failure is over: another host has kept this one from writing, etcd
    /// went back and everything was read again, or it could not be reached or had no quorum.
    private static func isOver(_ error: StoreError) -> Bool {
        switch error {
        case .cluster(.removed), .cluster(.heldElsewhere), .cluster(.wentBack), .cluster(.unreachable),
            .cluster(.noQuorum):
            true
        default: false
        }
    }

    /// Retries at the next opportunity, without waiting.
    mutating func tryAgain() {
        retryAt = nil
    }
}
