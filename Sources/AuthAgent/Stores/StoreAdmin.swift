internal import AuthConcurrency
package import AuthModel
package import AuthWire
import Synchronization

/// The user's requests about the store itself: unlock it, change its key, move the sessions.
package struct StoreAdmin: Sendable {
    /// Functions of the composition: they read settings and files, and open other stores.
    package struct Dependencies: Sendable {
        /// A store that is not in use yet.
        package var open: @Sendable (StoreKind) async throws(StoreError) -> MovableStore.Store
        /// The store that the command line or the settings select for the next start; `nil`: none.
        package var configuredStore: @Sendable () async -> StoreKind?
        /// Selects the store for the next start, if nothing else does. It is on disk when this returns, even if the task
        /// is cancelled.
        package var choose: @Sendable (StoreKind) async throws(StoreError) -> Void
        package var moves: (any StateStore<UnfinishedMove?>)?
        package var bundles: any BundleSealing

        package init(
            open: @escaping @Sendable (StoreKind) async throws(StoreError) -> MovableStore.Store,
            configuredStore: @escaping @Sendable () async -> StoreKind?,
            choose: @escaping @Sendable (StoreKind) async throws(StoreError) -> Void,
            moves: (any StateStore<UnfinishedMove?>)?, bundles: any BundleSealing
        ) {
            self.open = open
            self.configuredStore = configuredStore
            self.choose = choose
            self.moves = moves
            self.bundles = bundles
        }
    }

    let context: AgentContext
    let registry: SessionRegistry
    let loader: SessionLoader
    let store: MovableStore
    let dependencies: Dependencies
    private let permit = MovePermit()

    /// - Parameter store: the one that the sessions are in.
    package init(
        context: AgentContext, registry: SessionRegistry, loader: SessionLoader, store: MovableStore,
        dependencies: Dependencies
    ) {
        self.context = context
        self.registry = registry
        self.loader = loader
        self.store = store
        self.dependencies = dependencies
    }

    /// Opens the store, or lets the desktop ask the user to. Returns when the sessions in it are there.
    package func unlock(_ params: StoreUnlock) async throws(AgentError) -> StoreInfo {
        try await unlock(store.present, params.passphrase)
        await loader.retryPrompts()
        let info = context.board.store
        guard info.state == .ready else { throw .storeNotRead(info) }
        return info
    }

    private func unlock(_ store: MovableStore.Store, _ passphrase: String?) async throws(AgentError) {
        guard let sealed = store as? any SealedStore else { return }
        do throws(SealRefusal) {
            try await sealed.unlock(with: passphrase.map { Secret($0) })
        } catch {
            var refusal = error.agentError
            // Otherwise users may think that the passphrase was not accepted.
            if case .store(.cluster) = error { refusal.message = "This host's key is open. " + refusal.message }
            throw refusal
        }
    }

    /// - Throws: what ``rekey(_:)`` would throw without comparing a passphrase, so that the user is not asked to
    ///   confirm a request that fails because it lacks one.
    package func checkRekey(_ params: StoreRekey) async throws(AgentError) {
        guard let sealed = store.present as? any SealedStore else { return }
        let change = try Self.change(params)
        try await converting(
            SealRefusal.self, try await sealed.checkRekey(change, hasCurrent: params.current != nil))
    }

    /// - Parameter names: the sessions that the message may name.
    package func rekey(
        _ params: StoreRekey, naming names: SessionNames = .all
    ) async throws(AgentError) -> MessageResult {
        guard let sealed = store.present as? any SealedStore else {
            throw AgentError(
                .unsupported, "Only sealed files and etcd have a key; sessions are in \(store.kind.rawValue).")
        }
        let change = try Self.change(params)
        let current = params.current.map { Secret($0) }
        let rest = try await rekeyCluster(naming: names) { () async throws(AgentError) in
            try await converting(SealRefusal.self, try await sealed.rekey(change, current: current))
        }
        return MessageResult(message: "Every session is sealed with a new key." + Self.whatToSet(change) + rest)
    }

    private static func change(_ params: StoreRekey) throws(AgentError) -> KeyChange {
        guard let key = params.key else { return params.passphrase.map { .passphrase(Secret($0)) } ?? .sameOutside }
        guard params.passphrase == nil else {
            throw AgentError(.validation, "Give either a passphrase or a key, not both.")
        }
        guard !key.isEmpty, key.count <= maxKeyBytes else {
            throw AgentError(.validation, "A key has 1 to \(maxKeyBytes) bytes; this one has \(key.count).")
        }
        return .given(Secret(bytes: key))
    }

    /// The most that the agent reads of a key file at its start.
    private static let maxKeyBytes = 1 << 16

    /// The next start looks where the settings say.
    private static func whatToSet(_ change: KeyChange) -> String {
        switch change {
        case .sameOutside: ""
        case .passphrase: " Set sealed_key = \"passphrase\" in authd.toml."
        case .given:
            " Set sealed_key in authd.toml to the file that holds the key, or make the credential from it."
        }
    }

    // MARK: Moving

    /// - Throws: what ``migrate(_:)`` would throw because the user has not agreed to the end of sessions elsewhere.
    package func checkMigrate(_ params: StoreMigrate) async throws(AgentError) {
        guard params.to != store.kind else { return }
        try await checkMoveAway(params)
    }

    /// Moves every session to another store. Until all of them are there, and the next start is to look there, they are
    /// in the old one; from then on in the new one.
    /// - Parameter names: the sessions that messages may name.
    package func migrate(
        _ params: StoreMigrate, naming names: SessionNames = .all
    ) async throws(AgentError) -> MessageResult {
        let kind = params.to
        guard kind != .memory else {
            throw AgentError(
                .unsupported, "Sessions cannot be moved to memory: start authd with --store memory instead.")
        }
        guard kind != store.kind else {
            return MessageResult(message: "Sessions are in \(kind.rawValue) already.")
        }
        if let configured = await dependencies.configuredStore(), configured != kind {
            throw AgentError(
                .conflict,
                "--store or authd.toml selects \(configured.rawValue) for the next start: remove that, or set "
                    + "store = \"\(kind.rawValue)\".")
        }
        guard registry.isLoaded else { throw .storeNotRead(context.board.store) }
        try await checkMoveAway(params)
        let target = try await converting(StoreError.self, try await dependencies.open(kind))
        try await unlock(target, params.passphrase)
        guard permit.acquire() else { throw AgentError(.busy, "Sessions are being moved already.", cause: "moving") }
        defer { permit.release() }
        // Copies that an unfinished move left there are not sessions: they must not return with this move.
        if let former = await unfinishedMove(), former.from == kind, former.to == store.kind {
            guard await finish(former, in: target).isEmpty else {
                throw AgentError(
                    .keyringUnavailable, "Sessions of an earlier move could not be removed from \(kind.rawValue) yet.")
            }
        }
        await registry.drain()
        var unfinished = UnfinishedMove(from: store.kind, to: kind, copies: [])
        var (count, unreadableClients) = (0, [String]())
        try await store.move { source throws(AgentError) in
            let moved = try await StoreMove(source: source, target: target, names: names).copy()
            unfinished.copies = moved.records.map(UnfinishedMove.Copy.init)
            (count, unreadableClients) = (moved.records.count, moved.unreadableClients)
            do throws(StoreError) {
                try await dependencies.moves?.save { [unfinished] in unfinished }
                try await dependencies.choose(kind)
            } catch {
                try? await dependencies.moves?.save { nil }
                throw AgentError(error)
            }
            unfinished.copies = await finish(unfinished, in: source, new: target)
            return target
        }
        await loader.storeWasReplaced()
        let left = names.list(unfinished.copies.map(\.session))
        let rest = left.isEmpty ? "" : " Not removed yet from where they were: \(left)."
        let message = "Sessions moved to \(kind.rawValue): \(count).\(rest)" + Self.text(unreadableClients)
        return MessageResult(message: message)
    }

    private static func text(_ unreadableClients: [String]) -> String {
        guard !unreadableClients.isEmpty else { return "" }
        return " The clients that are registered at these providers cannot be read and were not moved: "
            + "\(unreadableClients.joined(separator: ", ")). The next sign-in there registers a new client; sessions keep theirs."
    }

    /// Ends a move that an earlier run could not: when both stores are open, and without asking anybody to open one.
    package func finishMove() async {
        guard let move = await unfinishedMove() else { return }
        // A user left the sessions where they were: nothing there is a copy.
        if move.from == store.kind { try? await dependencies.moves?.save { nil } }
        guard move.to == store.kind else { return }
        for await state in store.states() where state == .ready { break }
        guard !Task.isCancelled, let old = try? await dependencies.open(move.from) else { return }
        await withDiscardingTaskGroup { group in
            // A store of several hosts finds out only then whether it can be reached.
            group.addTask { await old.run() }
            await finish(move.from, in: old)
            group.cancelAll()
        }
    }

    /// When the old store is open.
    private func finish(_ kind: StoreKind, in old: MovableStore.Store) async {
        for await state in old.states() where state == .ready {
            // Another move ends this one, too.
            guard permit.acquire() else { return }
            defer { permit.release() }
            guard let move = await unfinishedMove(), move.to == store.kind, move.from == kind else {
                return
            }
            if await finish(move, in: old).isEmpty { return }
        }
    }

    private func unfinishedMove() async -> UnfinishedMove? {
        guard let moves = dependencies.moves else { return nil }
        return await BlockingThread().complete { moves.load() }
    }

    /// - Parameter new: where sessions are; `nil`: in the present store.
    /// - Returns: what is left to do.
    private func finish(
        _ move: UnfinishedMove, in old: any SessionStore, new: (any SessionStore)? = nil
    ) async -> [UnfinishedMove.Copy] {
        var rest = move
        rest.copies = await StoreMove.removeCopies(of: move, from: old, keepingWhatLacks: new ?? store)
        // What cannot be written down is done again by the next start: there is nothing left for it to do.
        try? await dependencies.moves?.save { [rest] in rest.copies.isEmpty ? nil : rest }
        return rest.copies
    }
}

/// Sessions are moved, or what a move has left is removed: one at a time.
private final class MovePermit: Sendable {
    private let isTaken = Mutex(false)

    /// - Returns: whether the caller has it now, and releases it later.
    func acquire() -> Bool {
        isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
    }

    func release() { isTaken.withLock { $0 = false } }
}
