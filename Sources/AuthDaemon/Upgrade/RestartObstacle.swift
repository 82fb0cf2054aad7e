package import AuthWire

/// Why an agent does not restart without a request.
package enum RestartObstacle: Sendable, Equatable {
    case requests
    case signIn
    /// For example a renewal, a queued write, a revocation, a write to the store or a hook.
    case work
    case unsavedTokens
    case storeNotOpen
    /// The next run could not open the store by itself.
    case passphrase
    /// The sessions end with the agent.
    case memory

    package var text: String {
        switch self {
        case .requests: "requests are in progress"
        case .signIn: "a sign-in is in progress"
        case .work: "a request to a provider, or to the store, is in progress"
        case .unsavedTokens: "tokens are not stored yet"
        case .storeNotOpen: "the store is not open"
        case .passphrase:
            "the passphrase of the store would have to be entered again (`authc agent restart`, then `authc store unlock`)"
        case .memory: "sessions in memory would end"
        }
    }

    /// The same for clients; `nil`: it passes.
    package var lasting: RestartInfo.Obstacle? {
        switch self {
        case .memory: .memory
        case .passphrase: .passphrase
        case .requests, .signIn, .work, .unsavedTokens, .storeNotOpen: nil
        }
    }
}
