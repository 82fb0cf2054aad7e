internal import CSQLite
import Synchronization

/// A database file of SQLite, or one in memory. Calls block until the disk has replied.
@safe final class SQLiteConnection: Sendable {
    enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case text(String)
        case bytes([UInt8])

        var integer: Int64? { if case .integer(let number) = self { number } else { nil } }
        var text: String? { if case .text(let text) = self { text } else { nil } }
        var bytes: [UInt8]? { if case .bytes(let bytes) = self { bytes } else { nil } }
    }

    /// What SQLite reports. Its messages contain no values.
    struct Failure: Error {
        /// sqlite.org/rescode.html
        let code: Int32
        let message: String

        var isFull: Bool { code & 0xFF == SQLITE_FULL }
        /// Another connection writes.
        var isBusy: Bool { code & 0xFF == SQLITE_BUSY }
    }

    /// `nil` once it is closed.
    private let handle: Mutex<OpaquePointer?>

    /// - Parameter path: `nil` for a database in memory.
    init(path: String?) throws(Failure) {
        var opened: OpaquePointer?
        let code = unsafe sqlite3_open_v2(path ?? ":memory:", &opened, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nil)
        guard code == SQLITE_OK else {
            let failure = unsafe Self.failure(code, opened)
            unsafe sqlite3_close(opened)
            throw failure
        }
        unsafe handle = Mutex(opened)
    }

    deinit {
        unsafe handle.withLock { _ = unsafe sqlite3_close($0) }
    }

    /// Runs one statement with these values for its parameters.
    /// - Returns: the rows, each with its columns in order.
    @discardableResult
    func run(_ sql: String, _ values: Value...) throws(Failure) -> [[Value]] {
        try unsafe handle.withLock { handle throws(Failure) in
            var statement: OpaquePointer?
            try unsafe Self.check(sqlite3_prepare_v2(handle, sql, -1, &statement, nil), handle)
            defer { unsafe sqlite3_finalize(statement) }
            for (index, value) in values.enumerated() {
                try unsafe Self.check(Self.bind(value, at: Int32(index + 1), of: statement), handle)
            }
            var rows: [[Value]] = []
            while true {
                let code = unsafe sqlite3_step(statement)
                guard code == SQLITE_ROW else {
                    if code == SQLITE_DONE { return rows }
                    throw unsafe Self.failure(code, handle)
                }
                let columns = unsafe 0..<sqlite3_column_count(statement)
                rows.append(columns.map { unsafe Self.column($0, of: statement) })
            }
        }
    }

    /// A commit is then written to a log first (sqlite.org/wal.html).
    func useWriteAheadLog() throws(Failure) {
        // It returns the mode that is in use, which may be another one even without an error.
        let mode = try run("PRAGMA journal_mode = WAL").first?.first?.text
        guard mode == "wal" else {
            throw Failure(
                code: SQLITE_CANTOPEN, message: "the file system does not support SQLite's write-ahead log")
        }
    }

    /// Merges the log into the file and removes it (sqlite.org/wal.html, "Checkpointing").
    func close() throws(Failure) {
        try unsafe handle.withLock { handle throws(Failure) in
            try unsafe Self.check(sqlite3_close(handle), handle)
            unsafe handle = nil
        }
    }

    private static func bind(_ value: Value, at place: Int32, of statement: OpaquePointer?) -> Int32 {
        switch value {
        case .null: unsafe sqlite3_bind_null(statement, place)
        case .integer(let number): unsafe sqlite3_bind_int64(statement, place, number)
        case .text(let text): unsafe sqlite_bind_text(statement, place, text, UInt64(text.utf8.count))
        case .bytes(let bytes): unsafe sqlite_bind_bytes(statement, place, bytes, UInt64(bytes.count))
        }
    }

    private static func column(_ index: Int32, of statement: OpaquePointer?) -> Value {
        switch unsafe sqlite3_column_type(statement, index) {
        case SQLITE_NULL: return .null
        case SQLITE_INTEGER: return unsafe .integer(sqlite3_column_int64(statement, index))
        case SQLITE_BLOB:
            let start = unsafe sqlite3_column_blob(statement, index)
            return unsafe .bytes(Array(UnsafeRawBufferPointer(start: start, count: count(index, of: statement))))
        default:
            let start = unsafe sqlite3_column_text(statement, index)
            let bytes = unsafe UnsafeRawBufferPointer(start: start, count: count(index, of: statement))
            return unsafe .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    private static func count(_ index: Int32, of statement: OpaquePointer?) -> Int {
        unsafe Int(sqlite3_column_bytes(statement, index))
    }

    private static func check(_ code: Int32, _ handle: OpaquePointer?) throws(Failure) {
        guard code == SQLITE_OK else { throw unsafe failure(code, handle) }
    }

    private static func failure(_ code: Int32, _ handle: OpaquePointer?) -> Failure {
        let message = unsafe handle == nil ? sqlite3_errstr(code) : sqlite3_errmsg(handle)
        let text = unsafe message.map { unsafe String(cString: $0) }
        return Failure(code: code, message: text ?? "SQLite's error \(code)")
    }
}
