import AuthWire

/// What authorization servers say of themselves, as last heard, each with its age.
package actor ServerDirectory {
    package struct Entry: Sendable {
        let metadata: JSON
        let freshUntil: BootInstant
    }

    /// Where a server does not say how long its word is good (RFC 9111 §4.2.2 leaves it to us).
    private static let usualAge = Duration.seconds(3600)
    /// A word of less is asked for again all the time, one of more outlives a move of endpoints.
    private static let ages = Duration.seconds(300)...Duration.seconds(86_400)
    /// One a provider is usual: more than this is no directory.
    private static let most = 256

    private var entries: [String: Entry] = [:]

    package init() {}

    /// - Returns: the metadata, and whether it is fresh; an old word is better than none.
    func entry(of issuer: String, at now: BootInstant) -> (metadata: JSON, isFresh: Bool)? {
        entries[issuer].map { ($0.metadata, now < $0.freshUntil) }
    }

    func keep(_ metadata: JSON, of issuer: String, for age: Duration?, at now: BootInstant) {
        if entries.count >= Self.most { entries = [:] }
        let age = min(max(age ?? Self.usualAge, Self.ages.lowerBound), Self.ages.upperBound)
        entries[issuer] = Entry(metadata: metadata, freshUntil: now + age)
    }
}
