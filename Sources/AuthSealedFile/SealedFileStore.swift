import AuthConcurrency
package import AuthModel
package import AuthWire
package import NIOCore
import Synchronization

/// Sessions in sealed files, for machines without a keyring: one file for each session, and an index.
///
/// Invariant: one call at a time uses the folder, on a thread that may block.
package final class SealedFileStore: SessionStore, KeyStore, SealedStore {
    /// After this time a silent disk is reported.
    package static let limit = Duration.seconds(5)
    /// Far above what scrypt takes on a slow machine, and what resealing a thousand sessions takes.
    private static let keyLimit = Duration.seconds(50)

    private let shelf: Mutex<SealedDirectory>
    private let disk: DiskThread
    private let broadcast: StateBroadcast<StoreState>

    /// - Parameters:
    ///   - loop: only for the limit's clock.
    ///   - cost: for a new passphrase.
    package init(
        folder: DurableFolder, source: SealingSource, loop: any EventLoop, cost: PassphraseCost = .usual,
        limit: Duration = SealedFileStore.limit
    ) {
        let broadcast = StateBroadcast<StoreState>(nil)
        self.broadcast = broadcast
        shelf = Mutex(SealedDirectory(folder: folder, source: source, cost: cost))
        disk = DiskThread(loop: loop, limit: limit, reportSilence: { broadcast.tell(.notAnswering) })
        disk.begin { [weak self] in
            // Only for the state that results.
            _ = try? self?.touch { (shelf) throws(StoreError) in try shelf.open() }
        }
    }

    package var kind: StoreKind { .sealedFile }

    package func states() -> AsyncStream<StoreState> {
        broadcast.states()
    }

    /// Releases the folder and the keys; the next call opens it again.
    package func close() async {
        // A silent disk releases nothing.
        try? await onDisk { (shelf) throws(StoreError) in shelf.opened = nil }
    }

    // MARK: Sessions

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await onDisk { (shelf) throws(StoreError) in try shelf.loadAll() }
    }

    package func names() async throws(StoreError) -> [StoredName] {
        try await onDisk { (shelf) throws(StoreError) in try shelf.names() }
    }

    /// Only a client can prompt, and then calls ``unlock(with:)``.
    package func retryPrompts() async {}

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await onDisk { (shelf) throws(StoreError) in try shelf.load(session) }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        try await onDisk { (shelf) throws(StoreError) in try shelf.save(record) }
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> SessionRecord? {
        try await onDisk { (shelf) throws(StoreError) in
            var stored: SessionRecord?
            do throws(StoreError) {
                stored = try shelf.load(record.session)
            } catch {
                // One file may be unreadable: a write replaces it, and shows whether it is more.
                guard case .failed = error else { throw error }
            }
            if let stored, !record.mayReplace(stored, replacesOther: replacesOther) { return stored }
            try shelf.save(record)
            return nil
        }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        try await onDisk { (shelf) throws(StoreError) in try shelf.delete(session) }
    }

    // MARK: The agent's own keys

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        try await onDisk { (shelf) throws(StoreError) in try shelf.read(Self.file(of: purpose)) }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await onDisk { (shelf) throws(StoreError) in
            try shelf.write(key, to: Self.file(of: purpose), label: purpose.name)
        }
    }

    private static func file(of purpose: KeyPurpose) -> String { purpose.name + ".key" }

    // MARK: Sealing

    package func unlock(with passphrase: Secret?) async throws(SealRefusal) {
        let result = try await keyWork { (shelf) -> Result<Void, SealRefusal> in
            Result { () throws(SealRefusal) in try Self.unlock(&shelf, with: passphrase) }
        }
        try result.get()
    }

    private static func unlock(_ shelf: inout SealedDirectory, with passphrase: Secret?) throws(SealRefusal) {
        do throws(StoreError) {
            _ = try shelf.open()
            return
        } catch {
            guard error == .sealed else { throw .store(error) }
        }
        let isNew = shelf.isNew
        guard let passphrase else { throw .needsPassphrase(isNew: isNew) }
        if isNew, passphrase.count < SealRefusal.shortestPassphrase { throw .tooShort }
        let isRight: Bool
        do throws(StoreError) {
            isRight = try shelf.unlock(with: passphrase)
        } catch {
            throw .store(error)
        }
        guard isRight else { throw .wrongPassphrase }
    }

    package func rekey(_ change: KeyChange) async throws(SealRefusal) {
        if case .passphrase(let new) = change, new.count < SealRefusal.shortestPassphrase { throw .tooShort }
        let result = try await keyWork { (shelf) -> Result<Void, StoreError> in
            Result { () throws(StoreError) in try shelf.rekey(change) }
        }
        if case .failure(let error) = result { throw .store(error) }
    }

    private func keyWork<Value: Sendable>(
        _ work: @escaping @Sendable (inout SealedDirectory) -> Value
    ) async throws(SealRefusal) -> Value {
        do throws(StoreError) {
            return try await onDisk(within: Self.keyLimit) { (shelf) throws(StoreError) in work(&shelf) }
        } catch {
            throw .store(error)
        }
    }

    // MARK: The disk

    private func onDisk<Value: Sendable>(
        within longer: Duration? = nil, _ work: @escaping @Sendable (inout SealedDirectory) throws(StoreError) -> Value
    ) async throws(StoreError) -> Value {
        try await disk.run(within: longer) { () throws(StoreError) in try self.touch(work) }
    }

    /// Runs on the disk's thread. The state is reported before the caller gets its result.
    private func touch<Value: Sendable>(
        _ work: (inout SealedDirectory) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        let (result, isOpen) = shelf.withLock { shelf in
            (Result { () throws(StoreError) in try work(&shelf) }, shelf.isOpen)
        }
        disk.answered()
        switch result {
        case _ where isOpen: broadcast.tell(.ready)
        case .failure(.sealed): broadcast.tell(.locked)
        case .failure: broadcast.tell(.failed)
        case .success: break
        }
        return try result.get()
    }
}
