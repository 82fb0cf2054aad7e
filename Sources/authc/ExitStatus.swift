import AuthWire

/// The exit status of a command. Most numbers are those of sysexits.h.
enum ExitStatus: Int32 {
    case done = 0
    /// What docker and pip expect from a credential helper that has no credentials.
    case credentialsNotFound = 1
    case notSignedIn = 3
    case keyring = 4
    case usage = 64
    case refusedData = 65
    case noAgent = 69
    case internalError = 70
    case temporary = 75
    case badReply = 76
    case denied = 77
    case badSettings = 78
    /// As in env(1): `exec` cannot start the command, or does not find it.
    case cannotStart = 126
    case commandNotFound = 127

    init(_ kind: ErrorKind) {
        self =
            switch kind {
            case .notSignedIn, .signInRequired: .notSignedIn
            case .keyringLocked, .keyringUnavailable: .keyring
            case .unknownSession, .unknownProvider, .unknownEndpoint, .unsupported: .usage
            case .refused, .validation, .conflict, .notFound, .forbidden: .refusedData
            case .offline, .captivePortal, .providerUnreachable, .providerError, .rateLimited, .timeout, .busy:
                .temporary
            case .badReply, .tooLarge: .badReply
            case .denied, .agentLocked: .denied
            case .internal_: .internalError
            }
    }

    init(_ error: AgentError) {
        if error.kind == .providerError, !error.retryable {
            // A retry will not help: for example a wrong media type, or a method that is not allowed.
            self = .refusedData
        } else if let kind = error.kind, error.code == AgentError.agentCode {
            self.init(kind)
        } else {
            // JSON-RPC's own: wrong params from the command line, or an older agent.
            self = error.code == AgentError.invalidParams("").code ? .usage : .internalError
        }
    }

    /// For a report about a session: whether a program can use the session.
    init(_ state: SessionState) {
        self =
            switch state {
            case .signedOut, .signInRequired: .notSignedIn
            case .keyringLocked: .keyring
            case .active, .stale, .signingIn: .done
            }
    }
}
