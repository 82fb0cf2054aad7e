package import AuthWire

/// What a person does with the store itself.
package struct StoreDesk: Sendable {
    /// Reads what a key is made of from a file of the person's own.
    package typealias ReadKey = @Sendable (_ path: String) throws(StoreError) -> Secret

    private let table: SessionTable
    private let readKey: ReadKey

    package init(table: SessionTable, readKey: @escaping ReadKey) {
        self.table = table
        self.readKey = readKey
    }

    /// Opens the store, or has the person asked to by the desktop. Returns when the sessions in it are there.
    package func unlock(_ params: UnlockParams) async throws(AgentError) -> StoreInfo {
        if let sealed = table.store as? any SealedStore {
            do throws(SealRefusal) {
                try await sealed.unlock(with: params.passphrase.map { Secret($0) })
            } catch {
                throw AgentError(error)
            }
        }
        await table.personIsHere()
        let store = table.board.store
        guard store.state == .ready else { throw .storeNotRead(store) }
        return store
    }

    package func rekey(_ params: RekeyParams) async throws(AgentError) -> MessageResult {
        guard let sealed = table.store as? any SealedStore else {
            throw AgentError(
                .unsupported,
                "Only sealed files have keys of their own; sessions are kept in \(table.store.kind.rawValue).")
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
        if let path = params.keyFile { return .given(try readKey(path)) }
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
}

extension AgentError {
    init(_ refusal: SealRefusal) {
        switch refusal {
        case .needsPassphrase(isNew: false):
            self.init(
                .validation, "The sessions are sealed by a passphrase: it is to be given.", cause: "passphrase")
        case .needsPassphrase(isNew: true):
            self.init(
                .validation,
                "Sessions will be sealed by a passphrase, and none was chosen yet: it is to be given.",
                cause: "new_passphrase")
        case .wrongPassphrase:
            self.init(.refused, "That is not the passphrase that the sessions are sealed by.", cause: "passphrase")
        case .tooShort:
            self.init(
                .validation,
                "A passphrase has \(SealRefusal.shortestPassphrase) bytes or more: whoever has the disk has all the time.",
                cause: "new_passphrase")
        case .store(let error): self.init(error)
        }
    }
}
