import AuthWire
import CLinux
import Glibc

/// The missing permission that keeps this process from connecting to a socket: to enter a folder on its path, or to write
/// to the socket itself (path_resolution(7), unix(7)). A security module or an ACL may refuse what the mode allows.
struct SocketObstacle {
    private let path: String
    private let isFolder: Bool
    private let owner: uid_t
    private let group: gid_t
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
        (owner, group, mode) = (info.st_uid, info.st_gid, info.st_mode & 0o7777)
    }

    private static func isRefused(_ path: String, _ permission: Int32) -> Bool {
        unsafe access(path, permission) != 0 && errno == EACCES
    }

    private var isOwn: Bool { owner == getuid() }

    /// Whether the mode gives this user the permission (path_resolution(7)).
    private var isAllowed: Bool {
        let place = isOwn ? 6 : isInGroup ? 3 : 0
        return mode >> place & (isFolder ? 1 : 2) != 0
    }

    private var isInGroup: Bool {
        guard group != getegid() else { return true }
        var groups = [gid_t](repeating: 0, count: max(0, Int(getgroups(0, nil))))
        return unsafe getgroups(Int32(groups.count), &groups) >= 0 && groups.contains(group)
    }

    static let otherRefusal =
        "a security module (AppArmor, SELinux) or an ACL refuses it; `journalctl -k` may show which"

    /// The owner, and the permission that is missing.
    var reason: String {
        let digits = String(mode, radix: 8)
        let bits = String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        let name = isOwn ? "you" : owner == 0 ? "root" : "user \(owner)"
        let use = isFolder ? "enter it" : "write to it"
        return isAllowed
            ? "\(path) belongs to \(name), and its mode \(bits) lets you \(use), but \(Self.otherRefusal)"
            : "\(path) belongs to \(name), and its mode \(bits) does not let you \(use)"
    }

    /// The reason, and what to do.
    var hint: String {
        guard isOwn else {
            return reason + "; to use your own agent, leave out --socket and `unset AUTHD_SOCKET XDG_RUNTIME_DIR`"
        }
        guard !isAllowed else { return reason }
        return reason + ": `chmod u+\(isFolder ? "x" : "w") \(ShellWord.quoted(path))`"
    }
}
