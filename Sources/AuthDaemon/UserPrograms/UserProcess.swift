import AuthFiles
import AuthProcesses
import Glibc

/// Starts programs of the user's session.
enum UserProcess {
    /// What a program of a user's session needs. authd's other variables are for authd only.
    private static let variables = [
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "LC_MESSAGES", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
        "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    /// What decides which terminal or browser a program opens.
    static let desktopVariables = [
        "TERMINAL", "BROWSER", "XDG_CURRENT_DESKTOP", "XDG_SESSION_DESKTOP", "XDG_SESSION_TYPE", "DESKTOP_SESSION",
        "KDE_FULL_SESSION", "KDE_SESSION_VERSION", "XDG_CONFIG_DIRS", "XDG_DATA_DIRS",
    ]

    /// Starts a program. Its output is discarded, and it has no descriptors other than the standard ones.
    ///
    /// - Parameters:
    ///   - more: names of variables that are passed on besides the usual ones.
    ///   - values: further variables.
    static func spawn(
        _ command: [String], stdin: CInt, separately separation: ProgramStart.Separation, passing more: [String] = [],
        with values: [(name: String, value: String)] = []
    ) throws(SystemFailure) -> pid_t {
        var program = try ProgramStart(command)
        program.pass(stdin, as: STDIN_FILENO)
        program.passNothing(as: STDOUT_FILENO, STDERR_FILENO)
        program.close(from: STDERR_FILENO + 1)
        program.separate(separation)
        // The thread that starts it blocks all signals; authd ignores some.
        program.blockNoSignal()
        program.ignoreNoSignal()
        let passed = (variables + more).compactMap { name in Environment.value(name).map { "\(name)=\($0)" } }
        program.environment = passed + values.map { "\($0.name)=\($0.value)" }
        return try program.start()
    }
}

/// A command that the user's manager runs as a separate unit. systemd-run calls the manager on the user's bus.
enum TransientUnit {
    static let systemdRun = "/usr/bin/systemd-run"

    /// - Parameter runtimeFolder: `$XDG_RUNTIME_DIR`.
    static func isPossible(runtimeFolder: String?) -> Bool {
        guard let runtimeFolder else { return false }
        let needed = [(runtimeFolder + "/systemd/private", F_OK), (runtimeFolder + "/bus", F_OK), (systemdRun, X_OK)]
        return needed.allSatisfy { unsafe access($0, $1) == 0 }
    }

    static func command(_ command: [String], options: [String]) -> [String] {
        // The manager expands variables in the arguments, not in the path (systemd.service(5), "Command lines").
        [systemdRun, "--user", "--collect", "--quiet", "--service-type=exec"] + options + ["--"] + command.prefix(1)
            + command.dropFirst().map(literal)
    }

    private static func literal(_ argument: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in argument.unicodeScalars { text += scalar == "$" ? [scalar, scalar] : [scalar] }
        return String(text)
    }
}
