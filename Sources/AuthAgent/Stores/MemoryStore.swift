import AuthConcurrency
package import AuthModel
package import AuthWire
import Synchronization

/// Sessions that end with the process. Only the user chooses it, with `--store memory`; it is never a fallback.
package final class MemoryStore: SessionStore, KeyStore {
    private let records = Mutex<[SessionName: Shared<SessionRecord>]>([:])
    private let keys = Mutex<[KeyPurpose: Secret]>([:])
    private let state = StateBroadcast<StoreState>(.ready)

    package init() {}

    package var kind: StoreKind { .memory }

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        records.withLock { records in
            records.values.map(\.wrappedValue).sorted { $0.session < $1.session }.map(StoredSession.record)
        }
    }

    package func names() async throws(StoreError) -> [StoredName] {
        records.withLock { records in
            records.map { StoredName(session: $0.key, provider: $0.value.wrappedValue.provider) }
                .sorted { $0.session < $1.session }
        }
    }

    /// It never prompts.
    package func retryPrompts() async {}

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        records.withLock { $0[session]?.wrappedValue }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        records.withLock { $0[record.session] = Shared(wrappedValue: record) }
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        records.withLock { records in
            if let stored = records[record.session]?.wrappedValue,
                !record.mayReplace(stored, replacesOther: replacesOther)
            {
                return .refused(by: stored)
            }
            records[record.session] = Shared(wrappedValue: record)
            return .written()
        }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        records.withLock { $0[session] = nil }
    }

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        keys.withLock { $0[purpose] }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        keys.withLock { $0[purpose] = key }
    }

    package func states() -> AsyncStream<StoreState> {
        state.states()
    }
}
