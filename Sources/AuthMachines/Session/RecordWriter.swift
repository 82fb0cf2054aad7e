package import AuthModel

/// Tracks what the store has of a session, what is being written, and when to try again.
///
/// Invariant: one store call of a session at a time, so that an older record never overwrites a newer one, and a removed one
/// never returns.
package struct RecordWriter: Sendable {
    private enum Call: Equatable {
        case none
        case saving(RecordVersion)
        case deleting
        case reading
    }

    private var call = Call.none
    /// The version in the store, as far as it is known.
    private var written: RecordVersion?
    private var backoff = Backoff()
    package private(set) var lastError: StoreError?
    /// When a failed call is repeated; `nil` if none is waiting.
    package private(set) var retryAt: BootInstant?

    package func isBehind(_ version: RecordVersion) -> Bool { !(written?.covers(version) ?? false) }

    /// Whether the user data of this version is not written yet.
    package func lacksRevision(of version: RecordVersion) -> Bool {
        written.map { $0.signIn != version.signIn || $0.revision < version.revision } ?? true
    }

    /// Whether this version is to be written now; the caller must then write it.
    package mutating func beginSave(_ version: RecordVersion, at now: BootInstant) -> Bool {
        guard isBehind(version), mayCall(now) else { return false }
        call = .saving(version)
        return true
    }

    /// A record is being written.
    package var isSaving: Bool {
        if case .saving = call { true } else { false }
    }

    /// Whether this version is to be written now although the store has it; the caller must then write it.
    package mutating func beginRewrite(_ version: RecordVersion, at now: BootInstant) -> Bool {
        guard mayCall(now) else { return false }
        call = .saving(version)
        return true
    }

    /// Whether the record is to be removed now; the caller must then remove it.
    package mutating func beginDelete(at now: BootInstant) -> Bool {
        guard mayCall(now) else { return false }
        call = .deleting
        return true
    }

    package mutating func saved(_ version: RecordVersion) {
        if call == .saving(version) { call = .none }
        written = version
        succeeded()
    }

    /// The store was asked to write this version, but has something newer.
    package mutating func saveRefused(_ version: RecordVersion) {
        if call == .saving(version) { call = .none }
        succeeded()
    }

    package mutating func saveFailed(
        _ version: RecordVersion, _ error: StoreError, at now: BootInstant, using random: inout SeededRandom
    ) {
        if call == .saving(version) { call = .none }
        failed(error, at: now, using: &random)
    }

    package mutating func deleteEnded() {
        if call == .deleting { call = .none }
        succeeded()
    }

    package mutating func deleteFailed(
        _ error: StoreError, at now: BootInstant, using random: inout SeededRandom
    ) {
        if call == .deleting { call = .none }
        failed(error, at: now, using: &random)
    }

    /// Whether the store is to be read now; the caller must then read it.
    package mutating func beginRead(at now: BootInstant) -> Bool {
        guard mayCall(now) else { return false }
        call = .reading
        return true
    }

    package mutating func readEnded() {
        if call == .reading { call = .none }
        succeeded()
    }

    package mutating func readFailed(_ error: StoreError, at now: BootInstant, using random: inout SeededRandom) {
        if call == .reading { call = .none }
        failed(error, at: now, using: &random)
    }

    /// The store was read and has this version.
    package mutating func holds(_ version: RecordVersion) {
        written = version
    }

    /// The same, during a write: its result is known when it ends.
    package mutating func found(_ version: RecordVersion) {
        if case .saving = call { return }
        written = version
    }

    /// A removal ended, or may have happened, after a new sign-in had begun: everything is written again.
    package mutating func forgetWritten() {
        written = nil
    }

    /// Retries at the next opportunity, without waiting.
    package mutating func tryAgain() {
        retryAt = nil
    }

    private mutating func mayCall(_ now: BootInstant) -> Bool {
        guard call == .none else { return false }
        if let retryAt, now < retryAt { return false }
        retryAt = nil
        return true
    }

    private mutating func succeeded() {
        lastError = nil
        retryAt = nil
        backoff.reset()
    }

    private mutating func failed(_ error: StoreError, at now: BootInstant, using random: inout SeededRandom) {
        lastError = error
        retryAt = now + backoff.next(retryAfter: nil, using: &random)
    }
}
