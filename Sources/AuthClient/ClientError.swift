public import AuthWire

/// Why a call has no result.
public enum ClientError: Error, Sendable, Equatable {
    /// Nobody listens on the socket, or it may not be reached.
    case noAgent(path: String, reason: String)
    /// The deadline passed first. The agent may still do what was asked.
    case timedOut
    /// The agent ended the connection before it answered.
    case closed
    /// A request over the agent's limit, which was not sent, or an answer over ours.
    case tooLong(limit: Int)
    /// More events came than are kept for ``AgentConnection/nextEvent(deadline:)`` while an answer was waited for.
    case tooManyEvents(limit: Int)
    /// A request with a secret, which was not sent: the agent on the socket runs as another user.
    case otherUser(userID: UInt32?)
    /// The agent's own answer: a refusal or a failure.
    case agent(AgentError)
    /// Something that is not an answer of this protocol.
    case badReply(String)
    /// The caller's task was cancelled, or the client closed.
    case cancelled
    /// The system refused a socket or a thread.
    case system(String)
}

extension ClientError: CustomStringConvertible {
    /// What failed and what to try, for people.
    public var description: String {
        switch self {
        case .noAgent(let path, let reason):
            "no agent answers on \(path) (\(reason)); start it with `systemctl --user start authd.socket`, or run `authd`"
        case .timedOut: "the agent did not answer in time; try again, or give it longer"
        case .closed:
            "the agent closed the connection before it answered; check its settings with `authd --check`, and try again"
        case .tooLong(let limit): "a message is longer than \(limit) bytes"
        case .tooManyEvents(let limit):
            "more than \(limit) events came while an answer was waited for; subscribe on a connection of its own"
        case .otherUser(let userID):
            "the agent on the socket runs as \(userID.map { "user \($0)" } ?? "an unknown user"), not as you, "
                + "and gets no secret of yours; nothing was sent. Unset AUTHD_SOCKET, or name the socket of your own agent"
        case .agent(let error): error.message
        case .badReply(let reason): "the agent's answer makes no sense: \(reason); is another program on its socket?"
        case .cancelled: "cancelled"
        case .system(let reason): reason
        }
    }
}
