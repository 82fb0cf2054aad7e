public import AuthConnection
public import AuthWire

/// An endless sequence of the agent's events.
///
/// The first is a snapshot (`name` is `snapshot`). If the connection ends, one event `disconnected` (topic `agent`) follows,
/// and another snapshot after the next connection. A slow reader misses nothing silently: if the agent drops it, a new
/// snapshot follows.
public struct AgentEvents: AsyncSequence, Sendable {
    public typealias Element = AgentEvent
    public typealias Failure = ClientError

    let path: String
    let requiresOwnAgent: Bool
    let subscription: SubscribeParams

    public func makeAsyncIterator() -> Iterator {
        Iterator(feed: EventFeed(path: path, requiresOwnAgent: requiresOwnAgent, subscription: subscription))
    }

    /// Returns `nil` when its task is cancelled, which also closes the connection.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: Owner

        init(feed: EventFeed) {
            owner = Owner(feed: feed)
        }

        /// - Throws: the agent's error if it will never accept this subscription; `otherUser` if the client requires an agent of
        ///   its user, and another user's is on the socket.
        public mutating func next() async throws(ClientError) -> AgentEvent? {
            try await owner.feed.next()
        }

        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(ClientError) -> AgentEvent? {
            try await owner.feed.next()
        }

        /// Stops the feed when the last copy of the iterator is gone.
        private final class Owner: Sendable {
            let feed: EventFeed

            init(feed: EventFeed) {
                self.feed = feed
            }

            deinit {
                feed.stop()
            }
        }
    }
}
