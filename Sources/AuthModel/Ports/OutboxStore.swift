package import AuthWire

/// Stores writes in the order in which they came. The result of a call survives a crash.
package protocol OutboxStore: Sendable {
    /// Whether there may be entries; known without I/O.
    var mayHoldEntries: Bool { get }

    /// In order. An unreadable entry is included, as given up.
    func all() async throws(OutboxError) -> [OutboxEntry]

    /// `nil`: it is gone or unreadable.
    func request(of id: String) async throws(OutboxError) -> OutboxRequest?

    func add(_ entry: OutboxEntry, _ request: OutboxRequest) async throws(OutboxError)

    /// - Parameter finalRefusal: `nil` makes the entry wait again.
    func record(_ finalRefusal: AgentError?, for id: String) async throws(OutboxError)

    /// Removing a missing entry is a success.
    func remove(_ id: String) async throws(OutboxError)

    /// The store is empty: resources may be released.
    func close() async
}

package enum OutboxError: Error, Sendable, Equatable {
    /// Entries are sealed with this key.
    case key(StoreError)
    /// The limit of waiting bytes is reached.
    case full(bytes: Int)
    case disk(reason: String)
}

/// Stores the agent's keys with its sessions.
package protocol KeyStore: Sendable {
    /// `nil` only if the store is open and has no such key.
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret?
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError)
    /// Why ``key(for:)`` returns `nil` for a key that the store has: the key cannot be read. `nil` for any other key.
    func damage(ofKeyFor purpose: KeyPurpose) async throws(StoreError) -> String?
}

extension KeyStore {
    /// For a store whose ``key(for:)`` throws if a key cannot be read.
    package func damage(ofKeyFor purpose: KeyPurpose) async throws(StoreError) -> String? { nil }
}

package enum KeyPurpose: Sendable, Hashable {
    case outbox
    /// The client that a provider has registered for us (RFC 7591): ``RegisteredClient/json``.
    case client(provider: String)
    /// What identifies this host in a cluster. It stays on this host.
    case host

    /// The name in the store and for users; a valid file name. The name of a provider in a file is one, a URL is not.
    package var name: String {
        switch self {
        case .outbox: "outbox"
        case .host: "host"
        case .client(let provider) where provider.utf8.contains(UInt8(ascii: "/")): "client-url-\(Self.mark(provider))"
        case .client(let provider): "client-\(provider)"
        }
    }

    /// FNV-1a. If two URLs had the same mark, each would register again after the other: a client is used only at its issuer.
    private static func mark(_ text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return String(hash, radix: 16)
    }
}
