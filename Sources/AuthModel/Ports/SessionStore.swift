package import AuthWire

/// Where session records are kept. Every call is bounded (``StoreError/notAnswering``) and can be cancelled.
///
/// One contract suite holds every store to the same promises: `Tests/AuthKeyringTests/SessionStoreContract.swift`.
package protocol SessionStore: Sendable {
    var kind: StoreKind { get }

    /// Every record there is. One that cannot be understood is reported in its place and left untouched.
    func loadAll() async throws(StoreError) -> [StoredSession]

    /// The sessions there are, as far as they can be told while it is locked; not all stores can.
    func names() async throws(StoreError) -> [StoredName]

    /// A person is there who wants something: they may be asked to unlock it, also where they said no before.
    func retryPrompts() async

    /// `nil` only when the store is open and holds no such record.
    func load(_ session: SessionName) async throws(StoreError) -> SessionRecord?

    /// Writes the whole record in one step: after an error the former one is whole.
    func save(_ record: SessionRecord) async throws(StoreError)

    /// Writes the record unless the store holds something newer of that session.
    ///
    /// One step as far as the store can do that: what another program writes meanwhile is not lost.
    /// - Parameter replacesOther: also what is there of another sign-in.
    /// - Returns: what the store holds instead; `nil` if the record was written.
    func update(_ record: SessionRecord, replacesOther: Bool) async throws(StoreError) -> SessionRecord?

    /// Removing what is not there is success.
    func delete(_ session: SessionName) async throws(StoreError)

    /// The store's own word on how it is, the present state first, then each change (unlocked, gone, back).
    func states() -> AsyncStream<StoreState>

    /// Sessions whose record may have been changed or removed there, by us or by anybody.
    func changes() -> AsyncStream<SessionName>

    /// Of a record that was written in this run and is not there any more: whether the store has lost it, as one does
    /// that ends before it has saved what it accepted. Otherwise somebody has removed it.
    func hasLost(_ session: SessionName) async -> Bool

    /// The program behind the store, for the user; `nil` if there is none.
    func process() async -> StoreProcess?
}

extension SessionStore {
    /// In two steps.
    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> SessionRecord? {
        var stored: SessionRecord?
        do throws(StoreError) {
            stored = try await load(record.session)
        } catch {
            // It may be one item that cannot be read: a write replaces it, and shows whether it is more.
            guard case .failed = error else { throw error }
        }
        if let stored, !record.mayReplace(stored, replacesOther: replacesOther) { return stored }
        try await save(record)
        return nil
    }

    /// Nobody else can get at it, or nothing is heard of those who do.
    package func changes() -> AsyncStream<SessionName> { AsyncStream { $0.finish() } }

    /// What it accepted is on disk.
    package func hasLost(_ session: SessionName) async -> Bool { false }

    package func process() async -> StoreProcess? { nil }
}

/// What can be seen of a record without reading it.
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
