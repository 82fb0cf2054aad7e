package import AuthModel
import Synchronization

/// The state of a lock in memory, with a passphrase that was set before.
package final class MemoryLock: LockStore {
    package static let passphrase = "correct horse battery"

    private let record: Mutex<LockRecord>
    private let wasSaved = Mutex(false)

    package init(_ record: LockRecord = LockRecord()) {
        self.record = Mutex(record)
    }

    /// `nil`: nothing was saved.
    package var saved: LockRecord? { wasSaved.withLock { $0 } ? record.withLock { $0 } : nil }

    package func load(at now: WallTime) -> LockRecord { record.withLock { $0 } }
    package func hasPassphrase() -> Bool { true }
    package func save(_ record: LockRecord) async throws(StoreError) {
        self.record.withLock { $0 = record }
        wasSaved.withLock { $0 = true }
    }
    package func check(_ passphrase: Secret) async throws(StoreError) -> Bool { passphrase == Secret(Self.passphrase) }
    package func set(_ passphrase: Secret) async throws(StoreError) {}
}
