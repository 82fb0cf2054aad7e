public import AuthWire

/// Why a call has no result.
public enum ClientError: Error, Sendable, Equatable {
    /// No agent listens on the socket, or it cannot be reached.
    case noAgent(path: String, reason: String)
    /// The deadline passed first. The agent may still perform the call.
    case timedOut
    /// The agent ended the connection before it answered.
    case closed
    /// A request over the agent's limit, which was not sent, or a response over the client's.
    case tooLong(limit: Int)
    /// More events arrived during a call than are buffered for ``AgentConnection/nextEvent(deadline:)``.
    case tooManyEvents(limit: Int)
    /// The request was not sent, because the agent on the socket runs as another user. Requests with a secret are never
    /// sent to it, and `authc` sends it none at all if only a variable names the socket.
    case otherUser(userID: UInt32?)
    /// The agent's error.
    case agent(AgentError)
    /// A response that does not match the protocol.
    case badReply(String)
    /// The caller's task was cancelled, or the client was closed.
    case cancelled
    /// The system could not create a socket or a thread.
    case system(String)
}

extension ClientError: CustomStringConvertible {
    /// What failed and what to try.
    public var description: String {
        switch self {
        case .noAgent(let path, let reason):
            "no agent answers on \(path) (\(reason)); if none is running, start it with "
                + "`systemctl --user start authd.socket`, or run `authd`"
        case .timedOut: "the agent did not answer in time; try again, or allow more time"
        case .closed:
            "the agent closed the connection before it answered; check its settings with `authd --check`, and try again"
        case .tooLong(let limit): "a message is longer than \(limit) bytes"
        case .tooManyEvents(let limit):
            "more than \(limit) events arrived during a call; subscribe on a separate connection"
        case .otherUser(let userID):
            "the agent on the socket runs as \(userID.map { "user \($0)" } ?? "an unknown user"), not as you, "
                + "and the request was not sent; to reach your own agent, unset AUTHD_SOCKET and XDG_RUNTIME_DIR, "
                + "or give the path of its socket"
        case .agent(let error): error.message
        case .badReply(let reason): "invalid response: \(reason); check whether another program uses the socket"
        case .cancelled: "cancelled"
        case .system(let reason): reason
        }
    }
}
