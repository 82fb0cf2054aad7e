import AuthConnection
import AuthWire
import Glibc

struct Options {
    /// `-s`. Commands use `chosenSession`.
    var session: String?
    var json = false
    var timeout: Duration?
    var socket: String?
    var noInput = false

    // @unchecked Sendable: this program has one thread.
    private final class EarlyConnection: @unchecked Sendable {
        var agent: Agent?
    }

    private let early = EarlyConnection()

    /// The named session, otherwise the one for the current folder, otherwise `nil`: the agent chooses.
    func chosenSession() throws(Failure) -> SessionName? {
        if let named = try namedSession() { return named }
        return FolderSession.current(socket: try socketPath())
    }

    /// `-s`, else `$AUTHD_SESSION`.
    func namedSession() throws(Failure) -> SessionName? {
        // An empty variable counts as not set. An empty option is a mistake.
        guard let text = session ?? environmentValue("AUTHD_SESSION") else { return nil }
        if session == nil, text.isEmpty { return nil }
        return try Self.sessionName(text, from: session == nil ? "AUTHD_SESSION" : "--session")
    }

    static func sessionName(_ text: String, from source: String = "NAME") throws(Failure) -> SessionName {
        do {
            return try SessionName(text)
        } catch {
            throw .usage("\(source): '\(text)' is not a session name: use \(SessionName.rule)")
        }
    }

    func socketPath() throws(Failure) -> String {
        do {
            return try SocketPath.resolve(flag: socket, environment: environmentValue, userID: getuid())
        } catch {
            let isNamed = socket != nil || !(environmentValue("AUTHD_SOCKET") ?? "").isEmpty
            guard !isNamed else { throw .usage(error.message) }
            // Not a usage error: some environments have no agent, such as a cron job's.
            let hint = error.message.hasPrefix("sudo ") ? nil : DoctorEnvironment.otherSocket(socketSource)
            throw Failure(status: .noAgent, kind: "no_agent", message: error.message, hint: hint)
        }
    }

    /// Whether no option and no variable names the socket itself.
    var hasDefaultSocket: Bool { socket == nil && (environmentValue("AUTHD_SOCKET") ?? "").isEmpty }

    /// The option or variable that the socket's path comes from.
    var socketSource: String {
        if socket != nil { return "--socket" }
        let named = environmentValue("AUTHD_SOCKET") ?? ""
        guard named.isEmpty else { return "$AUTHD_SOCKET" }
        let folder = environmentValue("XDG_RUNTIME_DIR") ?? ""
        let isIgnored = !folder.isEmpty && !folder.hasPrefix("/")
        return isIgnored ? "the default: $XDG_RUNTIME_DIR is relative and is ignored" : "the default"
    }

    /// Another user's agent is called only if the command line names its socket: sudo may keep the variables of a user,
    /// and root would take that user's sessions for its own.
    /// - Parameter beforeSecrets: whether the command then reads a secret, or sends one with the connection's own functions.
    func connect(beforeSecrets: Bool = false) throws(Failure) -> Agent {
        let agent =
            if let agent = early.agent { agent } else {
                try Agent(path: socketPath(), timeout: timeout, requiresOwnAgent: socket == nil)
            }
        early.agent = nil
        if beforeSecrets { try agent.introduce() }
        return agent
    }

    /// Must run before a secret on the command line is read. The next ``connect(beforeSecrets:)`` returns this connection.
    func prepareForSecrets() throws(Failure) {
        guard !MemoryGuard.isClosed else { return }
        early.agent = try connect(beforeSecrets: true)
    }

    /// Whether the user can see and answer a prompt.
    var canPrompt: Bool { !noInput && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
