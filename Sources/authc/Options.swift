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
        return named.isEmpty ? "the default" : "$AUTHD_SOCKET"
    }

    func connect() throws(Failure) -> Agent {
        try Agent(path: socketPath(), timeout: timeout)
    }

    /// Whether a person sits at stdin, sees what is asked, and may be asked.
    var mayAsk: Bool { !noInput && isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1 }
}
