import AuthClient
import AuthGateway
import AuthWire

extension FrontProblem {
    /// The agent gave no token.
    init(_ error: ClientError, login: String) {
        switch error {
        case .agent(let error): self.init(error, login: login)
        case .timedOut: self.init(504, .timeout, "The agent did not answer in time.")
        case .noAgent, .closed: self.init(503, .internal_, "The agent is not running: \(error).")
        case .tooLong: self.init(502, .tooLarge, "The agent's response is too large.")
        case .otherUser: self.init(403, .denied, "\(error).")
        default: self.init(502, .internal_, "The agent could not be asked for a token: \(error).")
        }
    }

    /// As `authc` ends with that problem. 503: there is no agent.
    var exitStatus: Int32 { kind == .internal_ && status == 503 ? 69 : kind.exitStatus }
}

extension ClientError {
    /// As `authc` ends with that error.
    var exitStatus: Int32 {
        switch self {
        case .agent(let error): error.kind?.exitStatus ?? 70
        case .noAgent, .closed: 69
        case .timedOut: 75
        case .tooLong: 76
        case .otherUser: 77
        case .tooManyEvents, .badReply, .cancelled, .system: 70
        }
    }
}

extension ErrorKind {
    fileprivate var exitStatus: Int32 {
        switch self {
        case .notSignedIn, .signInRequired: 3
        case .keyringLocked, .keyringUnavailable: 4
        case .unknownSession, .unknownProvider, .unknownEndpoint, .unsupported: 64
        case .refused, .validation, .conflict, .notFound, .forbidden: 65
        case .offline, .captivePortal, .providerUnreachable, .providerError, .rateLimited, .timeout, .busy: 75
        case .badReply, .tooLarge: 76
        case .denied, .agentLocked: 77
        case .internal_: 70
        }
    }
}
