/// Keeps the state of the agent's lock, and a verifier of its passphrase, from which the passphrase cannot be read.
package protocol LockStore: Sendable {
    /// What was saved last. If that cannot be read, the agent counts as locked since `now`. It may wait for a disk.
    func load(at now: WallTime) -> LockRecord

    /// Whether a passphrase was set. It may wait for a disk.
    func hasPassphrase() -> Bool

    /// Returns when the record survives a loss of power, even if the task is cancelled.
    func save(_ record: LockRecord) async throws(StoreError)

    /// Compares the passphrase with the verifier, in some tenths of a second.
    func check(_ passphrase: Secret) async throws(StoreError) -> Bool

    /// Replaces the verifier. It survives a loss of power when this returns.
    func set(_ passphrase: Secret) async throws(StoreError)
}
