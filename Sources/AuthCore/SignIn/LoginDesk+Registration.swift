internal import AuthWire

/// Who we are at a provider that nobody has registered us at.
extension LoginDesk {
    /// With what the provider knows us as, where it registers us itself.
    /// - Parameter anew: it does not know what we were.
    func registered(_ login: Login, anew: Bool = false) async throws(AgentError) -> Login {
        let profile = login.authority
        guard profile.oauth?.registers == true, anew || login.registration == nil else { return login }
        guard let tools else { throw .noTools(login) }
        let now = table.clock.now()
        let server = try await table.provider.server(of: profile, at: now).mapError(\.error).get()
        let issuer = server.issuer ?? ""
        // What another sign-in has us registered as meanwhile is good for this one too.
        let refused = anew ? try await kept(profile, tools)?.id : nil
        try await waitForRegistration(at: profile.name)
        registering[profile.name] = []
        defer { for waiting in registering.removeValue(forKey: profile.name) ?? [] { waiting.finish() } }
        var login = login
        if let kept = try await kept(profile, tools), kept.id != refused, kept.isGood(at: issuer, now.wall),
            await table.provider.knows(kept, at: profile)
        {
            login.registration = kept
            return login
        }
        let client = try await table.provider.register(at: profile, server: server, sentAt: now)
            .mapError(\.error).get()
        try await keep(client, profile, tools)
        login.registration = client
        return login
    }

    /// The provider does not know us any more: the next sign-in has it register us anew. One that does not tell whom it
    /// knows shows a stranger's browser a page, from which nobody comes back.
    func forgetRegistration(_ login: Login, after error: AgentError) async {
        guard let registration = login.registration, let tools,
            error.isUnknownClient || (error.kind == .timeout && registration.place == nil)
        else { return }
        // A registration that cannot be forgotten now is refused again, and then forgotten.
        try? await tools.keys.keep(Secret(""), for: .client(provider: login.authority.name))
    }

    private func waitForRegistration(at provider: String) async throws(AgentError) {
        while registering[provider] != nil {
            let (over, continuation) = AsyncStream<Never>.makeStream()
            registering[provider]?.append(continuation)
            for await _ in over {}
            guard !Task.isCancelled else { throw .cancelledLogin }
        }
    }

    private func kept(_ profile: ProviderProfile, _ tools: SignInTools) async throws(AgentError) -> RegisteredClient? {
        do throws(StoreError) {
            guard let text = try await tools.keys.key(for: .client(provider: profile.name)) else { return nil }
            return (try? JSON(parsing: text.revealBytes())).flatMap(RegisteredClient.init(stored:))
        } catch {
            throw AgentError(error)
        }
    }

    /// Before it is used: what the provider gave is asked for once.
    private func keep(
        _ client: RegisteredClient, _ profile: ProviderProfile, _ tools: SignInTools
    ) async throws(AgentError) {
        do throws(StoreError) {
            try await tools.keys.keep(
                Secret(bytes: client.json.serialized()), for: .client(provider: profile.name))
        } catch {
            throw AgentError(error)
        }
    }
}

extension AgentError {
    /// RFC 6749 §5.2; RFC 6750 §3.1 has another word for the same at an API.
    var isUnknownClient: Bool { cause == "invalid_client" }
}
