package import AuthFiles
import AuthModel
import Glibc

/// A folder whose files are replaced atomically: after a loss of power a file has its old or its new content
/// (``AtomicFile``).
package struct DurableFolder: Sendable {
    package typealias Step = AtomicFile.Step

    /// Far above any record; a larger file is not ours.
    private static let maxBytes = 4 << 20

    let path: String
    private let note: @Sendable (Step) -> Void

    /// - Parameter note: called after each completed step.
    package init(path: String, note: @escaping @Sendable (Step) -> Void = { _ in }) {
        self.path = path
        self.note = note
    }

    /// Makes it 0700, creates missing parents, and locks it for this process.
    func claim() throws(StoreError) -> FolderClaim {
        try StoreError.wrapping { try PrivateFolder.make(path) }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder \(path)") }
        let claim = FolderClaim(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw .failed(reason: "another authd has the folder \(path)") }
            throw failure("lock the folder \(path)")
        }
        // Only the owner may do that. A read-only disk keeps the mode.
        guard fchmod(descriptor, 0o700) == 0 || errno == EROFS else {
            throw failure("restrict access to the folder \(path)")
        }
        return claim
    }

    /// Removes leftovers of replacements that did not complete.
    func tidy() {
        for name in (try? allNames()) ?? [] where name.hasPrefix(".") { unsafe unlink(path + "/" + name) }
    }

    /// Without leftovers of replacements.
    func names() throws(StoreError) -> [String] {
        try allNames().filter { !$0.hasPrefix(".") }
    }

    /// `nil` if it is missing.
    func read(_ name: String) throws(StoreError) -> [UInt8]? {
        try StoreError.wrapping { try file(name).read(atMost: Self.maxBytes) }
    }

    /// After an error the former file is intact. If only the sync of the folder failed, the new file is in place.
    func replace(_ name: String, with bytes: [UInt8]) throws(StoreError) {
        try StoreError.wrapping { try file(name).replace(with: bytes) }
    }

    /// Removing a missing file is a success.
    func remove(_ name: String) throws(StoreError) {
        try StoreError.wrapping { try file(name).remove() }
    }

    private func file(_ name: String) -> AtomicFile { AtomicFile(path: path + "/" + name, note: note) }

    private func allNames() throws(StoreError) -> [String] {
        do throws(SystemFailure) {
            return try FolderEntries.names(in: path).sorted()
        } catch {
            if error.number == ENOENT { return [] }
            throw .failed(reason: error.description)
        }
    }

    /// With the errno of the last call.
    private func failure(_ what: String) -> StoreError {
        .failed(reason: "\(SystemFailure(what))")
    }
}

/// Locks a folder for one process while this object lives (flock(2)); the kernel releases it with the process.
final class FolderClaim: Sendable {
    private let descriptor: CInt

    init(_ descriptor: CInt) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}
