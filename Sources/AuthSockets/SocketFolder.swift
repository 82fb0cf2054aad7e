package import AuthFiles
import AuthWire
import CLinux
import Glibc

/// The folder of the socket: ours, 0700, not a symbolic link. It is created if missing; the mode of an existing one never
/// changes.
package enum SocketFolder {
    package enum Refusal: Error, Sendable, Equatable, CustomStringConvertible {
        case notAFolder(path: String)
        case foreign(path: String, owner: UInt32)
        case open(path: String, mode: UInt32)
        case failed(SystemFailure)

        /// Others may need its mode: system folders belong to root, and /tmp is writable for all.
        package static func isShared(mode: UInt32, userID: UInt32) -> Bool {
            userID == 0 || mode & (UInt32(Glibc.S_ISVTX) | 0o002) != 0
        }

        package var description: String {
            switch self {
            case .notAFolder(let path):
                "\(path) is not a folder (a symbolic link is not followed): remove it, or choose another with --socket"
            case .foreign(let path, let owner):
                "\(path) belongs to user \(owner), not to user \(geteuid()): choose another with --socket"
            case .open(let path, let mode):
                "\(path) is accessible to others (mode 0\(String(mode, radix: 8))): "
                    + (Self.isShared(mode: mode, userID: geteuid())
                        ? "choose your own folder with --socket" : "run `chmod 700 \(ShellWord.quoted(path))`")
            case .failed(let failure): "\(failure)"
            }
        }
    }

    /// Whether both paths are the same folder; links are followed.
    package static func areSame(_ one: String, _ other: String) -> Bool {
        var (first, second) = (stat(), stat())
        guard unsafe stat(one, &first) == 0, unsafe stat(other, &second) == 0 else { return false }
        return first.st_dev == second.st_dev && first.st_ino == second.st_ino
    }

    /// Creates the folder with mode 0700, or checks the existing one.
    package static func prepare(_ path: String) throws(Refusal) {
        if unsafe mkdir(path, 0o700) != 0, errno != EEXIST {
            throw .failed(SystemFailure("create the folder \(path)"))
        }
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            if errno == ENOTDIR || errno == ELOOP { throw .notAFolder(path: path) }
            throw .failed(SystemFailure("open the folder \(path)"))
        }
        defer { close(descriptor) }
        var found = stat()
        guard unsafe fstat(descriptor, &found) == 0 else {
            throw .failed(SystemFailure("read the status of the folder \(path)"))
        }
        guard found.st_uid == geteuid() else { throw .foreign(path: path, owner: found.st_uid) }
        let mode = found.st_mode & 0o7777
        guard mode & 0o077 == 0 else { throw .open(path: path, mode: mode) }
    }
}
