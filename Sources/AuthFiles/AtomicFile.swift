internal import Glibc

/// A file, private to its owner, that is replaced atomically: a reader sees its old or its new content (rename(2)).
///
/// A durable replacement writes a draft beside the file, syncs it, renames it into place, and syncs the folder (fsync(2)).
/// After a loss of power the file has its old or its new content.
package struct AtomicFile: Sendable {
    /// The steps of a replacement, in order; tests lose power between them.
    package enum Step: Sendable, Equatable {
        case wrote(String, [UInt8])
        case syncedFile(String)
        case renamed(String, to: String)
        case removed(String)
        case syncedFolder
    }

    /// What another version of a file had.
    package struct Attributes: Sendable, Equatable {
        package var mode: UInt32
        /// `nil` for what a new file gets.
        package var user: UInt32?
        package var group: UInt32?

        package init(mode: UInt32, user: UInt32? = nil, group: UInt32? = nil) {
            (self.mode, self.user, self.group) = (mode, user, group)
        }
    }

    package let path: String
    private let note: @Sendable (Step) -> Void

    /// - Parameter note: called after each step.
    package init(path: String, note: @escaping @Sendable (Step) -> Void = { _ in }) {
        self.path = path
        self.note = note
    }

    package var folder: String { PrivateFolder.parent(of: path) }
    private var name: String { String(PrivateFolder.name(of: path)) }

    /// After an error the former file is intact. If only the sync of the folder failed, the new file is in place.
    /// - Parameter attributes: `nil` for a private file.
    package func replace(
        with bytes: [UInt8], attributes: Attributes? = nil, durably: Bool = true
    ) throws(SystemFailure) {
        let draft = ".\(name).new"
        let draftPath = "\(folder)/\(draft)"
        do throws(SystemFailure) {
            try write(bytes, to: draftPath, as: draft, attributes: attributes, durably: durably)
            guard unsafe rename(draftPath, path) == 0 else { throw SystemFailure("replace \(path)") }
        } catch {
            unsafe unlink(draftPath)
            throw error
        }
        note(.renamed(draft, to: name))
        if durably { try syncFolder() }
    }

    /// Writes a file that others may read, as far as the umask allows it. Readers never see a part of it.
    /// - Parameter replacing: `false`: if the name exists, the failure is `EEXIST`, and nothing changes.
    package func publish(_ bytes: [UInt8], replacing: Bool) throws(SystemFailure) {
        // Other users may write to the folder, another process may write this file, and one that was killed may have left a
        // draft: the name must be new.
        let number = String(UInt64.random(in: .min ... .max), radix: 36)
        let draft = ".\(String(decoding: name.utf8.prefix(200), as: UTF8.self)).\(number).new"
        let draftPath = "\(folder)/\(draft)"
        let descriptor = unsafe open(draftPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw SystemFailure("create \(draftPath)") }
        defer {
            close(descriptor)
            unsafe unlink(draftPath)
        }
        try fill(descriptor, with: bytes, of: draft, attributes: nil, durably: true)
        // A link fails if the name exists. A rename replaces it.
        guard unsafe (replacing ? rename(draftPath, path) : link(draftPath, path)) == 0 else {
            throw SystemFailure("write \(path)")
        }
        note(.renamed(draft, to: name))
        try syncFolder()
    }

    /// `nil` if it is missing. A longer file is cut off at the limit. Anything but a regular file is refused without being
    /// opened: opening a FIFO waits for a writer, and opening a device may have an effect.
    /// - Parameter isOwn: the file must belong to this user, and others must not be able to write to it.
    package func read(atMost limit: Int, isOwn: Bool = false) throws(SystemFailure) -> [UInt8]? {
        // Before it is opened, and again afterwards: the name may lead to another file by then.
        if let found = FileStatus(at: path, followsLink: false) { try check(found, isOwn: isOwn) }
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw SystemFailure("read \(path)")
        }
        defer { close(descriptor) }
        guard let found = FileStatus(of: descriptor) else { throw SystemFailure("read \(path)") }
        try check(found, isOwn: isOwn)
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: min(limit, 1 << 14))
        while bytes.count < limit {
            let count = unsafe Glibc.read(descriptor, &chunk, min(chunk.count, limit - bytes.count))
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw SystemFailure("read \(path)") }
            guard count > 0 else { break }
            bytes += chunk[..<count]
        }
        return bytes
    }

    private func check(_ found: FileStatus, isOwn: Bool) throws(SystemFailure) {
        let what = "read \(path)"
        if found.kind == .link { throw SystemFailure(what, number: ELOOP) }
        guard found.kind == .file else { throw SystemFailure(what, because: "it is not a regular file") }
        guard isOwn else { return }
        guard found.owner == geteuid() else { throw SystemFailure(what, because: "it belongs to another user") }
        guard found.permissions & 0o022 == 0 else { throw SystemFailure(what, because: "other users can write to it") }
    }

    /// Removing a missing file is a success.
    package func remove(durably: Bool = true) throws(SystemFailure) {
        guard unsafe unlink(path) == 0 else {
            if errno == ENOENT { return }
            throw SystemFailure("remove \(path)")
        }
        note(.removed(name))
        if durably { try syncFolder() }
    }

    private func write(
        _ bytes: [UInt8], to draftPath: String, as draft: String, attributes: Attributes?, durably: Bool
    ) throws(SystemFailure) {
        let descriptor = unsafe open(draftPath, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw SystemFailure("create \(draftPath)") }
        defer { close(descriptor) }
        try fill(descriptor, with: bytes, of: draft, attributes: attributes, durably: durably)
    }

    private func fill(
        _ descriptor: CInt, with bytes: [UInt8], of draft: String, attributes: Attributes?, durably: Bool
    ) throws(SystemFailure) {
        let draftPath = "\(folder)/\(draft)"
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw SystemFailure("write \(draftPath)") }
            rest = rest.dropFirst(count)
        }
        if let attributes {
            // The owner first: a change of it takes away special modes (chown(2)).
            guard
                attributes.user == nil && attributes.group == nil
                    || fchown(descriptor, attributes.user ?? .max, attributes.group ?? .max) == 0
            else {
                throw SystemFailure("keep the owner of \(path) for \(draftPath)")
            }
            guard fchmod(descriptor, attributes.mode) == 0 else {
                throw SystemFailure("change the mode of \(draftPath)")
            }
        }
        note(.wrote(draft, bytes))
        guard durably else { return }
        guard fsync(descriptor) == 0 else { throw SystemFailure("write \(draftPath) to the disk") }
        note(.syncedFile(draft))
    }

    private func syncFolder() throws(SystemFailure) {
        try PrivateFolder.sync(folder)
        note(.syncedFolder)
    }
}
