import AuthConcurrency
import AuthMachines
import AuthModel
import AuthWire
import Synchronization

/// Carries out what a ``SignInMachine`` decides.
final class SignInPerformer: ActionPerformer {
    private let context: AgentContext
    private let registry: SessionRegistry
    private let clients: ClientRegistry
    /// `nil`: the user cannot be sent to a browser.
    private let dependencies: SignInDependencies?
    private let ended: @Sendable (Step) -> Void
    /// Where the browser comes back to.
    private let redirect = Mutex<BoundRedirect?>(nil)
    /// Ends the latest wait for a network: its task would keep the answers of a sign-in that has ended.
    private let networkWait = Mutex<OneShot<Void>?>(nil)

    private var now: Moment { context.clock.now() }
    private var providers: ProviderClient { context.providers }

    /// - Parameter ended: called once with the last step, before a caller gets it.
    init(
        context: AgentContext, registry: SessionRegistry, clients: ClientRegistry, dependencies: SignInDependencies?,
        ended: @escaping @Sendable (Step) -> Void
    ) {
        self.context = context
        self.registry = registry
        self.clients = clients
        self.dependencies = dependencies
        self.ended = ended
    }

    func perform(_ action: SignInAction, on runner: isolated Runner<SignInMachine>) {
        let machine = runner.read { machine in copy machine }
        let (form, session) = (machine.form, machine.session)
        if action.needsNetwork, isOffline(action, of: form) {
            runner.start { .networkMissing(action) }
            return
        }
        switch action {
        case .showPlaceholder(let status): context.board.put(placeholder: status)
        case .removePlaceholder: context.board.removePlaceholder(of: session, in: .signingIn)
        case .stopListening: redirect.withLock { $0.take() }?.listener.close()
        case .end(let last):
            networkWait.withLock { $0.take() }?.send(())
            ended(last)
        case .listen: runner.start { [self, runner] in await receiveVisits(for: runner, at: form.profile) }
        case .register(let refused):
            begin(runner, SignInEvent.registered) { [self] () async throws(AgentError) in
                try await clients.client(at: machine.plainAuthority, besides: refused) {
                    oauth async throws(AgentError) in
                    try await boundRedirect(oauth, at: machine.authority)?.listener.redirectURI ?? oauth.redirect.uri
                }
            }
        case .forgetRegistration(let client):
            let provider = machine.plainAuthority.name
            // At once: the next sign-in may begin before the store has done it.
            clients.refuse(client, at: provider)
            runner.start { [clients] in
                await clients.forget(client, at: provider)
                return nil
            }
        case .findServer(let makesKey):
            let key = makesKey ? dependencies?.cryptography.makeKey() : nil
            begin(runner, { .serverFound($0, proofKey: key) }) { [self] () async throws(AgentError) in
                guard !makesKey || key != nil else { throw .noBrowser(machine.authority) }
                return try await converting(
                    ProviderFailure.self, try await providers.server(of: machine.authority, at: now))
            }
        case .prepareBrowser(let server, let listens):
            begin(runner, SignInEvent.authorizationReady) { [self] () async throws(AgentError) in
                try await prepare(machine, server, listens: listens)
            }
        case .beginDevice:
            let sentAt = now
            begin(runner, { .deviceReady($0, sentAt: sentAt) }) { [self] () async throws(AgentError) in
                try await converting(
                    ProviderFailure.self,
                    try await providers.beginDevice(at: machine.authority, as: machine.client, sentAt: sentAt))
            }
        case .requestToken(let request):
            runner.start { [self] () async -> SignInEvent? in
                let sentAt = now
                do throws(ProviderFailure) {
                    let grant = try await token(with: request, for: machine, sentAt: sentAt)
                    return await identified(grant, with: request, for: machine, sentAt: sentAt)
                } catch {
                    return .tokenReceived(.failure(error), sentAt: sentAt)
                }
            }
        case .request(let part):
            runner.start { [self] () async -> SignInEvent? in
                let sentAt = now
                let response: Result<SignInResponse, ProviderFailure> = await Result(
                    of: try await providers.send(
                        part, of: form.method, at: form.profile, form.values, cookies: machine.cookies,
                        sentAt: sentAt))
                return .responded(part, response, sentAt: sentAt, former: context.board.status(session))
            }
        case .awaitNetwork(let end):
            let stop = OneShot<Void>()
            networkWait.withLock { $0 = stop }
            runner.start { [context] in
                await context.networkReturns(before: end, unless: stop) ? .networkReturned : nil
            }
        case .examine(let record):
            runner.start { [self] in
                // A failure does not end the sign-in: the user can be asked for later.
                var user: SignedInUser?
                if let record { user = try? await providers.fetchUser(record, sentAt: now) }
                // The origins of this sign-in: the server's metadata is still fresh.
                let origins = try? await providers.origins(of: form.profile, in: form.environment, at: now)
                return .examined(user: user, origins: origins, former: context.board.status(session))
            }
        case .install(let record, let sentAt, let revokesFormer):
            begin(runner, SignInEvent.installed) { [registry] () async throws(AgentError) in
                try await registry.signedIn(
                    record, sentAt: sentAt, revokesFormer: revokesFormer, reset: machine.passwordReplacement)
            }
        case .revoke(let record):
            runner.start { [self] in
                // If it fails, the tokens end by themselves.
                try? await providers.signOut(record, sentAt: now)
                return nil
            }
        case .requestReset:
            begin(runner, SignInEvent.passwordDone) { [self] () async throws(AgentError) in
                let message = try await converting(
                    ProviderFailure.self,
                    try await providers.ask(
                        form.method, at: form.profile, environment: form.environment, fields: form.fields,
                        sentAt: now))
                return (message, nil)
            }
        case .changePassword:
            begin(runner, SignInEvent.passwordDone) { [self] () async throws(AgentError) in
                try await changePassword(form, of: session)
            }
        }
    }

