import AuthModel
import AuthWire

/// The sealed files of a folder. Every call uses the disk and may block.
struct SealedDirectory: Sendable {
    private static let suffix = ".session"

    /// Available once the keys are known.
    struct Opened {
        let claim: FolderClaim
        var wrappedKeys: WrappedKeys
        var index: SealedIndex
    }

    let folder: DurableFolder
    let source: SealingSource
    /// For a new passphrase.
    let cost: PassphraseCost
    var opened: Opened?

    init(folder: DurableFolder, source: SealingSource, cost: PassphraseCost) {
        self.folder = folder
        self.source = source
        self.cost = cost
    }

    var isOpen: Bool { opened != nil }

    // MARK: Sessions

    mutating func loadAll() throws(StoreError) -> [StoredSession] {
        let opened = try open()
        var all: [StoredSession] = []
        for file in try folder.names() {
            guard let session = Self.session(of: file) else { continue }
            do throws(SealedBytes.Refusal) {
                if let content = try content(of: file, opened) { all.append(.record(try Self.record(content))) }
            } catch {
                all.append(.damaged(session: session.text, reason: error.reason))
            }
        }
        return all
    }

    /// Readable without a key; includes damaged files.
    func names() throws(StoreError) -> [StoredName] {
        var names: [StoredName] = []
        for file in try folder.names() {
            guard let session = Self.session(of: file) else { continue }
            let header = (try? folder.read(file)).flatMap { try? SealedBytes.header(of: $0) }
            names.append(StoredName(session: session, provider: header?.label ?? ""))
        }
        return names.sorted { $0.session < $1.session }
    }

    mutating func load(_ session: SessionName) throws(StoreError) -> SessionRecord? {
        try read(Self.file(of: session)).map { content throws(StoreError) in
            do throws(SealedBytes.Refusal) {
                return try Self.record(content)
            } catch {
                throw refusal(Self.file(of: session), error)
            }
        }
    }

    mutating func save(_ record: SessionRecord) throws(StoreError) {
        try write(record.encoded(), to: Self.file(of: record.session), label: record.provider)
    }

    mutating func delete(_ session: SessionName) throws(StoreError) {
        try remove(Self.file(of: session))
    }

    // MARK: Files

    mutating func read(_ file: String) throws(StoreError) -> Secret? {
        let opened = try open()
        do throws(SealedBytes.Refusal) {
            return try content(of: file, opened)
        } catch {
            throw refusal(file, error)
        }
    }

    mutating func write(_ content: Secret, to file: String, label: String) throws(StoreError) {
        let opened = try open()
        var index = opened.index
        let generation = index.begin()
        self.opened?.index.next = index.next
        let sealed = try SealedBytes.seal(
            content, name: file, label: label, generation: generation, key: opened.wrappedKeys.keys[0])
        let isNew = index.generations[file] == nil
        index.generations[file] = generation
        if isNew { try write(index) }
        try folder.replace(file, with: sealed)
        if !isNew { try write(index) }
    }

    private mutating func remove(_ file: String) throws(StoreError) {
        var index = try open().index
        try folder.remove(file)
        guard index.generations.removeValue(forKey: file) != nil else { return }
        try write(index)
    }

    // MARK: Reading

    func content(of file: String, _ opened: Opened) throws(SealedBytes.Refusal) -> Secret? {
        let bytes: [UInt8]?
        do throws(StoreError) {
            bytes = try folder.read(file)
        } catch {
            throw .damaged("it is unreadable: \(error)")
        }
        guard let bytes else { return nil }
        let found = try SealedBytes.open(bytes, name: file, keys: opened.wrappedKeys.keys)
        guard let least = opened.index.generations[file] else {
            throw .damaged("it is not in the index: somebody restored it after a sign-out, or the index is lost")
        }
        guard found.header.generation >= least else {
            throw .damaged("it is older than the last one written: somebody restored it")
        }
        return found.content
    }

    private static func record(_ content: Secret) throws(SealedBytes.Refusal) -> SessionRecord {
        do throws(DamagedRecord) {
            return try SessionRecord(decoding: content)
        } catch {
            throw .damaged(error.reason)
        }
    }

    mutating func write(_ new: SealedIndex) throws(StoreError) {
        guard let key = opened?.wrappedKeys.keys[0] else { return }
        var new = new
        let generation = new.begin()
        opened?.index.next = new.next
        try folder.replace(
            SealedIndex.fileName,
            with: SealedBytes.seal(
                new.content, name: SealedIndex.fileName, label: "", generation: generation, key: key))
        opened?.index = new
    }

    func refusal(_ file: String, _ refusal: SealedBytes.Refusal) -> StoreError {
        .failed(reason: "\(folder.path)/\(file): \(refusal.reason)")
    }

    private static func file(of session: SessionName) -> String { session.text + suffix }

    private static func session(of file: String) -> SessionName? {
        guard file.hasSuffix(suffix) else { return nil }
        return try? SessionName(String(file.dropLast(suffix.count)))
    }
}
