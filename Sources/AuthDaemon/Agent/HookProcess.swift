import AuthFiles
import AuthMachines
package import AuthModel
import CSystemd
import Glibc
import Synchronization

/// One run of a command, such as a hook's, in a process group of its own.
///
/// Invariant: signals are sent only until it has been waited for, so that they cannot reach another process.
final class HookProcess: Sendable {
    private struct State {
        var pid: pid_t?
        var isStopped = false
    }

    /// What a program of a user's session needs. authd's other variables are for authd only.
    private static let variables = [
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LC_ALL", "LC_MESSAGES", "TZ", "TMPDIR", "XDG_RUNTIME_DIR",
        "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY",
        "WAYLAND_DISPLAY", "XAUTHORITY",
    ]

    private let command: [String]
    private let input: [UInt8]
    private let state = Mutex(State())

    init(command: [String], input: [UInt8]) {
        self.command = command
        self.input = input
    }

    /// Returns after its end.
    func run() -> HookOutcome {
        do throws(SystemFailure) {
            return try wait(for: start())
        } catch {
            return .notStarted(error.description)
        }
    }

    /// Kills the process and its group, now or as soon as it starts.
    func stop() {
        state.withLock { state in
            state.isStopped = true
            if let pid = state.pid { kill(-pid, SIGKILL) }
        }
    }

    private func start() throws(SystemFailure) -> pid_t {
        let stdin = try memory()
        defer { close(stdin) }
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
        let flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP
        unsafe posix_spawnattr_setflags(&attributes, Int16(flags))
        let environment = Self.variables.compactMap { name in Environment.value(name).map { "\(name)=\($0)" } }
        var words = unsafe command.map { unsafe strdup($0) } + [nil]
        var variables = unsafe environment.map { unsafe strdup($0) } + [nil]
        defer {
            for index in command.indices { unsafe free(words[index]) }
            for index in environment.indices { unsafe free(variables[index]) }
        }
        var pid: pid_t = 0
        let code = unsafe posix_spawn(&pid, command[0], &actions, &attributes, &words, &variables)
        guard code == 0 else { throw SystemFailure("start \(command[0])", number: code) }
        let child = pid
        state.withLock { state in
            state.pid = child
            if state.isStopped { kill(-child, SIGKILL) }
        }
        return child
    }

    private func wait(for pid: pid_t) -> HookOutcome {
        var info = unsafe siginfo_t()
        while unsafe waitid(P_PID, id_t(pid), &info, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        return state.withLock { state in
            // What it left behind in its group.
            kill(-pid, SIGKILL)
            state.pid = nil
            var status: CInt = 0
            while unsafe waitpid(pid, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: signal)
        }
    }

    /// A file without a name: the command may read it or not, and nothing here waits for that.
    private func memory() throws(SystemFailure) -> CInt {
        let descriptor = unsafe authd_memfd("hook")
        guard descriptor >= 0 else { throw SystemFailure("create memory for a hook") }
        let count = unsafe input.withUnsafeBytes { unsafe write(descriptor, $0.baseAddress, $0.count) }
        guard count == input.count, lseek(descriptor, 0, SEEK_SET) == 0 else {
            let failure = SystemFailure("write memory for a hook")
            close(descriptor)
            throw failure
        }
        return descriptor
    }
}

/// How a hook's command is started.
package enum HookLauncher {
    static let systemdRun = "/usr/bin/systemd-run"

    /// With a user manager, the command is a separate unit: as a child of authd it would have authd's confinement, its
    /// limits and its place in `systemctl status`. systemd-run calls the manager on the user's bus.
    ///
    /// - Parameter runtimeFolder: `$XDG_RUNTIME_DIR`.
    package static func command(for hook: Hook, runtimeFolder: String?) -> [String] {
        guard let runtimeFolder, unsafe access(runtimeFolder + "/systemd/private", F_OK) == 0,
            unsafe access(runtimeFolder + "/bus", F_OK) == 0, unsafe access(systemdRun, X_OK) == 0
        else { return hook.command }
        return unit(for: hook)
    }

    package static func unit(for hook: Hook) -> [String] {
        // The manager kills what is left when authd no longer waits (systemd.service(5)).
        let limit = "--property=RuntimeMaxSec=\(HookMachine.maxTime.components.seconds)s"
        let options = [
            "--user", "--collect", "--quiet", "--pipe", "--service-type=exec", limit, "--property=KillSignal=SIGKILL",
            "--description=Hook of authd for \(hook.event.rawValue)", "--",
        ]
        // The manager expands variables in the arguments, not in the path (systemd.service(5), "Command lines").
        return [systemdRun] + options + hook.command.prefix(1) + hook.command.dropFirst().map(literal)
    }

    private static func literal(_ argument: String) -> String {
        var text = String.UnicodeScalarView()
        for scalar in argument.unicodeScalars { text += scalar == "$" ? [scalar, scalar] : [scalar] }
        return String(text)
    }
}
