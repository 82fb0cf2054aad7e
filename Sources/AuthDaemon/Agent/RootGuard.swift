import CLinux
import CSystemd
import Glibc

/// As root in the session of another user (`sudo authd`), authd would replace that user's socket and lock them out.
package enum RootGuard {
    /// - Parameters:
    ///   - userID: ours.
    ///   - owner: of a path; `nil` if there is none.
    package static func check(
        userID: UInt32, environment: (String) -> String?, owner: (String) -> UInt32? = ownerOf
    ) throws(StartRefusal) {
        guard userID == 0 else { return }
        for variable in ["XDG_RUNTIME_DIR", "HOME"] {
            guard let folder = environment(variable), let owner = owner(folder), owner != 0 else { continue }
            throw StartRefusal(
                .refused,
                "running as root, but \(variable) (\(folder)) belongs to user \(owner): "
                    + "start authd as that user, without sudo")
        }
    }

    package static func ownerOf(_ path: String) -> UInt32? {
        var found = stat()
        return unsafe stat(path, &found) == 0 ? found.st_uid : nil
    }
}
