/// How long a client's request waits for a network, if the profile says to wait for one: until its own time limit.
package enum NetworkWait {
    /// For a request without `timeout_ms`.
    package static let usualLimit = Duration.seconds(60)
    /// The longest `timeout_ms`.
    package static let longestLimit = Duration.seconds(86_400)
    /// The wait ends this much before the request, so that the caller learns why it failed.
    private static let margin = Duration.seconds(1)

    /// - Parameter limit: `timeout_ms` of the request. A tenth of a short one is the margin.
    package static func longest(within limit: Duration?) -> Duration {
        let limit = min(limit ?? usualLimit, longestLimit)
        return limit - min(margin, limit / 10)
    }
}
