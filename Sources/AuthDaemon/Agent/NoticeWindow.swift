import AuthFiles
import AuthProcesses
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

    /// Returns when it has ended, with its exit status; 128 + n for signal n.
    func run(runtimeFolder: String?) throws(SystemFailure) -> Int32 {
        let stdin = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard stdin >= 0 else { throw SystemFailure("open /dev/null") }
        defer { close(stdin) }
        let isUnit = TransientUnit.isPossible(runtimeFolder: runtimeFolder)
        let child = try UserProcess.spawn(
            isUnit ? unit : command, stdin: stdin, separately: .session, passing: UserProcess.desktopVariables,
            with: activation.map { [(Self.activationVariable, $0)] } ?? [])
        return ProcessEnd(of: child).shellStatus
    }

    var command: [String] {
        [program, "terminal", "--socket", socket] + (usesBrowser ? ["--browser"] : []) + ["--"] + arguments
    }

    /// The variables of the unit are the manager's, such as DISPLAY. `KillMode=process` keeps a browser that was
    /// started from it. Its output is not for the journal.
    var unit: [String] {
        let token = activation.map { ["--setenv=\(Self.activationVariable)=\($0)"] } ?? []
        return TransientUnit.command(
            command,
            options: [
                "--wait", "--slice=app.slice", "--property=KillMode=process", "--property=StandardOutput=null",
                "--property=StandardError=null", "--description=Opened from a notification of authd",
            ] + token)
    }

    private static let activationVariable = "XDG_ACTIVATION_TOKEN"
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
