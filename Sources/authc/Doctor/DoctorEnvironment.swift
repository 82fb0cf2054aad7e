import AuthClient
import AuthWire
import Glibc

/// What can be seen without the agent.
enum DoctorEnvironment {
    /// - Parameter source: what says where the socket is.
    static func socket(_ path: String, from source: String) -> Finding {
        let folder = SocketPath.neighbour("", of: path).dropLast()
        guard unsafe access(path, F_OK) == 0 else {
            return .problem(
                .socket, .noAgent, "there is none at \(path) (\(source))",
                hint: "start the agent: `systemctl --user enable --now authd.socket`, or `authd`")
        }
        guard SocketPath.isPrivateFolder(String(folder), getuid()) else {
            let remedy = mayClose(String(folder)) ? "`chmod 700 \(folder)`, or " : ""
            return .warning(
                .socket, "\(path) (\(source)): its folder is not yours alone",
                hint: "only you should be able to open it: \(remedy)leave AUTHD_SOCKET and --socket away")
        }
        return .ok(.socket, "\(path) (\(source))")
    }

    /// Whether the user can close it without taking it away from others: every folder of the system is root's, and /tmp is
    /// writable for all.
    private static func mayClose(_ folder: String) -> Bool {
        var info = stat()
        guard getuid() != 0, unsafe lstat(folder, &info) == 0 else { return false }
        return info.st_uid == getuid() && info.st_mode & (S_ISVTX | S_IWOTH) == 0
    }

    /// Whether the agent outlives the person's last login, where systemd starts it; `nil` elsewhere.
    static func lingering() -> Finding? {
        // sd_booted(3), and what `loginctl enable-linger` leaves.
        guard unsafe access("/run/systemd/system", F_OK) == 0, let user = environmentValue("USER")
        else { return nil }
        guard unsafe access("/var/lib/systemd/linger/" + user, F_OK) != 0 else {
            return .ok(.lingering, "the agent stays when you log out")
        }
        return .note(
            .lingering, "the agent ends with your last login",
            hint: "for cron jobs and timers: `loginctl enable-linger`")
    }
}
