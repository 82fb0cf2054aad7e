import AuthClient
import AuthWire

/// Why a command has no result: its exit status, and the words and the JSON that say so.
struct Failure: Error {
    let status: ExitStatus
    /// An `ErrorKind`'s word, or one of the client's own: `no_agent`, `closed`, `bad_answer`, `usage`, `settings`.
    let kind: String
    let message: String
    /// What the agent said, where it was the agent.
    var agentError: AgentError?
    /// What to try, where the message does not say.
    var hint: String?
    /// A signal ended it: nothing to report.
    var isSilent = false

    static func usage(_ message: String, hint: String? = nil) -> Failure {
        Failure(status: .usage, kind: "usage", message: message, hint: hint)
    }

    static func internalError(_ message: String) -> Failure {
        Failure(status: .internalError, kind: "internal", message: message)
    }

    static func cancelled(_ message: String) -> Failure {
        Failure(status: .denied, kind: "denied", message: message)
    }
}

extension Failure {
    /// - Parameters:
    ///   - action: what was being done, as the protocol names it.
    ///   - time: how long it was given.
    init(_ error: ClientError, doing action: String, within time: Duration) {
        switch error {
        case .agent(let error): self.init(error)
        case .noAgent(let path, let reason):
            self.init(
                status: .noAgent, kind: "no_agent", message: "no agent answers on \(path) (\(reason))",
                hint: "start it: `systemctl --user start authd.socket`, or `authd`")
        case .timedOut:
            self.init(
                status: .temporary, kind: ErrorKind.timeout.rawValue,
                message: "\(action): the agent did not answer within \(Span.text(time))",
                hint: "try again, or give it longer with --timeout")
        case .closed:
            self.init(
                status: .noAgent, kind: "closed", message: "\(action): the agent went away before it answered",
                hint: "`authd --check` shows what is wrong with the settings, and `journalctl --user -u authd` why it "
                    + "ended; then try again")
        case .tooLong(let limit):
            self.init(
                status: ExitStatus(.tooLarge), kind: ErrorKind.tooLarge.rawValue,
                message: "\(action): a message is longer than \(limit) bytes")
        case .otherUser:
            self.init(status: .denied, kind: ErrorKind.denied.rawValue, message: "\(action): \(error)")
        case .tooManyEvents:
            self.init(status: .internalError, kind: "bad_answer", message: "\(action): \(error)")
        case .badReply(let reason):
            self.init(
                status: .internalError, kind: "bad_answer", message: "\(action): \(reason)",
                hint: "is another program on the socket, or an authd of another version?")
        case .cancelled:
            self.init(status: .denied, kind: ErrorKind.denied.rawValue, message: "cancelled")
            isSilent = true
        case .system(let reason): self.init(status: .internalError, kind: "internal", message: reason)
        }
    }

    init(_ error: AgentError) {
        self.init(
            status: ExitStatus(error), kind: error.kind?.rawValue ?? "protocol", message: error.message,
            agentError: error, hint: Self.hint(error))
    }

    /// What to try, where the agent's words do not name a command already.
    private static func hint(_ error: AgentError) -> String? {
        guard !error.message.contains("authc ") else { return nil }
        return switch error.kind {
        case .notSignedIn, .signInRequired: "sign in: `authc login PROVIDER`"
        case .keyringLocked where error.cause == "keyring_waiting": nil
        case .keyringLocked: "unlock the keyring; authd goes on by itself"
        case .keyringUnavailable where error.cause == "missing": noKeyringHint
        case .keyringUnavailable: "`authc version` shows the state of the store"
        case .unknownSession: "`authc list` shows the sessions"
        case .unknownProvider: "`authc provider list` shows the providers"
        case .rateLimited, .providerError, .providerUnreachable:
            error.retryAfter.map { "try again in \(Span.text($0))" }
        default: nil
        }
    }

    static let noKeyringHint = """
        without a keyring: `authd --store sealed-file`, or store = "sealed-file" in authd.toml; with one \
        (gnome-keyring, KWallet, KeePassXC): start it, or have it started by `authc unlock`
        """

    func report(asJSON: Bool) {
        guard !isSilent else { return }
        if asJSON {
            try? Output.json(json)
        } else {
            Output.note(text)
        }
    }

    private var text: String {
        var lines = ["authc: " + message]
        if let words = agentError?.providerMessage, !message.contains(words) { lines.append("  it says: \(words)") }
        lines += (agentError?.details ?? []).filter { !message.contains($0) }.map { "  - " + $0 }
        if let hint { lines.append("  " + hint) }
        // The agent's own words may have several lines; those of others have none.
        return lines.map { $0.split(separator: "\n").map { Visible.line(String($0)) }.joined(separator: "\n  ") }
            .joined(separator: "\n")
    }

    private var json: JSON {
        var error: JSONObject = [
            "kind": .string(kind), "message": .string(message), "exit": .integer(Int64(status.rawValue)),
        ]
        error["hint"] = hint.map(JSON.string)
        if let agentError {
            // What the protocol says beside, under its own names.
            for (key, value) in agentError.json["data"]?.objectValue ?? JSONObject() where key != "kind" {
                error[key] = value
            }
            error["code"] = .integer(Int64(agentError.code))
        }
        return .object(["error": .object(error)])
    }
}
