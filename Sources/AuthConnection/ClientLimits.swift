/// Limits of a client.
package enum ClientLimits {
    /// A response has a backend's body of up to 8 MiB, which base64 makes a third longer, and its envelope.
    package static let answerBytes = 12 << 20

    /// For one read(2): enough for most responses, and small for a client that stays connected.
    package static let readBytes = 16 << 10

    /// Events that are not read yet. Above this, the feed stops reading, and the agent's own limit applies.
    package static let queuedEvents = 256

    /// Events on a blocking connection that arrived during calls and are not read yet.
    package static let bufferedEvents = 1024

    /// Between two attempts to connect if the socket's queue is full.
    package static let connectPause = Duration.milliseconds(5)

    /// For a call whose program sets no limit. The agent waits up to 60 s for a provider's response.
    package static let callTimeout = Duration.seconds(70)

    /// The agent answers a subscription from memory.
    package static let subscribeTimeout = Duration.seconds(10)

    /// The first and the longest pause before a feed reconnects. One that the agent requests is added, up to the longest.
    package static let firstPause = Duration.milliseconds(100)
    package static let longestPause = Duration.seconds(10)
}
