import AuthModel
import AuthWire
import Glibc

/// A folder whose files are replaced atomically: after a loss of power a file has its old or its new content.
///
/// A replacement writes a file beside it, syncs it, renames it into place, and syncs the folder (fsync(2), rename(2)).
package struct DurableFolder: Sendable {
    /// The steps of a replacement, in order; tests lose power between them.
    package enum Step: Sendable, Equatable {
        case wrote(String, [UInt8])
        case syncedFile(String)
        case renamed(String, to: String)
        case removed(String)
        case syncedFolder
    }

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
        var made = ""
        for part in path.split(separator: "/") {
            made += "/" + part
            guard unsafe mkdir(made, 0o700) == 0 || errno == EEXIST else { throw failure("create the folder \(made)") }
        }
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
        let descriptor = unsafe open(path + "/" + name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read \(path)/\(name)")
        }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 14)
        while bytes.count < Self.maxBytes {
            let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw failure("read \(path)/\(name)") }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    /// After an error the former file is intact.
    func replace(_ name: String, with bytes: [UInt8]) throws(StoreError) {
        let fresh = ".\(name).new"
        do throws(StoreError) {
            try write(bytes, to: fresh)
            guard unsafe rename(path + "/" + fresh, path + "/" + name) == 0 else {
                throw failure("replace \(path)/\(name)")
            }
        } catch {
            unsafe unlink(path + "/" + fresh)
            throw error
        }
        note(.renamed(fresh, to: name))
        try sync()
    }

    /// Removing a missing file is a success.
    func remove(_ name: String) throws(StoreError) {
        guard unsafe unlink(path + "/" + name) == 0 else {
            if errno == ENOENT { return }
            throw failure("remove \(path)/\(name)")
        }
        note(.removed(name))
        try sync()
    }

    private func allNames() throws(StoreError) -> [String] {
        guard let folder = unsafe opendir(path) else {
            if errno == ENOENT { return [] }
            throw failure("read the folder \(path)")
        }
        defer { unsafe closedir(folder) }
        var names: [String] = []
        while let entry = unsafe readdir(folder) {
            let name = unsafe withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func write(_ bytes: [UInt8], to name: String) throws(StoreError) {
        let file = path + "/" + name
        let descriptor = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("make \(file)") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw failure("write \(file)") }
            rest = rest.dropFirst(count)
        }
        note(.wrote(name, bytes))
        guard fsync(descriptor) == 0 else { throw failure("write \(file) to the disk") }
        note(.syncedFile(name))
    }

    private func sync() throws(StoreError) {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the folder \(path)") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("write the folder \(path) to the disk") }
        note(.syncedFolder)
    }

    /// With the errno of the last call.
    private func failure(_ what: String) -> StoreError {
        let number = errno
        let isFull = number == ENOSPC || number == EDQUOT
        return .failed(reason: "cannot \(what): \(isFull ? "the disk is full: " : "")\(SystemError.text(number))")
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
