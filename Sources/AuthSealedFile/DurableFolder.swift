package import AuthFiles
import AuthModel
import Glibc
import Synchronization

/// A folder whose files are replaced atomically: after a loss of power a file has its old or its new content
/// (``AtomicFile``).
package struct DurableFolder: Sendable {
    package typealias Step = AtomicFile.Step

    /// Far above any record; a larger file is not ours.
    private static let maxBytes = 4 << 20

    let path: String
    private let note: @Sendable (Step) -> Void

    private let isOnNetwork: Bool?

    /// - Parameters:
    ///   - isOnNetwork: whether other machines may have it; `nil`: as its file system says.
    ///   - note: called after each completed step.
    package init(path: String, isOnNetwork: Bool? = nil, note: @escaping @Sendable (Step) -> Void = { _ in }) {
        self.path = path
        self.isOnNetwork = isOnNetwork
        self.note = note
    }

    /// Makes it 0700, creates missing parents, and locks it for this process.
    func claim() throws(StoreError) -> FolderClaim {
        try StoreError.wrapping { try PrivateFolder.make(path) }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder \(path)") }
        let claim = FolderClaim(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw isHeld }
            throw failure("lock the folder \(path)")
        }
        // Only the owner may do that. A read-only disk keeps the mode.
        guard fchmod(descriptor, 0o700) == 0 || errno == EROFS else {
            throw failure("restrict access to the folder \(path)")
        }
        if isOnNetwork ?? FileLock.isOnNetwork(descriptor) { try lockFile(for: claim) }
        return claim
    }

    private var isHeld: StoreError { .failed(reason: "another authd has the folder \(path)") }

    /// Locks a file in it, too: the lock of a folder on NFS counts only on this machine (flock(2)), that of a file counts on
    /// all. It has to be open for writing, so that a local disk could not be made read-only. A server without locks, and one
    /// that is full or read-only, do without.
    private func lockFile(for claim: FolderClaim) throws(StoreError) {
        let file = path + "/" + Self.lock
        let descriptor = unsafe open(file, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            if [EROFS, ENOSPC, EDQUOT].contains(errno) { return }
            throw failure("open \(file)")
        }
        claim.add(descriptor)
        switch FileLock.lock(descriptor) {
        case nil, ENOLCK?, ENOTSUP?: break
        case EAGAIN?, EACCES?: throw isHeld
        case let number?: throw .failed(reason: "\(SystemFailure("lock \(file)", number: number))")
        }
    }

    private static let lock = ".lock"

    /// Removes leftovers of replacements that did not complete.
    func tidy() {
        for name in (try? allNames()) ?? [] where name.hasPrefix(".") && name != Self.lock {
            unsafe unlink(path + "/" + name)
        }
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

/// Locks a folder for one process while this object lives; the kernel releases it with the process.
final class FolderClaim: Sendable {
    private let descriptors: Mutex<[CInt]>

    init(_ descriptor: CInt) {
        descriptors = Mutex([descriptor])
    }

    /// Closed with the others.
    func add(_ descriptor: CInt) { descriptors.withLock { $0.append(descriptor) } }

    deinit {
        descriptors.withLock { for descriptor in $0 { close(descriptor) } }
    }
}
