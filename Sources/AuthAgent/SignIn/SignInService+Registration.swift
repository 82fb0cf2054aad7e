import AuthMachines
import AuthModel
package import AuthWire

/// Who we are at a provider that nobody has registered us at.
extension SignInService {
    /// With what the provider knows us as, where it registers us itself.
    /// - Parameter fromScratch: it does not know what we were, or what it knows cannot be used.
    func registered(_ login: SignInProgress, fromScratch: Bool = false) async throws(AgentError) -> SignInProgress {
        let profile = login.plainAuthority
        guard let oauth = profile.oauth, oauth.registers, fromScratch || login.registration == nil else { return login }
        guard let tools else { throw .noTools(login) }
        let now = context.clock.now()
        let server = try await context.providers.server(of: profile, at: now).mapError(\.error).get()
        let issuer = server.issuer ?? ""
        // What another sign-in has us registered as meanwhile is good for this one too.
        let refused = fromScratch ? try await kept(profile, tools)?.id : nil
        try await waitForRegistration(at: profile.name)
        registering[profile.name] = []
        defer { for waiting in registering.removeValue(forKey: profile.name) ?? [] { waiting.finish() } }
        var login = login
        if let kept = try await kept(profile, tools), kept.id != refused,
            kept.isUsable(at: issuer, for: oauth, now.wall), await context.providers.knows(kept, at: profile)
        {
            login.registration = kept
            return login
        }
        login.registration = try await register(login, profile, oauth, server, tools)
        return login
    }

    /// The address of the browser's way back is bound first: many servers compare it with its port.
    private func register(
        _ login: SignInProgress, _ profile: ProviderProfile, _ oauth: OAuthProfile, _ server: OAuthServer,
        _ tools: SignInDependencies
    ) async throws(AgentError) -> RegisteredClient {
        var profile = profile
        if oauth.redirect.isAtAnyPort {
            let redirect = try await listen(oauth, tools)
            bound.removeValue(forKey: login.id)?.listener.close()
            bound[login.id] = redirect
            profile.oauth?.redirect = RedirectTarget(redirect.listener.redirectURI) ?? oauth.redirect
        }
        let client = try await context.providers.register(at: profile, server: server, sentAt: context.clock.now())
            .mapError(\.error).get()
        try await keep(client, profile, tools)
        return client
    }

    /// The provider does not know us any more: the next sign-in has it register us anew. One that does not tell whom it
    /// knows shows a stranger's browser a page, from which nobody comes back.
    func forgetRegistration(_ login: SignInProgress, after error: AgentError) async {
        guard let registration = login.registration,
            error.isUnknownClient || (error.kind == .timeout && registration.place == nil)
        else { return }
        await dropRegistration(of: login)
    }

    /// The next sign-in registers again. Sessions that were signed in with this one still renew with it.
    func dropRegistration(of login: SignInProgress) async {
        guard let registration = login.registration, let tools,
            (try? await kept(login.plainAuthority, tools))?.id == registration.id
        else { return }
        // A registration that cannot be forgotten now is refused again, and then forgotten.
        try? await tools.keys.save(Secret(""), for: .client(provider: login.plainAuthority.name))
    }

    /// Drops what a provider has registered us as, and has the provider delete it (RFC 7592 §2.3) unless a session uses it.
    package func forgetProvider(_ params: ProviderParams) async throws(AgentError) -> ProviderForgotten {
        // The name is part of the key's: only those that there are.
        guard let profile = context.catalog.profiles[params.provider] else { throw .unknownProvider(params.provider) }
        guard let tools, let client = try await kept(profile, tools) else {
            return ProviderForgotten(
                isForgotten: false, message: "\(profile.title) has registered no client for authd.")
        }
        do throws(StoreError) {
            try await tools.keys.save(Secret(""), for: .client(provider: profile.name))
        } catch {
            throw AgentError(error)
        }
        var users: [String] = []
        for session in registry.sessions {
            if await session.record.client?.id == client.id { users.append(session.name.text) }
        }
        guard users.isEmpty else {
            return ProviderForgotten(
                isForgotten: true,
                message: "The client is still registered at \(profile.title), as it renews these sessions: "
                    + "\(users.sorted().joined(separator: ", ")).")
        }
        switch await context.providers.unregister(client, at: profile, sentAt: context.clock.now()) {
        case nil:
            return ProviderForgotten(
                isForgotten: true,
                message:
                    "\(profile.title) has no address to delete the client \(client.id) at (RFC 7592): delete it there.")
        case .success: return ProviderForgotten(isForgotten: true, isDeleted: true)
        case .failure(let failure):
            return ProviderForgotten(
                isForgotten: true,
                message: "\(profile.title) did not delete the client \(client.id): \(failure.error.message)")
        }
    }

    private func waitForRegistration(at provider: String) async throws(AgentError) {
        while registering[provider] != nil {
            let (over, continuation) = AsyncStream<Never>.makeStream()
            registering[provider]?.append(continuation)
            for await _ in over {}
            guard !Task.isCancelled else { throw .cancelledLogin }
        }
    }

    private func kept(_ profile: ProviderProfile, _ tools: SignInDependencies) async throws(AgentError)
        -> RegisteredClient?
    {
        do throws(StoreError) {
            guard let text = try await tools.keys.key(for: .client(provider: profile.name)) else { return nil }
            return (try? JSON(parsing: text.revealBytes())).flatMap(RegisteredClient.init(stored:))
        } catch {
            throw AgentError(error)
        }
    }

    /// Before it is used: what the provider gave is asked for once.
    private func keep(
        _ client: RegisteredClient, _ profile: ProviderProfile, _ tools: SignInDependencies
    ) async throws(AgentError) {
        do throws(StoreError) {
            try await tools.keys.save(
                Secret(bytes: client.json.serialized()), for: .client(provider: profile.name))
        } catch {
            throw AgentError(error)
        }
    }
}
