package import AuthWire

/// Why a request to a provider failed, by its consequence for the session.
package enum ProviderFailure: Error, Sendable, Equatable {
    /// The profile's final answer to a renewal: the user must sign in again.
    case final(AgentError)
    /// A refusal that says nothing about the session (a wrong password, an invalid field).
    case refused(AgentError)
    /// A failure that may pass. `retryAfter` comes from the provider (RFC 9110 §10.2.3).
    case temporary(AgentError, retryAfter: Duration?)

    package var error: AgentError {
        switch self {
        case .final(let error), .refused(let error), .temporary(let error, _): error
        }
    }
}
