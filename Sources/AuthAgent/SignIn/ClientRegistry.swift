import AuthConcurrency
import AuthModel
package import AuthWire
import Synchronization

/// The clients that providers have registered for authd, if no user did so by hand (RFC 7591): one at each provider.
///
/// Invariant: each provider gets one registration request at a time. A registered client is stored before it is used.
package final class ClientRegistry: Sendable {
    private struct Entry {
        let lock = AsyncLock()
        /// The ID of a client that is not used again, even if the store still has it.
        var refused: String?
    }

    private let context: AgentContext
    private let registry: SessionRegistry
    /// `nil`: nothing can be stored, so nothing is registered.
    private let keys: (any KeyStore)?
    private let entries = Mutex<[String: Entry]>([:])

    init(context: AgentContext, registry: SessionRegistry, keys: (any KeyStore)?) {
        self.context = context
        self.registry = registry
        self.keys = keys
    }

    /// The client that the provider knows: the stored one, or a new one.
    /// - Parameters:
    ///   - refused: one that cannot be used any more.
    ///   - redirectURI: listens at the address that the browser comes back to, and returns it. Called if the address may have
    ///     any port: many servers compare the port, too.
    func client(
        at profile: ProviderProfile, besides refused: RegisteredClient?,
        redirectURI: (OAuthProfile) async throws(AgentError) -> String
    ) async throws(AgentError) -> RegisteredClient {
        guard let oauth = profile.oauth else { throw .noOAuth(profile) }
        let providers = context.providers
        let server = try await converting(
            ProviderFailure.self, try await providers.server(of: profile, at: context.clock.now()))
        let client = try await lock(of: profile.name).withLock { () async throws(AgentError) -> RegisteredClient in
            // What another sign-in has registered meanwhile can be used for this one too.
            if let client = try await stored(at: profile.name), client.id != refused?.id,
                entries.withLock({ $0[profile.name]?.refused }) != client.id,
                client.isUsable(at: server.issuer ?? "", for: oauth, context.clock.now().wall),
                await providers.knows(client)
            {
                return client
            }
            var profile = profile
            if oauth.redirect.isAtAnyPort {
                profile.oauth?.redirect = RedirectTarget(try await redirectURI(oauth)) ?? oauth.redirect
            }
            let client = try await converting(
                ProviderFailure.self,
                try await providers.register(at: profile, server: server, sentAt: context.clock.now()))
            try await store(Secret(bytes: client.json.serialized()), at: profile.name)
            entries.withLock { $0[profile.name]?.refused = nil }
            return client
        }
        guard let client else { throw .stopping }
        return client
    }

    /// The next sign-in registers a new client. The caller must call ``forget(_:at:)`` afterwards.
    func refuse(_ client: RegisteredClient, at provider: String) {
        entries.withLock { $0[provider, default: Entry()].refused = client.id }
    }

    /// Removes this client, if it is still the stored one. Sessions that were signed in with it still renew with it.
    func forget(_ client: RegisteredClient, at provider: String) async {
        _ = await lock(of: provider).withLock { () async -> Void in
            guard (try? await stored(at: provider))?.id == client.id else { return }
            // If that fails, it is refused again in the next run, and then forgotten.
            try? await store(Secret(""), at: provider)
        }
    }

    /// Removes the client of a provider, and has the provider delete it (RFC 7592 §2.3) unless a session uses it.
    /// - Parameter names: the sessions that the message may name.
    package func forget(
        _ params: ProviderParams, naming names: SessionNames = .all
    ) async throws(AgentError) -> ProviderForgotten {
        // The name becomes part of the key's name, so only known providers are accepted.
        guard let profile = context.providers.profile(named: params.provider) else {
            throw .unknownProvider(params.provider)
        }
        guard let client = try await stored(at: profile.name) else {
            return ProviderForgotten(
                isForgotten: false, message: "\(profile.title) has registered no client for authd.")
        }
        try await store(Secret(""), at: profile.name)
        var users: [SessionName] = []
        for session in registry.all {
            if await session.record.client?.id == client.id { users.append(session.name) }
        }
        guard users.isEmpty else {
            return ProviderForgotten(
                isForgotten: true,
                message: "The client is still registered at \(profile.title), as it renews these sessions: "
                    + "\(names.list(users.sorted())).")
        }
        do throws(ProviderFailure) {
            if try await context.providers.unregister(client, at: profile, sentAt: context.clock.now()) {
                return ProviderForgotten(isForgotten: true, isDeleted: true)
            }
        } catch {
            return ProviderForgotten(
                isForgotten: true,
                message: "\(profile.title) did not delete the client \(client.id): \(error.error.message)")
        }
        return ProviderForgotten(
            isForgotten: true,
            message:
                "\(profile.title) has no address to delete the client \(client.id) at (RFC 7592): delete it there.")
    }

    private func lock(of provider: String) -> AsyncLock {
        entries.withLock { entries in
            let entry = entries[provider] ?? Entry()
            entries[provider] = entry
            return entry.lock
        }
    }

    // MARK: The store

    private func stored(at provider: String) async throws(AgentError) -> RegisteredClient? {
        let text = try await converting(
            StoreError.self, try await keys?.key(for: .client(provider: provider)) ?? nil)
        return text.flatMap { try? JSON(parsing: $0.revealBytes()) }.flatMap {
            try? RegisteredClient.decode(stored: $0)
        }
    }

    private func store(_ text: Secret, at provider: String) async throws(AgentError) {
        try await converting(StoreError.self, try await keys?.save(text, for: .client(provider: provider)) ?? ())
    }
}
