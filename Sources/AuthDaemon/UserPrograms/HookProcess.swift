import AuthFiles
import AuthMachines
package import AuthModel
import AuthProcesses
import CSystemd
import Glibc
import Synchronization

/// One run of a command, such as a hook's, in a separate process group.
///
/// Invariant: signals are sent only until it has been waited for, so that they cannot reach another process.
final class HookProcess: Sendable {
    private struct State {
        var pid: pid_t?
        var isStopped = false
    }

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
        let child = try UserProcess.spawn(command, stdin: stdin, separately: .group)
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
            return switch ProcessEnd(of: pid) {
            case .exit(let status): .exited(status)
            case .signal(let number): .killed(signal: number)
            }
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
    /// With a user manager, the command is a separate unit: as a child of authd it would have authd's confinement, its
    /// limits and its place in `systemctl status`.
    ///
    /// - Parameter runtimeFolder: `$XDG_RUNTIME_DIR`.
    package static func command(for hook: Hook, runtimeFolder: String?) -> [String] {
        TransientUnit.isPossible(runtimeFolder: runtimeFolder) ? unit(for: hook) : hook.command
    }

    package static func unit(for hook: Hook) -> [String] {
        // The manager kills what is left when authd no longer waits (systemd.service(5)).
        let limit = "--property=RuntimeMaxSec=\(HookMachine.maxTime.components.seconds)s"
        return TransientUnit.command(
            hook.command,
            options: [
                "--pipe", limit, "--property=KillSignal=SIGKILL",
                "--description=Hook of authd for \(hook.event.rawValue)",
            ])
    }
}
