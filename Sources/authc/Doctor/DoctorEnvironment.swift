import AuthConnection
import AuthWire
import CLinux
import Glibc

/// Checks that do not need the agent.
enum DoctorEnvironment {
    /// - Parameter source: the option or variable that the path comes from.
    static func socket(_ path: String, from source: String, isDefault: Bool) -> Finding {
        checkedSocket(path, from: source, isDefault: isDefault).reported(.words(isDefault ? "default" : "other"))
    }

    /// How to select another socket, if the path of this one is wrong.
    static func otherSocket(_ source: String) -> String {
        switch source {
        case "--socket": "without it, the default socket is used: `authc doctor`"
        case "$AUTHD_SOCKET": "`unset AUTHD_SOCKET` selects the default socket"
        default: runtimeFolder
        }
    }

    /// A machine without a login manager does not have the usual folder.
    private static var runtimeFolder: String {
        let login = RuntimeFolder(ofLogin: getuid()).path
        guard SocketPath.isPrivateFolder(login, getuid()) else {
            return "choose a folder for authd and all programs that use authd: `mkdir -pm 700 \"$HOME/.authd-run\"` "
                + "and `export XDG_RUNTIME_DIR=\"$HOME/.authd-run\"`"
        }
        return "`export XDG_RUNTIME_DIR=\(login)` names the folder of the login session"
    }

    private static func checkedSocket(_ path: String, from source: String, isDefault: Bool) -> Finding {
        let folder = String(SocketPath.neighbour("", of: path).dropLast())
        if let obstacle = SocketObstacle(on: path) {
            return .problem(
                .socket, .noAgent, "\(path) (\(source)) is not accessible to you", hint: obstacle.hint)
        }
        guard unsafe access(path, F_OK) == 0 else {
            return .problem(
                .socket, .noAgent, "there is no socket at \(path) (\(source))",
                hint: "start the agent: " + AgentAdvice.starting(at: path, with: "enable --now"),
                // A unit listens where nobody has named another place.
                fix: isDefault && AgentAdvice.hasUserManager ? .startSocket : nil)
        }
        guard SocketPath.isPrivateFolder(folder, getuid()) else {
            let remedy = mayClose(folder) ? "`chmod 700 \(ShellWord.quoted(folder))`, or " : ""
            return .warning(
                .socket, "\(path) (\(source)): other users can open its folder",
                hint: "close it to others: \(remedy)leave out --socket and `unset AUTHD_SOCKET`",
                fix: remedy.isEmpty ? nil : .closeFolder(folder))
        }
        return .ok(.socket, "\(path) (\(source))")
    }

    /// Whether the user can close the folder without locking others out: system folders belong to root, and anybody can write
    /// to /tmp.
    private static func mayClose(_ folder: String) -> Bool {
        var info = stat()
        guard getuid() != 0, unsafe lstat(folder, &info) == 0 else { return false }
        return info.st_uid == getuid() && info.st_mode & (S_ISVTX | S_IWOTH) == 0
    }

    /// Whether the agent outlives the user's last login; `nil` without systemd.
    static func lingering() -> Finding? {
        // sd_booted(3), and the file that `loginctl enable-linger` creates.
        guard unsafe access("/run/systemd/system", F_OK) == 0, let user = environmentValue("USER")
        else { return nil }
        guard unsafe access("/var/lib/systemd/linger/" + user, F_OK) != 0 else {
            return .ok(.lingering, "the agent keeps running after you log out")
        }
        return .note(
            .lingering, "the agent ends with your last login",
            hint: "for cron jobs and timers: `\(DoctorFix.linger.command)`", fix: .linger)
    }
}
