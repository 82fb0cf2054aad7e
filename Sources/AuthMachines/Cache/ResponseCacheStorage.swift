package import AuthModel
package import AuthWire

/// Cached responses of all sessions, in memory; the least recently used ones are removed first.
///
/// Invariant: `cost` is the sum of all entries, and at most `limit`; `newest` and `oldest` are the ends of one chain through
/// all places.
package struct ResponseCacheStorage: Sendable {
    package struct Key: Hashable, Sendable {
        package let session: SessionName
        /// Responses of one account are never shown to the next one.
        let signIn: SignInID
        /// Absolute, without its query.
        package let path: String
        let query: String

        /// The method is always GET.
        package init(_ record: SessionRecord, url: String) {
            session = record.session
            signIn = record.signIn
            let halves = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            path = String(halves.first ?? "")
            query = halves.count > 1 ? String(halves[1]) : ""
        }
    }

    private struct Place {
        var answers: [CachedResponse]
        var newer: Key?
        var older: Key?

        var cost: Int { answers.reduce(0) { $0 + $1.cost } }
    }

    /// The most responses of a URL, for different `Vary` fields: clients have few.
    private static let maxVariants = 8
    /// The largest share of one response: a larger one would remove all others.
    private static let largestShare = 4

    private let limit: Int
    private var places: [Key: Place] = [:]
    private var newest: Key?
    private var oldest: Key?
    private(set) var cost = 0

    /// - Parameter limit: bytes; 0 disables the cache.
    package init(limit: Int) {
        self.limit = limit
    }

    var count: Int { places.count }

    /// The cached response for a request, which counts as used. If several match, the newest one is returned (RFC 9111 §4.1):
    /// one from before the provider sent `Vary` matches every request.
    package mutating func find(_ key: Key, for request: HTTPRequest) -> CachedResponse? {
        guard let found = places[key]?.answers.last(where: { $0.answers(request) }) else { return nil }
        detach(key)
        attach(key)
        return found
    }

    /// Replaces the response for the same request.
    package mutating func put(_ answer: CachedResponse, at key: Key) {
        var answers = places[key]?.answers ?? []
        remove(key)
        answers.removeAll { $0.depends == answer.depends }
        answers.append(answer)
        if answers.count > Self.maxVariants { answers.removeFirst() }
        guard answers.allSatisfy({ $0.cost <= limit / Self.largestShare }) else { return }
        let place = Place(answers: answers)
        places[key] = place
        cost += place.cost
        attach(key)
        while cost > limit, let oldest { remove(oldest) }
    }

    package mutating func removeAll(where isGone: (Key) -> Bool) {
        for key in places.keys.filter(isGone) { remove(key) }
    }

    private mutating func remove(_ key: Key) {
        guard let place = places[key] else { return }
        detach(key)
        cost -= place.cost
        places[key] = nil
    }

    // MARK: The chain

    private mutating func attach(_ key: Key) {
        places[key]?.older = newest
        places[key]?.newer = nil
        if let newest { places[newest]?.newer = key }
        newest = key
        if oldest == nil { oldest = key }
    }

    private mutating func detach(_ key: Key) {
        guard let place = places[key] else { return }
        if let newer = place.newer { places[newer]?.older = place.older } else { newest = place.older }
        if let older = place.older { places[older]?.newer = place.newer } else { oldest = place.newer }
    }
}
