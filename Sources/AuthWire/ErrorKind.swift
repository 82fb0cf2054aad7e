/// What an error means to the caller. A kind never changes its meaning.
public enum ErrorKind: String, Sendable, CaseIterable {
    case notSignedIn = "not_signed_in"
    case signInRequired = "sign_in_required"
    case keyringLocked = "keyring_locked"
    case keyringUnavailable = "keyring_unavailable"
    case offline
    case captivePortal = "captive_portal"
    case providerUnreachable = "provider_unreachable"
    case providerError = "provider_error"
    case badReply = "bad_reply"
    case rateLimited = "rate_limited"
    case refused
    case validation
    case forbidden
    case notFound = "not_found"
    case conflict
    case denied
    case agentLocked = "agent_locked"
    case timeout
    case busy
    case tooLarge = "too_large"
    case unknownSession = "unknown_session"
    case unknownProvider = "unknown_provider"
    case unknownEndpoint = "unknown_endpoint"
    case unsupported
    // swift-format-ignore: AlwaysUseLowerCamelCase
    case internal_ = "internal"

    /// An unknown kind, from a newer agent, becomes ``internal_``.
    public init(unknown text: String) {
        self = ErrorKind(rawValue: text) ?? .internal_
    }

    /// Whether the same request may succeed later.
    public var retryableByDefault: Bool {
        switch self {
        case .offline, .captivePortal, .providerUnreachable, .providerError, .badReply, .rateLimited, .timeout, .busy,
            .keyringLocked:
            true
        case .notSignedIn, .signInRequired, .keyringUnavailable, .refused, .validation, .forbidden, .notFound,
            .conflict, .denied, .agentLocked, .tooLarge, .unknownSession, .unknownProvider, .unknownEndpoint,
            .unsupported, .internal_:
            false
        }
    }
}
