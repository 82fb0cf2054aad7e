package import AuthModel

/// Decides whether a request is sent again: once after a 401, once with a nonce, once on a new connection.
package struct ProxyAttempts: Sendable {
    package enum Decision: Sendable, Equatable {
        /// The response is for the client.
        case pass
        /// The same, but the token was refused: the next request needs another one, if there is one.
        case passAndRenew
        /// Once more, with a new token.
        case renew
        /// Once more, with the server's nonce in the proof (RFC 9449 §9).
        case prove
    }

    /// Whether the body can be sent again.
    package let isReplayable: Bool
    private let isSafe: Bool
    private var hasRenewed = false
    private var hasProved = false
    private var hasReconnected = false

    package init(method: String, isReplayable: Bool) {
        self.isReplayable = isReplayable
        isSafe = ["GET", "HEAD", "OPTIONS"].contains(method)
    }

    package mutating func decide(_ head: HTTPResponse, with token: ProxyToken) -> Decision {
        guard head.status == 401 else { return .pass }
        if token.isBound, TokenChallenge(head)?.error == "use_dpop_nonce" {
            guard isReplayable, !hasProved else { return .pass }
            hasProved = true
            return .prove
        }
        guard !hasRenewed else { return .pass }
        hasRenewed = true
        return isReplayable && token.isRenewable ? .renew : .passAndRenew
    }

    /// A connection that was kept may have been closed by the server at the same moment.
    package mutating func mayReconnect(after failure: TransportError) -> Bool {
        guard case .connectionLost = failure, isSafe, isReplayable, !hasReconnected else { return false }
        hasReconnected = true
        return true
    }

    /// The nonce for later proofs (RFC 9449 §8.2).
    package static func nonce(_ head: HTTPResponse) -> String? {
        head.headers.first { $0.name.lowercased() == "dpop-nonce" }
            .flatMap { (1...ProxyLimits.nonceBytes).contains($0.value.utf8.count) ? $0.value : nil }
    }
}
