package import AuthWire

/// Why a provider's answer did not help, by what it means for the session.
package enum ProviderFailure: Error, Sendable, Equatable {
    /// The profile's own final answer to a renewal: a person must sign in again.
    case final(AgentError)
    /// A no to what was asked that says nothing about the session (a wrong password, a bad field).
    case refused(AgentError)
    /// Anything that may be different next time. `retryAfter` is the provider's own word (RFC 9110 §10.2.3).
    case temporary(AgentError, retryAfter: Duration?)

    package var error: AgentError {
        switch self {
        case .final(let error), .refused(let error), .temporary(let error, _): error
        }
    }
}
