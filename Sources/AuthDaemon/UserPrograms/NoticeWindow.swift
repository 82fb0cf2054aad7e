import AuthFiles
import Glibc

/// A terminal, or the browser, that the user has asked for with a click: `authc terminal` with a command of `authc`.
///
/// It is not a part of authd: it stays when authd ends.
package struct NoticeWindow: Sendable {
    /// The path of `authc`.
    let program: String
    /// The socket of this agent.
    let socket: String
    /// The arguments of `authc`.
    let arguments: [String]
    let usesBrowser: Bool
    /// The value of XDG_ACTIVATION_TOKEN.
    let activation: String?

    var process: DesktopProcess {
        let options = ["--socket", socket] + (usesBrowser ? ["--browser"] : [])
        return DesktopProcess(
            command: [program, "terminal"] + options + ["--"] + arguments,
            description: "Opened from a notification of authd",
            values: activation.map { [("XDG_ACTIVATION_TOKEN", $0)] } ?? [])
    }
}

/// Where the agent's other program is, for ``NoticeWindow``.
package struct WindowProgram: Sendable {
    /// The path of `authc` beside this program; `nil`: there is none.
    let authc: String?
    let socket: String

    /// - Parameter program: the file that this process was started from.
    package init(beside program: String?, socket: String) {
        let path = program.map { PrivateFolder.parent(of: $0) + "/authc" }
        authc = path.flatMap { unsafe access($0, X_OK) == 0 ? $0 : nil }
        self.socket = socket
    }
}
