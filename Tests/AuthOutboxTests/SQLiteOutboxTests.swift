import AuthAgent
import AuthModel
import AuthWire
import Foundation
import TestSupport
import Testing

@testable import AuthOutbox

@Suite("The outbox on disk")
struct SQLiteOutboxTests {
    private func entry(_ id: String) throws -> (OutboxEntry, OutboxRequest) {
        let session = try SessionName("shop")
        let entry = OutboxEntry(
            id: id, session: session, owner: .init(provider: "p", environment: "e", userID: "7"), title: "vote",
            idempotencyKey: "key-\(id)", queuedAt: WallTime(unixSeconds: 1_800_000_000.5))
        let params = APICall(session: session, endpoint: "vote", args: ["id": "my-secret-choice"], queue: true)
        return (entry, .call(params))
    }

    private func add(_ ids: String..., to outbox: SQLiteOutbox) async throws {
        for id in ids {
            let (entry, request) = try entry(id)
            try await outbox.add(entry, request)
        }
    }

    @Test("added entries are there in order after a kill, without closing first")
    func survives() async throws {
        let folder = try TemporaryFolder()
        let keys = MemoryStore()
        let path = folder.path + "/state/authd/outbox.sqlite"
        let outbox = SQLiteOutbox(path: path, keys: keys)
        #expect(!outbox.mayHoldEntries)
        try await add("a", "b", "c", to: outbox)
        let no = AgentError(.notFound, "No.", httpStatus: 404, providerMessage: "No such decision")
        try await outbox.record(no, for: "b")
        try await outbox.remove("a")

        let next = SQLiteOutbox(path: path, keys: keys)
        #expect(next.mayHoldEntries)
        var (b, request) = try entry("b")
        b.finalRefusal = no
        let (c, _) = try entry("c")
        #expect(try await next.all() == [b, c])
        #expect(try await next.request(of: "c") == request)
        #expect(try await next.request(of: "a") == nil)
        try await next.record(nil, for: "b")
        #expect(try await next.all().map(\.finalRefusal) == [nil, nil])
        withExtendedLifetime(outbox) {}
    }

