import AuthConcurrency
package import AuthFiles
package import AuthModel

/// The files of the agent's lock: `lock` with its state, and `lock-passphrase` with the verifier.
///
/// Invariant: a state that is missing means never locked; one that cannot be read, or is not as authd writes it, means locked.
package struct LockFiles: LockStore {
    /// Both files are far smaller.
    private static let maxBytes = 4096

    private let state: AtomicFile
    private let verifier: AtomicFile
    private let cost: PassphraseCost
    /// Writes in the order of the calls.
    private let disk = BlockingThread()
    /// One derivation at a time.
    private let derivations = BlockingThread()

    /// - Parameters:
    ///   - folder: the folder of the agent's state.
    ///   - cost: the cost of a check of a new passphrase.
    ///   - note: called after each step of a replacement of the state.
    package init(
        in folder: String, cost: PassphraseCost = .usual, note: @escaping @Sendable (AtomicFile.Step) -> Void = { _ in }
    ) {
        state = AtomicFile(path: folder + "/lock", note: note)
        verifier = AtomicFile(path: folder + "/lock-passphrase")
        self.cost = cost
    }

    package func load(at now: WallTime) -> LockRecord {
        let unreadable = LockRecord(lock: LockRecord.Lock(since: now, reason: .unknown))
        do throws(SystemFailure) {
            guard let bytes = try state.read(atMost: Self.maxBytes, isOwn: true) else { return LockRecord() }
            return LockRecord(bytes) ?? unreadable
        } catch {
            return unreadable
        }
    }

    package func hasPassphrase() -> Bool {
        guard let bytes = try? verifier.read(atMost: Self.maxBytes, isOwn: true) else { return false }
        return PassphraseVerifier(bytes) != nil
    }

    package func save(_ record: LockRecord) async throws(StoreError) {
        try await Self.replace(state, with: record.encoded, on: disk)
    }

    package func check(_ passphrase: Secret) async throws(StoreError) -> Bool {
        let file = verifier
        return try await derivations.complete {
            Result { () throws(StoreError) -> Bool in
                let read = { () throws(SystemFailure) in try file.read(atMost: Self.maxBytes, isOwn: true) }
                guard let bytes = try StoreError.wrapping(read),
                    let verifier = PassphraseVerifier(bytes)
                else { throw .failed(reason: "\(file.path) has no verifier of a passphrase") }
                return try verifier.matches(passphrase)
            }
        }.get()
    }

    package func set(_ passphrase: Secret) async throws(StoreError) {
        let cost = cost
        let new = try await derivations.complete {
            Result { () throws(StoreError) in try PassphraseVerifier(of: passphrase, cost: cost) }
        }.get()
        try await Self.replace(verifier, with: new.encoded, on: disk)
    }

    private static func replace(
        _ file: AtomicFile, with bytes: [UInt8], on disk: BlockingThread
    ) async throws(StoreError) {
        try await disk.complete {
            Result { () throws(StoreError) in
                try StoreError.wrapping { () throws(SystemFailure) in
                    try PrivateFolder.make(file.folder)
                    try file.replace(with: bytes)
                }
            }
        }.get()
    }
}
