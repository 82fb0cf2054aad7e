import AuthModel
import AuthWire

/// Opens the files, and seals them with other keys.
extension SealedDirectory {
    /// Opens what is sealed with a passphrase; if nothing is sealed yet, the passphrase is set.
    /// - Returns: whether it is the right one.
    mutating func unlock(with passphrase: Secret) throws(StoreError) -> Bool {
        let claim = try folder.claim()
        guard let file = try folder.read(WrappedKeys.fileName) else {
            try create(.newPassphrase(cost), passphrase, claim)
            return true
        }
        let wrapping = try wrapping(of: file)
        let outer = try Self.outer(wrapping, passphrase)
        guard try header(of: file).keyID == outer.id else { return false }
        try open(file, wrapping, outer, claim)
        return true
    }

    /// Nothing was ever sealed here, so a passphrase would be a new one.
    var isNew: Bool { (try? folder.read(WrappedKeys.fileName)) == nil }

    /// Whether this change of the key needs the present passphrase.
    mutating func needsCurrent(for change: KeyChange) throws(StoreError) -> Bool {
        // Anyone who can read a key file or a credential can open the files without the agent.
        guard case .passphrase = try open().wrappedKeys.wrapping else { return false }
        // The protection of the key does not change, so nobody else can open the files afterwards.
        if case .sameOutside = change { return false }
        return true
    }

    /// Why this change of the key is refused; `nil`: it is allowed.
    mutating func refusal(of change: KeyChange, current: Secret?) throws(StoreError) -> SealRefusal? {
        guard let current else { return try needsCurrent(for: change) ? .needsPassphrase(isNew: false) : nil }
        let keys = try open().wrappedKeys
        guard case .passphrase = keys.wrapping else { return nil }
        if try Self.outer(keys.wrapping, current).id == keys.outer.id { return nil }
        // An earlier try has ended halfway, and the same request is repeated: the new passphrase opens the files already.
        if case .passphrase(let new) = change, try Self.outer(keys.wrapping, new).id == keys.outer.id { return nil }
        return .wrongPassphrase
    }

    /// Seals everything with a new key. After an error everything is readable, and the next start continues.
    /// - Returns: `changed` if it ended halfway.
    mutating func rekey(_ change: KeyChange) throws(StoreError) -> SealRefusal? {
        let before = try open()
        var (wrapping, outer) = (before.wrappedKeys.wrapping, before.wrappedKeys.outer)
        switch change {
        case .sameOutside: break
        case .passphrase(let passphrase):
            wrapping = .newPassphrase(cost)
            outer = try Self.outer(wrapping, passphrase)
        case .given(let material):
            wrapping = .given
            outer = try Self.outer(wrapping, material)
        }
        let wrappedKeys = WrappedKeys(keys: [try .random()] + before.wrappedKeys.keys, wrapping: wrapping, outer: outer)
        let sealed = try wrappedKeys.sealed()
        var failure: StoreError?
        do throws(StoreError) {
            try folder.replace(WrappedKeys.fileName, with: sealed)
        } catch {
            // The file may be the new one although its folder could not be synced.
            guard (try? folder.read(WrappedKeys.fileName)) == sealed else { throw error }
            failure = error
        }
        opened?.wrappedKeys = wrappedKeys
        do throws(StoreError) {
            if let failure { throw failure }
            try finishRekeying()
            return nil
        } catch {
            if case .sameOutside = change { throw error }
            return .changed(error)
        }
    }

    private mutating func finishRekeying() throws(StoreError) {
        guard var opened, opened.wrappedKeys.keys.count > 1 else { return }
        let newest = opened.wrappedKeys.keys[0]
        for file in try folder.names() where file != WrappedKeys.fileName && file != SealedIndex.fileName {
            guard let bytes = try folder.read(file), let header = try? SealedBytes.header(of: bytes),
                header.keyID != newest.id, let content = try? self.content(of: file, opened)
            else { continue }
            try write(content, to: file, label: header.label)
        }
        try write(self.opened?.index ?? opened.index)
        opened.wrappedKeys.keys = [newest]
        try folder.replace(WrappedKeys.fileName, with: opened.wrappedKeys.sealed())
        self.opened?.wrappedKeys = opened.wrappedKeys
    }

    // MARK: Opening

