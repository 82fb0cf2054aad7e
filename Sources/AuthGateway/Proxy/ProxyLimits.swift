/// Limits of the proxy, beside those of its front.
package enum ProxyLimits {
    /// A body of at most this length is received before the request is sent, so that it can be sent again after a 401.
    package static let replayedBytes = 64 << 10

    /// The body of a 401 before the request is sent again.
    package static let droppedBytes = 64 << 10

    /// How long a response may take to begin after the request was sent. Some servers begin theirs at the end of long work.
    package static let responseTime = Duration.seconds(15 * 60)

    /// A nonce of a server (RFC 9449 §8.1). They have some ten bytes.
    static let nonceBytes = 1024
}
