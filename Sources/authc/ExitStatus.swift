import AuthWire

/// How a command ends; the numbers are the contract's, most of them sysexits.h's.
enum ExitStatus: Int32 {
    case done = 0
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
            // An answer that no later try changes: a wrong type of body, a method that is not allowed.
            self = .refusedData
        } else if let kind = error.kind, error.code == AgentError.agentCode {
            self.init(kind)
        } else {
            // JSON-RPC's own: params that this command made of what the person typed, or an older agent.
            self = error.code == AgentError.invalidParams("").code ? .usage : .internalError
        }
    }

    /// Of a report about a session: whether a program could go on with it.
    init(_ state: SessionState) {
        self =
            switch state {
            case .signedOut, .signInRequired: .notSignedIn
            case .keyringLocked: .keyring
            case .active, .stale, .signingIn: .done
            }
    }
}