    mutating func open() throws(StoreError) -> Opened {
        if let opened { return opened }
        let claim = try folder.claim()
        guard let file = try folder.read(WrappedKeys.fileName) else {
            guard case .given(_, let read) = source else { throw .sealed }
            try create(.given, read(), claim)
            return try open()
        }
        switch (try wrapping(of: file), source) {
        case (.passphrase, .passphrase): throw .sealed
        case (.given, .passphrase):
            throw .failed(
                reason:
                    "the sessions in \(folder.path) are sealed with a key, but no key is configured: see sealed_key in "
                    + "authd.toml(5)")
        case (.passphrase, .given(let name, _)):
            throw .failed(reason: "the sessions in \(folder.path) are sealed with a passphrase, not with \(name)")
        case (.given, .given(let name, let read)):
            let outer = try Self.outer(.given, read())
            let id = try header(of: file).keyID
            guard id == outer.id else {
                throw .failed(
                    reason: "\(name) is not the key that the sessions in \(folder.path) are sealed with "
                        + "(\(SealedBytes.hex(outer.id)), and it was \(SealedBytes.hex(id)))")
            }
            try open(file, .given, outer, claim)
        }
        return try open()
    }

    private mutating func open(
        _ file: [UInt8], _ wrapping: KeyWrapping, _ outer: SealingKey, _ claim: FolderClaim
    ) throws(StoreError) {
        let wrappedKeys: WrappedKeys
        do throws(SealedBytes.Refusal) {
            wrappedKeys = try WrappedKeys(file, wrapping: wrapping, outer: outer)
        } catch {
            throw refusal(WrappedKeys.fileName, error)
        }
        let index = try index(wrappedKeys)
        folder.tidy()
        opened = Opened(claim: claim, wrappedKeys: wrappedKeys, index: index)
        // If it cannot be finished now, as on a full disk, both keys exist and nothing is lost.
        try? finishRekeying()
    }

    private mutating func create(
        _ wrapping: KeyWrapping, _ secret: Secret, _ claim: FolderClaim
    ) throws(StoreError) {
        guard try folder.names().allSatisfy({ $0 == SealedIndex.fileName }) else {
            throw .failed(
                reason:
                    "\(folder.path)/\(WrappedKeys.fileName) is missing, and the other files cannot be opened without it: "
                    + "restore it, or remove the other files")
        }
        let outer = try Self.outer(wrapping, secret)
        let wrappedKeys = WrappedKeys(keys: [try .random()], wrapping: wrapping, outer: outer)
        // An index that was sealed with other keys does not open.
        try folder.remove(SealedIndex.fileName)
        try folder.replace(WrappedKeys.fileName, with: wrappedKeys.sealed())
        opened = Opened(claim: claim, wrappedKeys: wrappedKeys, index: SealedIndex())
    }

    static func outer(_ wrapping: KeyWrapping, _ secret: Secret) throws(StoreError) -> SealingKey {
        switch wrapping {
        case .passphrase(let cost, let salt): return try cost.key(from: secret, salt: salt)
        case .given:
            guard let key = SealingKey(material: secret) else {
                throw .failed(reason: "a key has \(SealingKey.shortestMaterial) bytes or more, and not \(secret.count)")
            }
            return key
        }
    }

    private func index(_ wrappedKeys: WrappedKeys) throws(StoreError) -> SealedIndex {
        var index = SealedIndex()
        if let file = try folder.read(SealedIndex.fileName) {
            do throws(SealedBytes.Refusal) {
                let opened = try SealedBytes.open(file, name: SealedIndex.fileName, keys: wrappedKeys.keys)
                guard let read = SealedIndex(opened.content) else {
                    throw .damaged("it is not an index that this authd can read")
                }
                index = read
            } catch {
                throw .failed(
                    reason: "\(folder.path)/\(SealedIndex.fileName): \(error.reason). Restore it, or remove it: each "
                        + "session must then be signed in again")
            }
        }
        // A write without an index entry, because of a power failure, has used its generation.
        for file in try folder.names() {
            // What cannot be read affects its own session only.
            guard let bytes = try? folder.read(file), let header = try? SealedBytes.header(of: bytes) else { continue }
            index.next = max(index.next, header.generation &+ 1)
        }
        return index
    }

    private func header(of file: [UInt8]) throws(StoreError) -> SealedBytes.Header {
        do throws(SealedBytes.Refusal) {
            return try SealedBytes.header(of: file)
        } catch {
            throw refusal(WrappedKeys.fileName, error)
        }
    }

    private func wrapping(of file: [UInt8]) throws(StoreError) -> KeyWrapping {
        guard let wrapping = KeyWrapping(label: try header(of: file).label) else {
            throw refusal(WrappedKeys.fileName, .damaged("it uses a method that this authd does not know"))
        }
        return wrapping
    }
}