    @Test("a file that was made with GRDB is read and written")
    func formerFile() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/outbox.sqlite"
        let keys = MemoryStore()
        // The entries were sealed in the same way.
        let source = SQLiteOutbox(path: folder.path + "/source.sqlite", keys: keys)
        try await add("old", to: source)
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1])
            for line in [
                "PRAGMA journal_mode = WAL",
                "CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)",
                "INSERT INTO grdb_migrations VALUES ('entries')",
                "CREATE TABLE outbox (number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,"
                " session TEXT NOT NULL, entry BLOB NOT NULL, request BLOB NOT NULL, verdict BLOB)",
            ]:
                database.execute(line)
            rows = sqlite3.connect(sys.argv[2]).execute("SELECT * FROM outbox").fetchall()
            database.executemany("INSERT INTO outbox VALUES (?, ?, ?, ?, ?, ?)", rows)
            database.commit()
            database.close()
            """
        let made = try await Child(
            ["python3", "-c", script, path, folder.path + "/source.sqlite"], environment: ["PATH": "/usr/bin:/bin"]
        ).output()
        #expect(made.status == 0, "\(made.err)")
        let outbox = SQLiteOutbox(path: path, keys: keys)
        try await add("new", to: outbox)
        let (old, request) = try entry("old")
        #expect(try await outbox.all() == [old, entry("new").0])
        #expect(try await outbox.request(of: "old") == request)
        #expect(try await SQLiteOutbox(path: path, keys: keys).request(of: "new") == entry("new").1)
        withExtendedLifetime((source, outbox)) {}
    }

    @Test("a file that another program has locked is reported, and can be used when it no longer is")
    func busy() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/outbox.sqlite"
        let outbox = SQLiteOutbox(path: path, keys: MemoryStore())
        try await add("a", to: outbox)
        let script = """
            import sqlite3, sys
            database = sqlite3.connect(sys.argv[1], isolation_level=None)
            database.execute("BEGIN IMMEDIATE")
            print("locked", flush=True)
            sys.stdin.read()
            database.execute("ROLLBACK")
            """
        let other = try await Child(
            ["python3", "-c", script, path], environment: ["PATH": "/usr/bin:/bin"], input: .held)
        try #require(await other.out.wait(for: "locked"))
        let locked = OutboxError.disk(reason: "another program has locked the file")
        await #expect(throws: locked) { try await add("b", to: outbox) }
        await #expect(throws: locked) { try await outbox.remove("a") }
        // Reading needs no lock.
        #expect(try await outbox.all().map(\.id) == ["a"])
        other.endInput()
        #expect(await other.ended() == 0)
        try await add("b", to: outbox)
        #expect(try await outbox.all().map(\.id) == ["a", "b"])
    }

    @Test("a full disk is reported, and earlier rows stay")
    func fullDisk() throws {
        let database = try SQLiteConnection(path: nil)
        try database.run("CREATE TABLE rows (bytes BLOB)")
        try database.run("INSERT INTO rows VALUES (?)", .bytes([1]))
        // No page can be added any more (sqlite.org/pragma.html).
        try database.run("PRAGMA max_page_count = 1")
        let large = [UInt8](repeating: 2, count: 1 << 16)
        let failure = try #require(throws: SQLiteConnection.Failure.self) {
            try database.run("INSERT INTO rows VALUES (?)", .bytes(large))
        }
        #expect(OutboxError(failure) == .disk(reason: "the disk is full"))
        #expect(try database.run("SELECT bytes FROM rows") == [[.bytes([1])]])
    }

    @Test("a database that cannot have a write-ahead log is refused")
    func noLog() throws {
        // One in memory has none either.
        let database = try SQLiteConnection(path: nil)
        let failure = try #require(throws: SQLiteConnection.Failure.self) { try database.useWriteAheadLog() }
        #expect(failure.message == "the file system does not support SQLite's write-ahead log")
    }

    @Test("no file contains a request in plain text, and the files are private")
    func sealed() async throws {
        let folder = try TemporaryFolder()
        let outbox = SQLiteOutbox(path: folder.path + "/state/authd/outbox.sqlite", keys: MemoryStore())
        try await add("a", to: outbox)
        try await outbox.record(AgentError(.notFound, "", providerMessage: "their-words"), for: "a")
        let place = folder.path + "/state/authd"
        #expect(try FileManager.default.attributesOfItem(atPath: place)[.posixPermissions] as? Int == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: place)
        #expect(Set(names).isSuperset(of: ["outbox.sqlite", "outbox.sqlite-wal"]))
        for name in names {
            let bytes = try Data(contentsOf: URL(filePath: place + "/" + name))
            for word in ["my-secret-choice", "vote", "key-a", "their-words"] {
                #expect(bytes.range(of: Data(word.utf8)) == nil, "\(name) holds \(word)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: place + "/" + name)[.posixPermissions] as? Int
            #expect(mode == 0o600, "\(name)")
        }
    }

    @Test("without its key an entry is reported and not lost, and a moved one is not opened")
    func otherKey() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/outbox.sqlite"
        let first = SQLiteOutbox(path: path, keys: MemoryStore())
        try await add("a", to: first)
        let other = SQLiteOutbox(path: path, keys: MemoryStore())
        let found = try await other.all()
        #expect(found.map(\.id) == ["a"])
        #expect(found.first?.finalRefusal?.cause == "unreadable")
        #expect(try await other.request(of: "a") == nil)
        #expect(try await first.all().map(\.finalRefusal) == [nil])
    }

    @Test("an empty outbox leaves no file and starts over; a file that is not a database is reported and kept")
    func empties() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/outbox.sqlite"
        let outbox = SQLiteOutbox(path: path, keys: MemoryStore())
        try await add("a", to: outbox)
        try await outbox.remove("a")
        await outbox.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
        try await add("b", to: outbox)
        #expect(try await outbox.all().map(\.id) == ["b"])
        try await outbox.remove("b")
        await outbox.close()

        let text = Data(String(repeating: "this is no database\n", count: 100).utf8)
        try text.write(to: URL(filePath: path))
        await #expect(throws: OutboxError.self) { try await outbox.all() }
        #expect(try Data(contentsOf: URL(filePath: path)) == text)
    }

    @Test("a request beyond the limit is refused, and waiting ones stay")
    func full() async throws {
        let folder = try TemporaryFolder()
        let outbox = SQLiteOutbox(path: folder.path + "/outbox.sqlite", keys: MemoryStore(), maxBytes: 500)
        try await add("a", "b", to: outbox)
        let error = OutboxError.full(bytes: 500)
        await #expect(throws: error) { try await add("c", "d", "e", to: outbox) }
        let reported = AgentError(error)
        #expect(reported.kind == .busy && reported.cause == "outbox_full")
        let kept = try await outbox.all().map(\.id)
        #expect(kept.starts(with: ["a", "b"]) && !kept.contains("e"))
        try await outbox.remove("a")
        try await outbox.remove("b")
        try await add("f", to: outbox)
    }

    @Test("a locked keyring is reported, and nothing is written")
    func locked() async throws {
        let folder = try TemporaryFolder()
        let outbox = SQLiteOutbox(path: folder.path + "/outbox.sqlite", keys: LockedKeys())
        await #expect(throws: OutboxError.key(.locked)) { try await add("a", to: outbox) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == [])
    }
}

private struct LockedKeys: KeyStore {
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret? { throw .locked }
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError) { throw .locked }
}
