import AuthWire
import Glibc

/// The missing permission that keeps this process from connecting to a socket: to enter a folder on its path, or to write
/// to the socket itself (path_resolution(7), unix(7)).
struct SocketObstacle {
    private let path: String
    private let isFolder: Bool
    private let owner: uid_t
    private let mode: mode_t

    /// - Parameter socket: an absolute path.
    /// - Returns: `nil` if permissions do not prevent a connection, or if nothing is there.
    init?(on socket: String) {
        var place = ""
        for part in socket.split(separator: "/") {
            let folder = place.isEmpty ? "/" : place
            if Self.isRefused(folder, X_OK) {
                self.init(folder, isFolder: true)
                return
            }
            place += "/" + part
        }
        guard Self.isRefused(place, W_OK) else { return nil }
        self.init(place, isFolder: false)
    }

    private init?(_ path: String, isFolder: Bool) {
        var info = stat()
        guard unsafe stat(path, &info) == 0 else { return nil }
        (self.path, self.isFolder) = (path, isFolder)
        (owner, mode) = (info.st_uid, info.st_mode & 0o7777)
    }

    private static func isRefused(_ path: String, _ permission: Int32) -> Bool {
        unsafe access(path, permission) != 0 && errno == EACCES
    }

    private var isOwn: Bool { owner == getuid() }

    /// The owner, and the permission that is missing.
    var reason: String {
        let digits = String(mode, radix: 8)
        let bits = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let name = isOwn ? "you" : owner == 0 ? "root" : "user \(owner)"
        let use = isFolder ? "enter it" : "write to it"
        return "\(path) belongs to \(name), and its mode \(bits) does not let you \(use)"
    }

    /// The reason, and what to do.
    var hint: String {
        guard isOwn else {
            return reason + "; to use your own agent, leave out --socket and `unset AUTHD_SOCKET XDG_RUNTIME_DIR`"
        }
        return reason + ": `chmod u+\(isFolder ? "x" : "w") \(ShellWord.quoted(path))`"
    }
}
