package import AuthWire

/// Where writes wait, in the order in which they came. What a call has done is done after a crash too.
package protocol OutboxStore: Sendable {
    /// Whether there may be something in it; known without asking anybody.
    var mayHoldEntries: Bool { get }

    /// In order. One that cannot be read is there, given up.
    func all() async throws(OutboxError) -> [OutboxEntry]

    /// `nil`: it has gone, or cannot be read.
    func request(of id: String) async throws(OutboxError) -> OutboxRequest?

    func add(_ entry: OutboxEntry, _ request: OutboxRequest) async throws(OutboxError)

    /// - Parameter verdict: `nil` has it wait again.
    func record(_ finalRefusal: AgentError?, for id: String) async throws(OutboxError)

    /// Removing what is not there is success.
    func remove(_ id: String) async throws(OutboxError)

    /// Nothing is in it any more, so that nothing need be held open.
    func close() async
}

package enum OutboxError: Error, Sendable, Equatable {
    /// The key that entries are sealed with.
    case key(StoreError)
    /// As many bytes wait as may.
    case full(bytes: Int)
    case disk(reason: String)
}

/// Keeps keys of the agent's own, where its sessions are kept.
package protocol KeyStore: Sendable {
    /// `nil` only when the store is open and holds no such key.
    func key(for purpose: KeyPurpose) async throws(StoreError) -> Secret?
    func save(_ key: Secret, for purpose: KeyPurpose) async throws(StoreError)
}

package enum KeyPurpose: Sendable, Hashable {
    case outbox
    /// What a provider has registered us as (RFC 7591): ``RegisteredClient/json``.
    case client(provider: String)

    /// Where it is kept, and for people; a provider's name can stand in a file's.
    package var name: String {
        switch self {
        case .outbox: "outbox"
        case .client(let provider): "client-\(provider)"
        }
    }
}
