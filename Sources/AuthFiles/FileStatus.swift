internal import Glibc

/// What the system knows about a file (stat(2)).
///
/// Several C modules declare `stat`: Glibc, CLinux and those of swift-nio. Which of them Swift finds depends on the files that are
/// compiled together. This target has only Glibc, and files that do not import CLinux use this value.
package struct FileStatus: Sendable, Equatable {
    package enum Kind: Sendable {
        case file, folder, link, socket, other
    }

    package let kind: Kind
    /// The mode, without the bits of the file type.
    package let permissions: UInt32
    package let owner: UInt32
    package let group: UInt32
    /// Bytes.
    package let size: Int
    package let device: UInt64
    package let inode: UInt64

    /// `nil` after a failure: `errno` has the reason.
    package init?(of descriptor: CInt) {
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else { return nil }
        self.init(found)
    }

    /// `nil` after a failure: `errno` has the reason.
    /// - Parameter followsLink: `false`: the status of a link is that of the link itself.
    package init?(at path: String, followsLink: Bool = true) {
        var found = stat()
        guard unsafe (followsLink ? stat(path, &found) : lstat(path, &found)) == 0 else { return nil }
        self.init(found)
    }

    private init(_ found: stat) {
        kind =
            switch found.st_mode & S_IFMT {
            case S_IFREG: .file
            case S_IFDIR: .folder
            case S_IFLNK: .link
            case S_IFSOCK: .socket
            default: .other
            }
        permissions = found.st_mode & ~S_IFMT
        (owner, group) = (found.st_uid, found.st_gid)
        size = Int(found.st_size)
        (device, inode) = (UInt64(found.st_dev), UInt64(found.st_ino))
    }

    /// Why a file must not be used for a secret of its user.
    package enum PrivacyProblem: Sendable, Equatable {
        case notAFile
        case otherOwner(UInt32)
        case accessibleToOthers
    }

    /// `nil` for a regular file that belongs to the user, and whose mode gives others no access. A link that was not
    /// followed is not a regular file.
    package func privacyProblem(for user: UInt32) -> PrivacyProblem? {
        if kind != .file { return .notAFile }
        if owner != user { return .otherOwner(owner) }
        return permissions & 0o077 == 0 ? nil : .accessibleToOthers
    }

    /// Whether both are the same file.
    package func isSame(as other: FileStatus) -> Bool { device == other.device && inode == other.inode }
}
