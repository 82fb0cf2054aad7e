public import AuthWire

/// The agent's events, without end.
///
/// The first is a snapshot (`name` is `snapshot`). When the agent goes away one event `disconnected` (topic `agent`)
/// is given; as soon as the agent is back comes a snapshot again, so that nothing between needs to be known. Fetching
/// slowly loses nothing silently: an agent that stops waiting for us means a new snapshot.
public struct AgentEvents: AsyncSequence, Sendable {
    public typealias Element = AgentEvent
    public typealias Failure = ClientError

    let path: String
    let subscription: SubscribeParams

    public func makeAsyncIterator() -> Iterator {
        Iterator(feed: EventFeed(path: path, subscription: subscription))
    }

    /// Ends with `nil` when its task is cancelled; its connection ends with it.
    public struct Iterator: AsyncIteratorProtocol {
        private let owner: Owner

        init(feed: EventFeed) {
            owner = Owner(feed: feed)
        }

        /// - Throws: what the agent answered when it will never accept this subscription.
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
