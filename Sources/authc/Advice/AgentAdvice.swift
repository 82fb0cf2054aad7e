import AuthClient
import AuthWire
import Glibc

/// What to do if no agent can be reached.
enum AgentAdvice {
    /// - Parameter path: the socket's path.
    static func unreachable(_ path: String) -> String {
        SocketObstacle(on: path)?.hint ?? "start it: " + starting(with: "systemctl --user start authd.socket")
    }

    /// How to start the agent on this machine.
    /// - Parameter command: the command that starts its unit.
    static func starting(with command: String) -> String {
        hasUserManager
            ? "`\(command)`, or `authd`"
            : "`authd` in another terminal, because there is no systemd user manager to start it"
    }

    /// Whether systemctl(1) can reach this user's manager.
    static var hasUserManager: Bool {
        let folder = environmentValue("XDG_RUNTIME_DIR").flatMap { $0.hasPrefix("/") ? $0 : nil }
        return unsafe access((folder ?? "/run/user/\(getuid())") + "/systemd/private", F_OK) == 0
    }
}
