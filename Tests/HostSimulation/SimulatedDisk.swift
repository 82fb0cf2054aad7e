import AuthModel
import AuthWire

/// The disk of a host.
///
/// Not shared, as ``SimulatedTime``.
final class SimulatedDisk: @unchecked Sendable {
    var keys: [KeyPurpose: Secret] = [:]
    var signOuts: [SessionName: SignInID] = [:]

    /// The disk of a host that has a key, and belongs to no cluster yet (`HostState`). The key follows from the seed,
    /// and so does the host's ID.
    init(host: String, key: [UInt8]) {
        let state: JSON = ["format": 1, "private": .string(Base64.encode(key)), "name": .string(host)]
        keys[.host] = Secret(bytes: state.serialized())
    }

    init(copying other: SimulatedDisk) {
        keys = other.keys
        signOuts = other.signOuts
    }
}

/// The disk as a process uses it.
struct MountedDisk: KeyStore, SealedStore, StateStore {
    let disk: SimulatedDisk
    let life: ProcessLife

    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { disk.keys[purpose] }

    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        if life.isAlive { disk.keys[purpose] = key }
    }

    func unlock(with passphrase: Secret?) async throws(SealRefusal) {}
    func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {}
    func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {}

    func load() -> [SessionName: SignInID] { disk.signOuts }

    func write(_ value: [SessionName: SignInID]) throws(StoreError) {
        if life.isAlive { disk.signOuts = value }
    }

    func save(_ newest: @escaping @Sendable () -> [SessionName: SignInID]) async throws(StoreError) {
        try write(newest())
    }
}
