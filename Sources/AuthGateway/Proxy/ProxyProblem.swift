package import AuthModel
package import AuthWire

extension FrontProblem {
    /// The agent gave no token. 401 means that the user must sign in: programs show it and do not try again, as they
    /// would after a 503.
    /// - Parameter login: the command that signs in.
    package init(_ error: AgentError, login: String = "authc login") {
        let kind = error.kind ?? .internal_
        switch kind {
        case .notSignedIn, .signInRequired, .unknownSession:
            // The agent may say so itself.
            let advice = error.message.contains("authc login") ? "" : " Run `\(login)`, then try again."
            self.init(401, kind, error.message + advice, command: login)
        case .denied, .forbidden: self.init(403, kind, error.message)
        case .timeout: self.init(504, kind, error.message)
        case .providerUnreachable, .providerError, .badReply, .refused: self.init(502, kind, error.message)
        case .keyringLocked, .keyringUnavailable, .offline, .captivePortal, .rateLimited, .busy, .agentLocked:
            self.init(503, kind, error.message, retryAfter: error.retryAfter)
        default: self.init(500, kind, error.message)
        }
    }

    /// A client cannot use its connection after a 101 that it did not request.
    package static let otherProtocol = FrontProblem(
        502, .badReply, "The server switched to another protocol, which was not requested.")

    /// The server gave no response.
    package init(_ error: TransportError) {
        guard case .temporary(let error, _) = ProviderFailure(error) else {
            self.init(502, .providerUnreachable, "The server cannot be reached.")
            return
        }
        let kind = error.kind ?? .providerUnreachable
        self.init(kind == .timeout ? 504 : 502, kind, error.message)
    }
}
