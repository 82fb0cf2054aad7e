import AuthModel
import AuthWire

/// What authorization servers say of themselves, as last heard, each with its age.
package actor ServerMetadataCache {
    package struct Entry: Sendable {
        let document: JSON
        let freshUntil: BootInstant
    }

    /// Where a server does not say how long its word is good (RFC 9111 §4.2.2 leaves it to us).
    private static let usualAge = Duration.seconds(3600)
    /// A word of less is asked for again all the time, one of more outlives a move of endpoints.
    private static let ages = Duration.seconds(300)...Duration.seconds(86_400)
    /// One a provider is usual: more than this is no directory.
    private static let most = 256

    /// What a document is. A server's own name may be the address of another one's keys: each kind has its own entries.
    package enum Kind: Sendable {
        case metadata
        case keys
    }

    /// By issuer.
    private var metadata: [String: Entry] = [:]
    /// By address.
    private var keys: [String: Entry] = [:]
    /// Token endpoints of servers that want the client's name in the form also with `basic`.
    private var formServers: Set<String> = []

    package init() {}

    /// - Returns: the document, and whether it is fresh; an old one is better than none.
    func entry(of name: String, _ kind: Kind, at now: BootInstant) -> (document: JSON, isFresh: Bool)? {
        let entry = kind == .metadata ? metadata[name] : keys[name]
        return entry.map { ($0.document, now < $0.freshUntil) }
    }

    func requiresClientInForm(_ tokenEndpoint: String) -> Bool { formServers.contains(tokenEndpoint) }

    func recordClientInForm(_ tokenEndpoint: String) {
        if formServers.count >= Self.most { formServers = [] }
        formServers.insert(tokenEndpoint)
    }

    func keep(_ document: JSON, of name: String, _ kind: Kind, for age: Duration?, at now: BootInstant) {
        let age = min(max(age ?? Self.usualAge, Self.ages.lowerBound), Self.ages.upperBound)
        let entry = Entry(document: document, freshUntil: now + age)
        switch kind {
        case .metadata: Self.keep(entry, of: name, in: &metadata)
        case .keys: Self.keep(entry, of: name, in: &keys)
        }
    }

    private static func keep(_ entry: Entry, of name: String, in entries: inout [String: Entry]) {
        if entries.count >= most { entries = [:] }
        entries[name] = entry
    }
}
