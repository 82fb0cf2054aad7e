import AuthConnection
import AuthWire

/// Why a command failed: its exit status, and the error as text and JSON.
struct Failure: Error {
    let status: ExitStatus
    /// An `ErrorKind`, or one of authc's own: `no_agent`, `closed`, `bad_answer`, `usage`, `settings`.
    let kind: String
    let message: String
    /// The agent's error, if the agent reported it.
    var agentError: AgentError?
    /// What to try, if the message does not say it.
    var hint: String?
    /// A signal ended the command: there is nothing to report.
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
    ///   - action: the method of the protocol.
    ///   - time: the time limit.
    init(_ error: ClientError, doing action: String, within time: Duration) {
        switch error {
        case .agent(let error): self.init(error)
        case .noAgent(let path, let reason):
            self.init(
                status: .noAgent, kind: "no_agent", message: "no agent answers on \(path) (\(reason))",
                hint: AgentAdvice.unreachable(path, reason))
        case .timedOut:
            self.init(
                status: .temporary, kind: ErrorKind.timeout.rawValue,
                message: "\(action): the agent did not answer within \(Span.text(time))",
                hint: "try again, or set a longer --timeout")
        case .closed:
            self.init(
                status: .noAgent, kind: "closed",
                message: "\(action): the agent closed the connection before it answered",
                hint: "the log of authd shows why it ended: \(AgentAdvice.log()); `authd --check` checks the settings")
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
                hint: "check whether another program or another version of authd uses the socket")
        case .cancelled:
            self.init(status: .denied, kind: ErrorKind.denied.rawValue, message: "cancelled")
            isSilent = true
        case .system(let reason): self.init(status: .internalError, kind: "internal", message: reason)
        }
    }

    init(_ error: AgentError) {
        self.init(
            status: ExitStatus(error), kind: error.kind?.rawValue ?? "protocol", message: error.message,
            agentError: error, hint: NextStep.after(error))
    }

    func report(asJSON: Bool) {
        guard !isSilent else { return }
        if asJSON {
            try? Output.json(json)
        } else {
            Output.note("authc: " + text)
        }
    }

    /// The explanation and the hint.
    var text: String { explanation + (hint.map { "\n  " + Visible.lines($0) } ?? "") }

    /// What failed: the message, the HTTP status and the provider's own words.
    var explanation: String {
        let lines = [message] + (agentError?.response ?? []).map { "  " + $0 }
        // The agent's message may have several lines.
        return lines.map { $0.split(separator: "\n").map { Visible.line(String($0)) }.joined(separator: "\n  ") }
            .joined(separator: "\n")
    }

    var json: JSON {
        var error: JSONObject = [
            "kind": .string(kind), "message": .string(message), "exit": .integer(Int64(status.rawValue)),
        ]
        error["hint"] = hint.map { .string(AdvisedCommands.text($0)) }
        if let agentError {
            // The other members of the protocol's error, under their own names.
            for (key, value) in agentError.json["data"]?.objectValue ?? JSONObject() where key != "kind" {
                error[key] = value
            }
            error["code"] = .integer(Int64(agentError.code))
        }
        return .object(["error": .object(error)])
    }
}

extension AgentError {
    /// What the provider answered, as far as the message does not say it: the status, its own words, and its details.
    var response: [String] {
        var first: [String] = []
        // The same digits can be part of anything, such as the number of an entry.
        if let status = httpStatus, !["HTTP \(status)", "(\(status))"].contains(where: { message.contains($0) }) {
            first.append("HTTP \(status)")
        }
        if let words = providerMessage, !message.contains(words) { first.append("it says: \(words)") }
        let rest = details.filter { !message.contains($0) }.map { "- " + $0 }
        return (first.isEmpty ? [] : [first.joined(separator: ", ")]) + rest
    }
}
