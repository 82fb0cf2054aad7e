import AuthFiles
import AuthModel
import Glibc

/// The database file: it belongs to the user, in a folder of the user.
struct OutboxFile: Sendable {
    let path: String

    var isThere: Bool { unsafe access(path, F_OK) == 0 }

    /// Creates missing folders and the file, private to the user: SQLite gives its other files the same mode
    /// (sqlite.org/wal.html, "Read-Only Databases").
    func prepare() throws(OutboxError) {
        do { try PrivateFolder.make(PrivateFolder.parent(of: path)) } catch { throw .disk(reason: "\(error)") }
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw .disk(reason: "\(SystemFailure("open \(path)"))") }
        close(descriptor)
    }

    /// Removes an empty one, unless SQLite has left a log to recover.
    func removeIfClosed() {
        guard unsafe access(path + "-wal", F_OK) != 0 else { return }
        _ = unsafe unlink(path)
    }
}

extension OutboxError {
    /// SQLite's message is used except for errors that a user can fix.
    init(_ error: SQLiteConnection.Failure) {
        if error.isFull {
            self = .disk(reason: "the disk is full")
        } else if error.isBusy {
            self = .disk(reason: "another program has locked the file")
        } else {
            self = .disk(reason: error.message)
        }
    }
}
