import AuthConcurrency
package import AuthModel
package import AuthWire
import FoundationEssentials
import GRDB

/// The outbox in an SQLite file, using GRDB.
///
/// Invariants: the result of a call is on disk (`synchronous = FULL`); requests and refusals are sealed; the file is opened
/// when needed, and removed when it is empty.
package actor SQLiteOutbox: OutboxStore {
    /// Sealed, on disk: a program that queues without end fails long before the disk is full.
    package static let maxBytes = 64 << 20

    private struct Opened {
        let database: DatabaseQueue
        let seal: Seal
    }

    private nonisolated let file: OutboxFile?
    private let keys: any KeyStore
    private let maxBytes: Int
    /// Opens and closes the file in order, so that a later close does not remove a newly opened file.
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
        return try await Self.translated { () async throws in
            try await open.database.read { database in
                try Row.fetchAll(database, sql: "SELECT id, session, entry, verdict FROM outbox ORDER BY number")
                    .compactMap { Self.entry($0, open.seal) }
            }
        }
    }

    package func request(of id: String) async throws(OutboxError) -> OutboxRequest? {
        let open = try await open()
        let bytes = try await Self.translated { () async throws in
            try await open.database.read { database -> [UInt8]? in
                let found = "SELECT session, request FROM outbox WHERE id = ?"
                guard let row = try Row.fetchOne(database, sql: found, arguments: [id]),
                    let session = row["session"] as String?, let sealed = row["request"] as Data?
                else { return nil }
                return open.seal.open(sealed, at: Self.place(id, session, "request"))
            }
        }
        return bytes.flatMap(OutboxRequest.init(encoded:))
    }

    package func add(_ entry: OutboxEntry, _ request: OutboxRequest) async throws(OutboxError) {
        let open = try await open()
        let (id, session) = (entry.id, entry.session.text)
        let sealedEntry = try open.seal.close(entry.encoded(), at: Self.place(id, session, "entry"))
        let sealedRequest = try open.seal.close(request.encoded(), at: Self.place(id, session, "request"))
        let maxBytes = maxBytes
        try await Self.translated { () async throws in
            try await open.database.write { database in
                let held = try Int.fetchOne(database, sql: "SELECT sum(length(request)) FROM outbox") ?? 0
                guard held + sealedRequest.count <= maxBytes else { throw OutboxError.full(bytes: maxBytes) }
                try database.execute(
                    sql: "INSERT INTO outbox (id, session, entry, request) VALUES (?, ?, ?, ?)",
                    arguments: [id, session, sealedEntry, sealedRequest])
            }
        }
    }

    package func record(_ finalRefusal: AgentError?, for id: String) async throws(OutboxError) {
        let open = try await open()
        try await Self.translated { () async throws in
            try await open.database.write { database in
                let found = "SELECT session FROM outbox WHERE id = ?"
                guard let session = try String.fetchOne(database, sql: found, arguments: [id]) else { return }
                let place = Self.place(id, session, "verdict")
                let sealed = try finalRefusal.map { try open.seal.close($0.json.serialized(), at: place) }
                try database.execute(
                    sql: "UPDATE outbox SET verdict = ? WHERE id = ?", arguments: [sealed, id])
            }
        }
    }

    package func remove(_ id: String) async throws(OutboxError) {
        let open = try await open()
        try await Self.translated { () async throws in
            try await open.database.write { database in
                try database.execute(sql: "DELETE FROM outbox WHERE id = ?", arguments: [id])
            }
        }
    }

    /// Closing merges and removes the log (sqlite.org/wal.html, "Checkpointing").
    package func close() async {
        guard let file, let open = opened else { return }
        opened = nil
        await disk.complete {
            do {
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
            Result { () throws(OutboxError) -> DatabaseQueue in
                do {
                    return try Self.database(in: file)
                } catch {
                    throw OutboxError(error)
                }
            }
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

    private static func database(in file: OutboxFile?) throws -> DatabaseQueue {
        guard let file else {
            let database = try DatabaseQueue()
            try prepare(database)
            return database
        }
        try file.prepare()
        var configuration = Configuration()
        configuration.journalMode = .wal
        let database = try DatabaseQueue(path: file.path, configuration: configuration)
        try prepare(database)
        return database
    }

    private static func prepare(_ database: DatabaseQueue) throws {
        try database.writeWithoutTransaction { database in
            // In WAL mode this syncs the log at each commit, not only at checkpoints (sqlite.org/pragma.html).
            try database.execute(sql: "PRAGMA synchronous = FULL")
            try database.execute(sql: "PRAGMA secure_delete = ON")
        }
        var migrator = DatabaseMigrator()
        migrator.registerMigration("entries") { database in
            try database.execute(
                sql: """
                    CREATE TABLE outbox (
                        number INTEGER PRIMARY KEY AUTOINCREMENT,
                        id TEXT NOT NULL UNIQUE,
                        session TEXT NOT NULL,
                        entry BLOB NOT NULL,
                        request BLOB NOT NULL,
                        verdict BLOB
                    )
                    """)
        }
        try migrator.migrate(database)
    }

    // MARK: Rows

    private static func place(_ id: String, _ session: String, _ column: String) -> String {
        "authd outbox 1\0\(id)\0\(session)\0\(column)"
    }

    /// `nil` for an invalid row.
    private static func entry(_ row: Row, _ seal: Seal) -> OutboxEntry? {
        guard let id = row["id"] as String?, let name = row["session"] as String?,
            let session = try? SessionName(name), let sealed = row["entry"] as Data?
        else { return nil }
        guard let bytes = seal.open(sealed, at: place(id, name, "entry")) else {
            return .unreadable(
                id: id, session: session, reason: "the keyring does not have its key")
        }
        let finalRefusal = (row["verdict"] as Data?).map { seal.open($0, at: place(id, name, "verdict")) ?? [] }
        return OutboxEntry(id: id, session: session, encoded: bytes, finalRefusal: finalRefusal)
            ?? .unreadable(id: id, session: session, reason: "a newer authd wrote it")
    }

    private static func translated<Value: Sendable>(
        _ work: () async throws -> Value
    ) async throws(OutboxError) -> Value {
        do {
            return try await work()
        } catch {
            throw OutboxError(error)
        }
    }
}
