/// What a client lets the agent, and itself, grow to.
enum ClientLimits {
    /// An answer carries a backend's reply of up to 8 MiB, a third longer in base64, and its envelope.
    static let answerBytes = 12 << 20

    /// One read(2): the common answer in one call, and no large buffer for a client that stays connected.
    static let readBytes = 16 << 10

    /// Events nobody has fetched yet; beyond this the feed stops reading and the agent's own limit takes over.
    static let queuedEvents = 256

    /// Events that arrived on a blocking connection between calls and were not fetched.
    static let bufferedEvents = 1024

    /// Between two tries of a connection whose socket's queue is full.
    static let connectPause = Duration.milliseconds(5)

    /// The agent answers a subscription from memory.
    static let subscribeTimeout = Duration.seconds(10)

    /// The first and the longest pause of a feed whose agent is away.
    static let firstPause = Duration.milliseconds(100)
    static let longestPause = Duration.seconds(10)
}
