package import AuthWire

/// Stores session records. Every call has a time limit (``StoreError/notAnswering``) and can be cancelled.
///
/// Every store passes the contract suite `Tests/AuthKeyringTests/SessionStoreContract.swift`.
package protocol SessionStore: Sendable {
    var kind: StoreKind { get }

    /// All records. An unreadable record is reported and left untouched.
    func loadAll() async throws(StoreError) -> [StoredSession]

    /// The sessions as far as they are known while the store is locked; not all stores support that.
    func names() async throws(StoreError) -> [StoredName]

    /// A user is present: the store may prompt again, even after a dismissed prompt.
    func retryPrompts() async

    /// The network has changed: what could not be reached may be reachable now.
    /// - Parameter endsConnections: whether open connections may be dead, as after a resume or with another address.
    func networkChanged(endsConnections: Bool) async

    /// `nil` only if the store is open and has no such record.
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord?

    /// Writes the whole record atomically: after an error the former one is intact.
    func save(_ record: SessionRecord) async throws(StoreError)

    /// Writes the record unless the store has a newer one of that session.
    ///
    /// Atomic as far as the store allows. In the Secret Service, a write by another program between the comparison and the
    /// write is lost there; that program is notified (``changes()``), and if it is an agent, it writes again.
    /// - Parameter replacesOther: also replaces a record of another sign-in.
    func update(_ record: SessionRecord, replacesOther: Bool) async throws(StoreError) -> UpdateOutcome

    /// Removing a missing record is a success.
    func delete(_ session: SessionName) async throws(StoreError)

    /// Removes the record of a sign-in that has ended. A store that hosts share keeps the record of another sign-in.
    /// - Returns: what was removed, as far as the store knows it. Another host may have renewed it a moment before.
    func delete(_ session: SessionName, of signIn: SignInID) async throws(StoreError) -> SessionRecord?

    /// The store's own state: the current one first, then each change (unlocked, gone, back).
    func states() -> AsyncStream<StoreState>

    /// Sessions whose stored record may have changed or gone, because of us or another program.
    func changes() -> AsyncStream<SessionName>

    /// As ``load(_:)``, after ``changes()`` has reported the session. A store that has received the record with that report
    /// does not request it.
    func loadReported(_ session: SessionName) async throws(StoreError) -> SessionRecord?

    /// Whether the store has lost a record that was written in this run, as a store does that ends before it has saved what it
    /// accepted. If not, a user or program has removed it.
    /// - Throws: why that is unknown now: nothing follows from the missing record before the store responds.
    func hasLost(_ session: SessionName) async throws(StoreError) -> Bool

    /// Holds of sessions; `nil`: no other host uses this store.
    var leases: (any LeaseStore)? { get }

    /// Sessions that a host has released, or that nobody holds any more because a lease has ended. For one listener.
    func released() -> AsyncStream<SessionName>

    /// Whether an open store of this kind shows every record that it has, at any moment: a missing one was removed.
    var showsEverything: Bool { get }

    /// The program behind the store; `nil` if there is none.
    func process() async -> StoreProcess?

    /// Follows what other hosts change, until it is cancelled. Only a store of several hosts has something to follow.
    func run() async

    /// Faults of the cluster that sessions are in, as they occur. For one listener.
    func faults() -> AsyncStream<ClusterFault>

    /// What is wrong with the cluster now.
    func obstacle() async -> ClusterFault?
}

extension SessionStore {
    /// In two steps, so not atomic.
    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        var stored: SessionRecord?
        do throws(StoreError) {
            stored = try await load(record.session)
        } catch {
            // One item may be unreadable: a write replaces it, and shows whether it is more.
            guard case .failed = error else { throw error }
        }
        if let stored, !record.mayReplace(stored, replacesOther: replacesOther) {
            return .refused(by: stored)
        }
        try await save(record)
        return .written()
    }

    package func delete(_ session: SessionName, of signIn: SignInID) async throws(StoreError) -> SessionRecord? {
        try await delete(session)
        return nil
    }

    package func networkChanged(endsConnections: Bool) async {}

    /// No other program can change it, or changes are not reported.
    package func changes() -> AsyncStream<SessionName> { AsyncStream { $0.finish() } }

    package func loadReported(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await load(session)
    }

    package func hasLost(_ session: SessionName) async throws(StoreError) -> Bool { false }

    package var leases: (any LeaseStore)? { nil }

    package func released() -> AsyncStream<SessionName> { AsyncStream { $0.finish() } }

    package var showsEverything: Bool { false }

    package func process() async -> StoreProcess? { nil }

    package func run() async {}

    package func faults() -> AsyncStream<ClusterFault> { AsyncStream { $0.finish() } }

    package func obstacle() async -> ClusterFault? { nil }
}

/// What is known of a record without reading it.
package struct StoredName: Sendable, Equatable {
    package let session: SessionName
    package let provider: String

    package init(session: SessionName, provider: String) {
        self.session = session
        self.provider = provider
    }
}

package enum StoredSession: Sendable {
    case record(SessionRecord)
    case damaged(session: String, reason: String)
}