    /// The session's profile says whether to wait, even for a provider where the user proves who they are.
    private func isOffline(_ action: SignInAction, of form: SignInForm) -> Bool {
        switch action {
        case .request, .requestReset, .changePassword: break
        default:
            guard let proof = form.proof?.profile else { break }
            return context.isOffline(for: proof, in: proof.defaultEnvironment, as: form.profile.api)
        }
        return context.isOffline(for: form.profile, in: form.environment)
    }

    private func begin<Value: Sendable>(
        _ runner: isolated Runner<SignInMachine>,
        _ event: @escaping @Sendable (Result<Value, AgentError>) -> SignInEvent,
        _ work: @escaping @Sendable () async throws(AgentError) -> Value
    ) {
        runner.start { () async -> SignInEvent? in event(await Result(of: try await work())) }
    }

    // MARK: The authorization server

    /// An address that is bound already is used again: it was registered with its port.
    private func boundRedirect(_ oauth: OAuthProfile, at profile: ProviderProfile) async throws(AgentError)
        -> BoundRedirect?
    {
        guard let dependencies else { throw .noBrowser(profile) }
        if let bound = redirect.withLock({ $0 }) { return bound }
        let bound = try await dependencies.bindRedirect(for: oauth, at: now.wall)
        redirect.withLock { $0 = bound }
        return bound
    }

    private func prepare(
        _ machine: SignInMachine, _ server: OAuthServer, listens: Bool
    ) async throws(AgentError) -> BrowserAuthorization {
        let authority = machine.authority
        guard let dependencies, let oauth = authority.oauth else { throw .noBrowser(authority) }
        let redirect = listens ? try await boundRedirect(oauth, at: authority) : nil
        var attempt = try AuthorizationAttempt(
            profile: authority, oauth: oauth, server: server,
            redirectURI: redirect?.listener.redirectURI ?? oauth.redirect.uri, proofKey: machine.client.proofKey,
            cryptography: dependencies.cryptography)
        // The agent that has the browser pushes it.
        if machine.borrowsBrowser { return BrowserAuthorization(attempt: attempt, listens: false) }
        try await dependencies.push(
            &attempt, at: authority, server, as: machine.client,
            registers: machine.plainAuthority.oauth?.registers == true, isOpenedAtOnce: listens, providers, at: now)
        return BrowserAuthorization(attempt: attempt, listens: listens, fingerprint: redirect?.fingerprint)
    }

