import AuthModel
import AuthWire

/// The last metadata and keys of each authorization server, and how long they are fresh.
package actor ServerMetadataCache {
    package struct Entry: Sendable {
        let document: JSON
        let freshUntil: BootInstant
    }

    /// For a response without a lifetime (RFC 9111 §4.2.2 leaves it to us).
    private static let usualAge = Duration.seconds(3600)
    /// With a shorter lifetime metadata would be requested all the time; with a longer one, moved endpoints would stay
    /// unnoticed.
    private static let ages = Duration.seconds(300)...Duration.seconds(86_400)
    /// The limit of entries. Usually there is one for each provider.
    private static let most = 256

    /// The kind of a document. Each kind has its own entries, because an issuer may be the address of another server's keys.
    package enum Kind: Sendable {
        case metadata
        case keys
    }

    /// By issuer.
    private var metadata: [String: Entry] = [:]
    /// By address.
    private var keys: [String: Entry] = [:]
    /// Token endpoints of servers that want the client's name in the form even with `basic`.
    private var formServers: Set<String> = []

    package init() {}

    /// Returns when it has handled what it was sent before.
    func answers() {}

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
