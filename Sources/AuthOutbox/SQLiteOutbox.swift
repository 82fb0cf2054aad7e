import AuthConcurrency
package import AuthModel
package import AuthWire

/// The outbox in an SQLite file.
///
/// Invariants: the result of a call is on disk (`synchronous = FULL`); requests and refusals are sealed; the file is opened
/// when needed, and removed when it is empty.
package actor SQLiteOutbox: OutboxStore {
    /// Sealed, on disk: a program that queues without end fails long before the disk is full.
    package static let maxBytes = 64 << 20

    private struct Opened {
        let database: SQLiteConnection
        let seal: Seal
    }

    private nonisolated let file: OutboxFile?
    private let keys: any KeyStore
    private let maxBytes: Int
    /// All calls of the database, in order: a sync of the disk blocks nothing else, and a later close does not remove a newly
    /// opened file.
    private let disk = BlockingThread()
    private var opened: Opened?

    /// - Parameters:
    ///   - path: `nil` keeps entries in memory, for sessions that are kept there.
    ///   - keys: stores the key, which is created with the first entry.
    ///   - maxBytes: of all requests, sealed.
    package init(path: String?, keys: any KeyStore, maxBytes: Int = SQLiteOutbox.maxBytes) {
        file = path.map(OutboxFile.init(path:))
        self.keys = keys
        self.maxBytes = maxBytes
    }

    package nonisolated var mayHoldEntries: Bool { file?.isThere ?? true }

    package func all() async throws(OutboxError) -> [OutboxEntry] {
        let open = try await open()
        return try await onDisk { () throws(SQLiteConnection.Failure) in
            try open.database.run("SELECT id, session, entry, verdict FROM outbox ORDER BY number")
                .compactMap { Self.entry($0, open.seal) }
        }
    }

    package func request(of id: String) async throws(OutboxError) -> OutboxRequest? {
        let open = try await open()
        let row = try await onDisk { () throws(SQLiteConnection.Failure) in
            try open.database.run("SELECT session, request FROM outbox WHERE id = ?", .text(id)).first
        }
        guard let row, let session = row[0].text, let sealed = row[1].bytes else { return nil }
        return open.seal.open(sealed, at: Self.place(id, session, "request")).flatMap(OutboxRequest.init(encoded:))
    }

    package func add(_ entry: OutboxEntry, _ request: OutboxRequest) async throws(OutboxError) {
        let open = try await open()
        let (id, session) = (entry.id, entry.session.text)
        let sealedEntry = try open.seal.close(entry.encoded(), at: Self.place(id, session, "entry"))
        let sealedRequest = try open.seal.close(request.encoded(), at: Self.place(id, session, "request"))
        let maxBytes = maxBytes
        let fits = try await onDisk { () throws(SQLiteConnection.Failure) in
            let held = try open.database.run("SELECT sum(length(request)) FROM outbox").first?[0].integer ?? 0
            guard Int(held) + sealedRequest.count <= maxBytes else { return false }
            try open.database.run(
                "INSERT INTO outbox (id, session, entry, request) VALUES (?, ?, ?, ?)",
                .text(id), .text(session), .bytes(sealedEntry), .bytes(sealedRequest))
            return true
        }
        guard fits else { throw .full(bytes: maxBytes) }
    }

    package func record(_ finalRefusal: AgentError?, for id: String) async throws(OutboxError) {
        let open = try await open()
        let row = try await onDisk { () throws(SQLiteConnection.Failure) in
            try open.database.run("SELECT session FROM outbox WHERE id = ?", .text(id)).first
        }
        guard let session = row?[0].text else { return }
        let place = Self.place(id, session, "verdict")
        var sealed = SQLiteConnection.Value.null
        if let finalRefusal {
            sealed = .bytes(try open.seal.close(finalRefusal.json.serialized(), at: place))
        }
        try await onDisk { [sealed] () throws(SQLiteConnection.Failure) in
            _ = try open.database.run("UPDATE outbox SET verdict = ? WHERE id = ?", sealed, .text(id))
        }
    }

    package func remove(_ id: String) async throws(OutboxError) {
        let open = try await open()
        try await onDisk { () throws(SQLiteConnection.Failure) in
            _ = try open.database.run("DELETE FROM outbox WHERE id = ?", .text(id))
        }
    }

    package func close() async {
        guard let file, let open = opened else { return }
        opened = nil
        await disk.complete {
            do throws(SQLiteConnection.Failure) {
                try open.database.close()
                file.removeIfClosed()
            } catch {
                // It is empty anyway, and is checked again at the next start.
            }
        }
    }

    // MARK: Opening

    private func open() async throws(OutboxError) -> Opened {
        if let opened { return opened }
        let seal = try await seal()
        // Another caller opened it meanwhile.
        if let opened { return opened }
        let database = try await disk.complete { [file] in
            Result { () throws(OutboxError) in try Self.database(in: file) }
        }.get()
        if let opened { return opened }
        let fresh = Opened(database: database, seal: seal)
        opened = fresh
        return fresh
    }

    private func seal() async throws(OutboxError) -> Seal {
        do throws(StoreError) {
            if let key = try await keys.key(for: .outbox), let seal = Seal(key) { return seal }
            let key = Seal.newKey()
            try await keys.save(key, for: .outbox)
            if let seal = Seal(key) { return seal }
        } catch {
            throw .key(error)
        }
        throw .disk(reason: "the key could not be created")
    }

    private static func database(in file: OutboxFile?) throws(OutboxError) -> SQLiteConnection {
        try file?.prepare()
        do throws(SQLiteConnection.Failure) {
            let database = try SQLiteConnection(path: file?.path)
            if file != nil { try database.useWriteAheadLog() }
            // In WAL mode this syncs the log at each commit, not only at checkpoints (sqlite.org/pragma.html).
            try database.run("PRAGMA synchronous = FULL")
            try database.run("PRAGMA secure_delete = ON")
            // No files in /tmp: what they contain would stay there, and Landlock refuses them.
            try database.run("PRAGMA temp_store = MEMORY")
            try database.run(
                """
                CREATE TABLE IF NOT EXISTS outbox (
                    number INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    session TEXT NOT NULL,
                    entry BLOB NOT NULL,
                    request BLOB NOT NULL,
                    verdict BLOB
                )
                """)
            return database
        } catch {
            throw OutboxError(error)
        }
    }

    // MARK: Rows

    private static func place(_ id: String, _ session: String, _ column: String) -> String {
        "authd outbox 1\0\(id)\0\(session)\0\(column)"
    }

    /// `nil` for an invalid row: ID, session, entry and verdict.
    private static func entry(_ row: [SQLiteConnection.Value], _ seal: Seal) -> OutboxEntry? {
        guard let id = row[0].text, let name = row[1].text, let session = try? SessionName(name),
            let sealed = row[2].bytes
        else { return nil }
        guard let bytes = seal.open(sealed, at: place(id, name, "entry")) else {
            return .unreadable(
                id: id, session: session, reason: "the keyring does not have its key")
        }
        let finalRefusal = row[3].bytes.map { seal.open($0, at: place(id, name, "verdict")) ?? [] }
        return OutboxEntry(id: id, session: session, encoded: bytes, finalRefusal: finalRefusal)
            ?? .unreadable(id: id, session: session, reason: "a newer authd wrote it")
    }

    private func onDisk<Value: Sendable>(
        _ work: @escaping @Sendable () throws(SQLiteConnection.Failure) -> Value
    ) async throws(OutboxError) -> Value {
        let result = await disk.complete {
            Result { () throws(SQLiteConnection.Failure) in try work() }
        }
        switch result {
        case .success(let value): return value
        case .failure(let failure): throw OutboxError(failure)
        }
    }
}
