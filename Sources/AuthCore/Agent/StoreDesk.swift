package import AuthWire

/// What a person does with the store itself.
package struct StoreDesk: Sendable {
    /// What lies outside: files, settings, the stores that could be.
    package struct Surroundings: Sendable {
        /// Reads what a key is made of from a file of the person's own.
        package var readKey: @Sendable (_ path: String) throws(StoreError) -> Secret
        /// A store that is not in use yet.
        package var open: @Sendable (StoreKind) throws(StoreError) -> MovableStore.Store
        /// What the command line or the settings want for the next start; `nil`: nothing.
        package var wanted: @Sendable () -> StoreKind?
        /// Has the next start take this one, where nothing else is wanted. It is on disk when this returns.
        package var choose: @Sendable (StoreKind) throws(StoreError) -> Void
        package var parcels: any ParcelSealing

        package init(
            readKey: @escaping @Sendable (_ path: String) throws(StoreError) -> Secret,
            open: @escaping @Sendable (StoreKind) throws(StoreError) -> MovableStore.Store,
            wanted: @escaping @Sendable () -> StoreKind?,
            choose: @escaping @Sendable (StoreKind) throws(StoreError) -> Void, parcels: any ParcelSealing
        ) {
            self.readKey = readKey
            self.open = open
            self.wanted = wanted
            self.choose = choose
            self.parcels = parcels
        }
    }

    let table: SessionTable
    private let store: MovableStore
    let surroundings: Surroundings

    /// - Parameter store: the table's.
    package init(table: SessionTable, store: MovableStore, surroundings: Surroundings) {
        self.table = table
        self.store = store
        self.surroundings = surroundings
    }

    /// Opens the store, or has the person asked to by the desktop. Returns when the sessions in it are there.
    package func unlock(_ params: UnlockParams) async throws(AgentError) -> StoreInfo {
        try await unlock(store.present, params.passphrase)
        await table.personIsHere()
        let info = table.board.store
        guard info.state == .ready else { throw .storeNotRead(info) }
        return info
    }

    private func unlock(_ store: MovableStore.Store, _ passphrase: String?) async throws(AgentError) {
        guard let sealed = store as? any SealedStore else { return }
        do throws(SealRefusal) {
            try await sealed.unlock(with: passphrase.map { Secret($0) })
        } catch {
            throw AgentError(error)
        }
    }

    package func rekey(_ params: RekeyParams) async throws(AgentError) -> MessageResult {
        guard let sealed = store.present as? any SealedStore else {
            throw AgentError(
                .unsupported, "Only sealed files have keys of their own; sessions are kept in \(store.kind.rawValue).")
        }
        let change: KeyChange
        do throws(StoreError) {
            change = try self.change(params)
        } catch {
            throw AgentError(error)
        }
        do throws(SealRefusal) {
            try await sealed.rekey(change)
        } catch {
            throw AgentError(error)
        }
        return MessageResult(message: "Every session is sealed with a new key." + Self.whatToSet(change, params))
    }

    private func change(_ params: RekeyParams) throws(StoreError) -> KeyChange {
        if let path = params.keyFile { return .given(try surroundings.readKey(path)) }
        return params.passphrase.map { .passphrase(Secret($0)) } ?? .sameOutside
    }

    /// The next start looks where the settings say.
    private static func whatToSet(_ change: KeyChange, _ params: RekeyParams) -> String {
        switch change {
        case .sameOutside: ""
        case .passphrase: " authd.toml is to say sealed_key = \"passphrase\"."
        case .given:
            " authd.toml is to say sealed_key = \"\(params.keyFile ?? "")\", or the credential is to be made of that file."
        }
    }

    // MARK: Moving

    /// Moves every session to another store. Until all of them are there, and the next start is to look there, they are
    /// in the old one; from then on in the new one.
    package func migrate(_ params: MigrateParams) async throws(AgentError) -> MessageResult {
        let kind = params.to
        guard kind != .memory else {
            throw AgentError(.unsupported, "In memory nothing is kept: start authd with --store memory for that.")
        }
        guard kind != store.kind else {
            return MessageResult(message: "Sessions are kept in \(kind.rawValue) already.")
        }
        if let wanted = surroundings.wanted(), wanted != kind {
            throw AgentError(
                .conflict,
                "authd is told to keep sessions in \(wanted.rawValue), by --store or in authd.toml, and its next start would "
                    + "look there: take that away, or set store = \"\(kind.rawValue)\", first.")
        }
        guard table.isLoaded else { throw .storeNotRead(table.board.store) }
        let target: MovableStore.Store
        do throws(StoreError) {
            target = try surroundings.open(kind)
        } catch {
            throw AgentError(error)
        }
        try await unlock(target, params.passphrase)
        await table.drain()
        var moved: [SessionName] = []
        var left: [SessionName] = []
        try await store.move { source throws(AgentError) in
            let move = StoreMove(source: source, target: target)
            moved = try await move.copy()
            do throws(StoreError) {
                try surroundings.choose(kind)
            } catch {
                throw AgentError(error)
            }
            left = await move.clear(moved)
            return target
        }
        await table.storeWasReplaced()
        let rest = left.isEmpty ? "" : " Not removed from where they were: \(left.map(\.text).joined(separator: ", "))."
        return MessageResult(message: "Sessions moved to \(kind.rawValue): \(moved.count).\(rest)")
    }
}

extension AgentError {
    init(_ refusal: SealRefusal) {
        switch refusal {
        case .needsPassphrase(isNew: false):
            self.init(.validation, "A passphrase has sealed this: it is to be given.", cause: "passphrase")
        case .needsPassphrase(isNew: true):
            self.init(
                .validation, "A passphrase will seal this, and none was chosen yet: it is to be given.",
                cause: "new_passphrase")
        case .wrongPassphrase:
            self.init(.refused, "That is not the passphrase that has sealed this.", cause: "passphrase")
        case .tooShort:
            self.init(
                .validation,
                "A passphrase has \(SealRefusal.shortestPassphrase) bytes or more: whoever has the disk has all the time.",
                cause: "new_passphrase")
        case .damaged(let reason): self.init(.validation, "It cannot be opened: \(reason).", cause: "damaged")
        case .store(let error): self.init(error)
        }
    }
}
