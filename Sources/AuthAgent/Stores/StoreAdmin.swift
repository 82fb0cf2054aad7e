package import AuthModel
package import AuthWire

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
        package var moves: (any StateStore<[UnfinishedMove]>)?
        package var bundles: any BundleSealing

        package init(
            open: @escaping @Sendable (StoreKind) async throws(StoreError) -> MovableStore.Store,
            configuredStore: @escaping @Sendable () async -> StoreKind?,
            choose: @escaping @Sendable (StoreKind) async throws(StoreError) -> Void,
            moves: (any StateStore<[UnfinishedMove]>)?, bundles: any BundleSealing
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
    let permit = MovePermit()

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

    func unlock(_ store: MovableStore.Store, _ passphrase: String?) async throws(AgentError) {
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
}
