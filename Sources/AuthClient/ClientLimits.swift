/// Limits of a client.
enum ClientLimits {
    /// A response has a backend's body of up to 8 MiB, which base64 makes a third longer, and its envelope.
    static let answerBytes = 12 << 20

    /// For one read(2): enough for most responses, and small for a client that stays connected.
    static let readBytes = 16 << 10

    /// Events that are not read yet. Above this, the feed stops reading, and the agent's own limit applies.
    static let queuedEvents = 256

    /// Events on a blocking connection that arrived during calls and are not read yet.
    static let bufferedEvents = 1024

    /// Between two attempts to connect if the socket's queue is full.
    static let connectPause = Duration.milliseconds(5)

    /// The agent answers a subscription from memory.
    static let subscribeTimeout = Duration.seconds(10)

    /// The first and the longest pause before a feed reconnects. One that the agent requests is added, up to the longest.
    static let firstPause = Duration.milliseconds(100)
    static let longestPause = Duration.seconds(10)
}
