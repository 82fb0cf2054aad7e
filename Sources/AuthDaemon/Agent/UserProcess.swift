import AuthFiles
import CSystemd
import Glibc

/// Starts programs of the user's session.
enum UserProcess {
    enum Separation {
        /// In a separate process group.
        case group
        /// In a separate session (setsid(2)): it is not ended with authd.
        case session
    }

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

    /// Starts a program. Its output is discarded, and it has no other descriptors than standard ones.
    ///
    /// - Parameters:
    ///   - more: names of variables that are passed on besides the usual ones.
    ///   - values: further variables.
    static func spawn(
        _ command: [String], stdin: CInt, separately separation: Separation, passing more: [String] = [],
        with values: [(name: String, value: String)] = []
    ) throws(SystemFailure) -> pid_t {
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, stdin, STDIN_FILENO)
        for output in [STDOUT_FILENO, STDERR_FILENO] {
            unsafe posix_spawn_file_actions_addopen(&actions, output, "/dev/null", O_WRONLY, 0)
        }
        unsafe posix_spawn_file_actions_addclosefrom_np(&actions, STDERR_FILENO + 1)
        var attributes = posix_spawnattr_t()
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // The thread that starts it blocks all signals; authd ignores some.
        var (none, all) = (sigset_t(), sigset_t())
        unsafe sigemptyset(&none)
        unsafe sigfillset(&all)
        unsafe posix_spawnattr_setsigmask(&attributes, &none)
        unsafe posix_spawnattr_setsigdefault(&attributes, &all)
        unsafe posix_spawnattr_setpgroup(&attributes, 0)
        let apart = separation == .group ? CInt(POSIX_SPAWN_SETPGROUP) : setSession
        let flags = CInt(POSIX_SPAWN_SETSIGMASK) | CInt(POSIX_SPAWN_SETSIGDEF) | apart
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let passed = (variables + more).compactMap { name in Environment.value(name).map { "\(name)=\($0)" } }
        let environment = passed + values.map { "\($0.name)=\($0.value)" }
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        var assignments = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in command.indices { unsafe free(words[index]) }
            for index in environment.indices { unsafe free(assignments[index]) }
        }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, command[0], &actions, &attributes, &words, &assignments)
        guard code == 0 else { throw SystemFailure("start \(command[0])", number: code) }
        return pid
    }

    /// POSIX_SPAWN_SETSID of spawn.h, which is defined with _GNU_SOURCE only.
    private static let setSession: CInt = 0x80
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
