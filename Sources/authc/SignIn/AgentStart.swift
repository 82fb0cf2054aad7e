import AuthConnection
import Glibc

/// Starts the agent's socket unit, if it is installed and nothing listens.
enum AgentStart {
    /// For both calls of systemctl, which waits for a user manager that hangs.
    private static let longest = Duration.seconds(5)

    /// Reports nothing if it cannot: the next call of the agent fails, and says what to do.
    static func ifNeeded(_ options: Options) {
        // The unit serves only the default path.
        guard options.hasDefaultSocket, let path = try? options.socketPath(), !listens(path),
            SocketObstacle(on: path) == nil
        else { return }
        guard let null = null() else { return }
        let deadline = Deadline.after(min(Self.longest, options.timeout ?? Self.longest))
        guard (try? DoctorFix.startSocket.perform(errors: null, until: deadline)) != nil else { return }
        let advice = "`systemctl --user enable authd.socket` does so at each login."
        Output.note("Started authd.socket." + (isEnabled(errors: null, until: deadline) ? "" : " " + advice))
    }

    private static func isEnabled(errors: Descriptor, until deadline: Deadline) -> Bool {
        let query = ChildProgram(
            command: ["systemctl", "--user", "is-enabled", "authd.socket"],
            variables: AgentAdvice.managerVariables, descriptors: [(STDERR_FILENO, errors)])
        return (try? query.run(isQuiet: true, until: deadline)) == 0
    }

    private static func listens(_ path: String) -> Bool {
        do {
            _ = try AgentConnection(path: path, deadline: .after(.seconds(1)))
            return true
        } catch {
            if case .noAgent = error { return false }
            return true
        }
    }

    private static func null() -> Descriptor? {
        let number = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        return number < 0 ? nil : Descriptor(number)
    }
}
