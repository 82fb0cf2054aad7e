import AuthClient
import AuthWire
import Glibc

/// What every command takes.
struct Options {
    /// `-s`; `chosenSession` is what counts.
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

    /// The named one, else what the settings say of the current folder, else the agent's own choice.
    func chosenSession() throws(Failure) -> SessionName? {
        if let named = try namedSession() { return named }
        return FolderSession.current(socket: try socketPath())
    }

    /// `-s`, else `$AUTHD_SESSION`.
    func namedSession() throws(Failure) -> SessionName? {
        // Not set and empty are the same for a variable; for an option that somebody gave, empty is a mistake.
        guard let text = session ?? environmentValue("AUTHD_SESSION") else { return nil }
        if session == nil, text.isEmpty { return nil }
        return try Self.sessionName(text, from: session == nil ? "AUTHD_SESSION" : "--session")
    }

    static func sessionName(_ text: String, from source: String = "NAME") throws(Failure) -> SessionName {
        do {
            return try SessionName(text)
        } catch {
            throw .usage("\(source): '\(text)' is no session name: \(SessionName.rule)")
        }
    }

    func socketPath() throws(Failure) -> String {
        do {
            return try SocketPath.resolve(flag: socket, environment: environmentValue, userID: getuid())
        } catch {
            let isNamed = socket != nil || !(environmentValue("AUTHD_SOCKET") ?? "").isEmpty
            // Nobody typed anything wrong: this is a place without an agent, as a cron job's.
            throw isNamed ? .usage(error.message) : Failure(status: .noAgent, kind: "no_agent", message: error.message)
        }
    }

    /// What says where the socket is.
    var socketSource: String {
        if socket != nil { return "--socket" }
        let named = environmentValue("AUTHD_SOCKET") ?? ""
        guard named.isEmpty else { return "$AUTHD_SOCKET" }
        let folder = environmentValue("XDG_RUNTIME_DIR") ?? ""
        let isIgnored = !folder.isEmpty && !folder.hasPrefix("/")
        return isIgnored ? "the default: $XDG_RUNTIME_DIR is relative and counts as not set" : "the default"
    }

    /// - Parameter beforeSecrets: the command reads a secret after this, or uses the connection itself for one.
    func connect(beforeSecrets: Bool = false) throws(Failure) -> Agent {
        let agent = if let agent = early.agent { agent } else { try Agent(path: socketPath(), timeout: timeout) }
        early.agent = nil
        if beforeSecrets { try agent.introduce() }
        return agent
    }

    /// Before a secret is read while the command line is taken apart. The connection is that of the next ``connect``.
    func prepareForSecrets() throws(Failure) {
        guard !MemoryGuard.isClosed else { return }
        early.agent = try connect(beforeSecrets: true)
    }

    /// Whether a person sits at stdin, sees what is asked, and may be asked.
    var canPrompt: Bool { !noInput && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
