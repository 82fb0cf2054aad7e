import AuthConcurrency
package import AuthModel
package import AuthWire
import Synchronization

/// Sessions in sealed files, for machines without a keyring: one file for each session, and an index.
///
/// Invariant: one call at a time uses the folder, on a thread that may block.
package final class SealedFileStore: SessionStore, KeyStore, SealedStore {
    /// After this time a silent disk is reported.
    package static let limit = Duration.seconds(5)
    /// Far above what scrypt takes on a slow machine, and what resealing a thousand sessions takes.
    private static let keyLimit = Duration.seconds(50)

    private let directory: Mutex<SealedDirectory>
    private let disk: DiskThread
    private let broadcast: StateBroadcast<StoreState>

    /// - Parameters:
    ///   - cost: for a new passphrase.
    ///   - wait: returns after that time; for the limit.
    package init(
        folder: DurableFolder, source: SealingSource, cost: PassphraseCost = .usual,
        limit: Duration = SealedFileStore.limit,
        wait: @escaping @Sendable (Duration) async throws -> Void = {
            try await Task.sleep(for: $0, clock: .suspending)
        }
    ) {
        let broadcast = StateBroadcast<StoreState>(nil)
        self.broadcast = broadcast
        directory = Mutex(SealedDirectory(folder: folder, source: source, cost: cost))
        disk = DiskThread(limit: limit, wait: wait, reportSilence: { broadcast.set(.notAnswering) })
        disk.begin { [weak self] in
            // Only for the state that results.
            _ = try? self?.touch { (directory) throws(StoreError) in try directory.open() }
        }
    }

    package var kind: StoreKind { .sealedFile }

    package func states() -> AsyncStream<StoreState> {
        broadcast.states()
    }

    /// Releases the folder and the keys; the next call opens it again.
    package func close() async {
        // A silent disk releases nothing.
        try? await onDisk { (directory) throws(StoreError) in directory.opened = nil }
    }

    // MARK: Sessions

    package func loadAll() async throws(StoreError) -> [StoredSession] {
        try await onDisk { (directory) throws(StoreError) in try directory.loadAll() }
    }

    package func names() async throws(StoreError) -> [StoredName] {
        try await onDisk { (directory) throws(StoreError) in try directory.names() }
    }

    /// Only a client can prompt, and then calls ``unlock(with:)``.
    package func retryPrompts() async {}

    package func load(_ session: SessionName) async throws(StoreError) -> SessionRecord? {
        try await onDisk { (directory) throws(StoreError) in try directory.load(session) }
    }

    package func save(_ record: SessionRecord) async throws(StoreError) {
        try await onDisk { (directory) throws(StoreError) in try directory.save(record) }
    }

    package func update(
        _ record: SessionRecord, replacesOther: Bool
    ) async throws(StoreError) -> UpdateOutcome {
        try await onDisk { (directory) throws(StoreError) in
            var stored: SessionRecord?
            do throws(StoreError) {
                stored = try directory.load(record.session)
            } catch {
                // One file may be unreadable: a write replaces it, and shows whether it is more.
                guard case .failed = error else { throw error }
            }
            if let stored, !record.mayReplace(stored, replacesOther: replacesOther) {
                return .refused(by: stored)
            }
            try directory.save(record)
            return .written()
        }
    }

    package func delete(_ session: SessionName) async throws(StoreError) {
        try await onDisk { (directory) throws(StoreError) in try directory.delete(session) }
    }

    // MARK: The agent's own keys

    package func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? {
        try await onDisk { (directory) throws(StoreError) in try directory.read(Self.file(of: purpose)) }
    }

    package func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) {
        try await onDisk { (directory) throws(StoreError) in
            try directory.write(key, to: Self.file(of: purpose), label: purpose.name)
        }
    }

    private static func file(of purpose: KeyPurpose) -> String { purpose.name + ".key" }

    // MARK: Sealing

    package func unlock(with passphrase: Secret?) async throws(SealRefusal) {
        let result = try await keyWork { (directory) -> Result<Void, SealRefusal> in
            Result { () throws(SealRefusal) in try Self.unlock(&directory, with: passphrase) }
        }
        try result.get()
    }

    private static func unlock(_ directory: inout SealedDirectory, with passphrase: Secret?) throws(SealRefusal) {
        do throws(StoreError) {
            _ = try directory.open()
            return
        } catch {
            guard error == .sealed else { throw .store(error) }
        }
        let isNew = directory.isNew
        guard let passphrase else { throw .needsPassphrase(isNew: isNew) }
        if isNew, passphrase.count < Limits.shortestPassphrase { throw .tooShort }
        let isRight: Bool
        do throws(StoreError) {
            isRight = try directory.unlock(with: passphrase)
        } catch {
            throw .store(error)
        }
        guard isRight else { throw .wrongPassphrase }
    }

    package func checkRekey(_ change: KeyChange, hasCurrent: Bool) async throws(SealRefusal) {
        if case .passphrase(let new) = change, new.count < Limits.shortestPassphrase { throw .tooShort }
        guard !hasCurrent else { return }
        do throws(StoreError) {
            let needsCurrent = try await onDisk { (directory) throws(StoreError) in
                try directory.needsCurrent(for: change)
            }
            guard needsCurrent else { return }
        } catch {
            throw .store(error)
        }
        throw .needsPassphrase(isNew: false)
    }

    package func rekey(_ change: KeyChange, current: Secret?) async throws(SealRefusal) {
        if case .passphrase(let new) = change, new.count < Limits.shortestPassphrase { throw .tooShort }
        let hasBegun = Atomic(false)
        let result: Result<SealRefusal?, StoreError>
        do throws(SealRefusal) {
            result = try await keyWork { (directory) in
                Result { () throws(StoreError) in
                    if let refusal = try directory.refusal(of: change, current: current) { return refusal }
                    hasBegun.store(true, ordering: .sequentiallyConsistent)
                    return try directory.rekey(change)
                }
            }
        } catch {
            // The caller does not wait any longer, and the work goes on.
            guard case .store(let reason) = error, hasBegun.load(ordering: .sequentiallyConsistent) else { throw error }
            // What opens the store stays the same, so there is nothing to keep.
            if case .sameOutside = change { throw error }
            throw .mayChange(reason)
        }
        switch result {
        case .success(nil): return
        case .success(let refusal?): throw refusal
        case .failure(let error): throw .store(error)
        }
    }

    private func keyWork<Value: Sendable>(
        _ work: @escaping @Sendable (inout SealedDirectory) -> Value
    ) async throws(SealRefusal) -> Value {
        do throws(StoreError) {
            return try await onDisk(within: Self.keyLimit) { (directory) throws(StoreError) in work(&directory) }
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
        let (result, isOpen) = directory.withLock { directory in
            (Result { () throws(StoreError) in try work(&directory) }, directory.isOpen)
        }
        disk.answered()
        switch result {
        case _ where isOpen: broadcast.set(.ready)
        case .failure(.sealed): broadcast.set(.locked)
        case .failure: broadcast.set(.failed)
        case .success: break
        }
        return try result.get()
    }
}