    /// Until a visit belongs to this sign-in. Its browser is shown the result.
    private func receiveVisits(
        for runner: Runner<SignInMachine>, at profile: ProviderProfile
    ) async -> SignInEvent? {
        guard let listener = redirect.withLock({ $0?.listener }) else { return nil }
        for await visit in listener.visits {
            switch try? await runner.ask({ .redirected($0, uri: nil, query: visit.query) }) {
            case .failure?:
                visit.show(.unrelated)
                continue
            case .success(let step)? where step.kind == .done: visit.show(.done(profile.title))
            case .success(let step)?:
                visit.show(.failed(step.error?.message ?? step.message ?? "The sign-in has ended."))
            case nil: visit.show(.failed(AgentError.stopping.message))
            }
            break
        }
        return nil
    }

    private func token(
        with request: SignInTokenRequest, for machine: SignInMachine, sentAt: Moment
    ) async throws(ProviderFailure) -> Grant {
        try await providers.token(of: machine.authority, as: machine.client, purpose: .signIn, sentAt: sentAt) {
            requests throws(AgentError) in
            switch request {
            case .clientCredentials: try requests.clientCredentials()
            case .refreshToken(let token): try requests.refresh(token)
            case .code(let code, let attempt): try requests.code(code, of: attempt)
            case .deviceCode(let device): try requests.deviceToken(device)
            }
        }
    }

    /// Finds out from the ID token who has signed in.
    private func identified(
        _ grant: Grant, with request: SignInTokenRequest, for machine: SignInMachine, sentAt: Moment
    ) async -> SignInEvent {
        var grant = grant
        var nonce: String?
        switch request {
        case .clientCredentials: return .tokenReceived(.success(grant), sentAt: sentAt)
        case .code(_, let attempt): nonce = attempt.nonce
        case .refreshToken, .deviceCode: break
        }
        if let dependencies {
            do throws(ProviderFailure) {
                grant = try await providers.identified(
                    grant, at: machine.authority, nonce: nonce, cryptography: dependencies.cryptography, now: now)
            } catch {
                // A code can be exchanged only once: repeating the request would fail.
                guard case .refreshToken = request, machine.form.proof == nil else {
                    return .idTokenRejected(grant, error.error)
                }
                // The refresh token that was given may be used up: a refusal would lose the session. The user is read from
                // UserInfo instead.
                (grant.idToken, grant.isUserUnverified) = (nil, true)
                grant.message = "The ID token was not used. \(error.error.message)"
            }
        }
        return .tokenReceived(.success(grant), sentAt: sentAt)
    }

    // MARK: Passwords

    private func changePassword(
        _ form: SignInForm, of name: SessionName
    ) async throws(AgentError) -> (message: String?, status: SessionStatus?) {
        let session = try await registry.session(name)
        let (message, record) = try await session.withToken { [self] record throws(ProviderFailure) in
            try await providers.perform(form.method, record, fields: form.fields, sentAt: now)
        }
        if let field = form.method.newPasswordField, let password = form.fields[field.name] {
            let remembered = form.profile.repeatedMethod?.passwordField?.name
            await session.handle(.passwordSet(password, rememberedAs: remembered), learnedWith: record)
            try await session.write()
        }
        return (message, try registry.status(name))
    }
}

extension AgentError {
    fileprivate static func noBrowser(_ profile: ProviderProfile) -> AgentError {
        AgentError(.unsupported, "This agent cannot sign in to \(profile.title) with a browser.")
    }
}
