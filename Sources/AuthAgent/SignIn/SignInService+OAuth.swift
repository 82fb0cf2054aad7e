internal import AuthMachines
internal import AuthModel
internal import AuthWire

/// The part of a sign-in that happens at an authorization server.
extension SignInService {
    /// Begins a flow, or goes on with what a person brought back.
    /// - Returns: the sign-in as it goes on: with a grant, with its person away, or with a question.
    func authorize(_ login: SignInProgress, _ flow: OAuthFlow) async -> Result<SignInProgress, AgentError> {
        let result = await begin(login, flow)
        // The server may have forgotten whom it registered, or the port that it knows is in use: once more, as a new client.
        // A code would be the former one's.
        guard case .failure(let error) = result, let oauth = login.plainAuthority.oauth, oauth.registers,
            error.isUnknownClient || (error.cause == AgentError.redirectPort && oauth.redirect.isAtAnyPort),
            login.attempt == nil
        else { return result }
        return await begin(login, flow, registersAnew: true)
    }

    private func begin(
        _ login: SignInProgress, _ flow: OAuthFlow, registersAnew: Bool = false
    ) async -> Result<SignInProgress, AgentError> {
        // Only the browser's flow listens where its registration says.
        defer { bound.removeValue(forKey: login.id)?.listener.close() }
        do throws(AgentError) {
            let login = try await keyed(registered(login, fromScratch: registersAnew))
            switch flow {
            case .service: return .success(try await serve(login))
            case .importing: return .success(try await takeOver(login))
            case .device: return .success(try await beginDevice(login))
            case .browser:
                let endpoints = try await context.providers.server(of: login.authority, at: context.clock.now())
                    .mapError(\.error).get().endpoints
                let mayComeBack = login.hasBrowser && endpoints.authorization != nil
                if !mayComeBack, endpoints.deviceAuthorization != nil { return .success(try await beginDevice(login)) }
                return .success(login.hasBrowser ? try await openBrowser(login) : try await paste(login))
            case .paste: return .success(try await paste(login))
            }
        } catch {
            return .failure(error)
        }
    }

    /// With the key that its tokens will be bound to, where the profile wants them bound.
    private func keyed(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        guard login.authority.oauth?.bindsTokens == true, login.proofKey == nil else { return login }
        guard let tools else { throw .noTools(login) }
        let server = try await context.providers.server(of: login.authority, at: context.clock.now()).mapError(\.error)
            .get()
        if let taken = server.proofAlgorithms, !taken.contains("ES256") {
            throw AgentError(
                .unsupported,
                "\(login.authority.title) does not take proofs by ES256 (RFC 9449), and its profile wants them.")
        }
        var login = login
        login.proofKey = tools.cryptography.makeKey()
        return login
    }

    private func serve(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        let answer = await context.providers.token(
            of: login.authority, as: login.client, purpose: .signIn, sentAt: context.clock.now()
        ) { requests throws(AgentError) in try requests.clientCredentials() }
        var login = login
        login.authorized(try answer.mapError(\.error).get(), at: context.clock.now())
        return login
    }

    /// From the answer on the refresh token is ours; one that did not rotate is still what was given.
    private func takeOver(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        guard let given = login.fields[OAuthField.refreshToken] else { throw .cancelledLogin }
        let answer = await context.providers.token(
            of: login.authority, as: login.client, purpose: .signIn, sentAt: context.clock.now()
        ) { requests throws(AgentError) in try requests.refresh(given) }
        var grant = try await identified(answer.mapError(\.error), for: login, nonce: nil).get()
        grant.refreshToken = grant.refreshToken ?? given
        grant.message = "Remove the refresh token from where it came from: two that renew by one end the session."
        var login = login
        login.authorized(grant, at: context.clock.now())
        return login
    }

    private func beginDevice(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        let sentAt = context.clock.now()
        let device = try await context.providers.beginDevice(at: login.authority, as: login.client, sentAt: sentAt)
            .mapError(\.error).get()
        guard isInProgress(login.id) else { throw .cancelledLogin }
        var login = login
        login.sendAway(.device(device), until: sentAt.boot + device.lifetime, at: sentAt)
        let waiting = login
        work(for: login.id) { [context] in
            guard let result = await context.poll(device, at: waiting.authority, waiting.client, from: sentAt) else {
                return
            }
            await self.came(waiting.id, await self.identified(result, for: waiting, nonce: nil))
        }
        return login
    }

    // MARK: The browser

    private func openBrowser(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        guard let tools, let oauth = login.authority.oauth else { throw .noTools(login) }
        let redirect: ListeningRedirect
        if let held = bound.removeValue(forKey: login.id) {
            redirect = held
        } else {
            redirect = try await listen(oauth, tools)
        }
        let (listener, fingerprint) = redirect
        do throws(AgentError) {
            let attempt = try await attempt(login, tools, oauth, redirectURI: listener.redirectURI)
            guard isInProgress(login.id) else { throw .cancelledLogin }
            let now = context.clock.now()
            let end = now.boot + AuthorizationAttempt.timeout
            var trip = SignInProgress.BrowserRedirect(url: attempt.url, fingerprint: fingerprint)
            if let mailbox = listener as? SchemeRedirectListener, case .scheme(let redirect) = oauth.redirect {
                schemeListeners[login.id] = (attempt, mailbox)
                trip.scheme = redirect.scheme
            }
            var login = login
            login.sendAway(.browser(trip), until: end, at: now)
            let waiting = login
            work(for: login.id) {
                await withTaskGroup(of: Void.self) { group in
                    group.addTask { await self.receive(attempt, at: listener, for: waiting) }
                    group.addTask { await self.expire(waiting.id, at: end) }
                    await group.next()
                    group.cancelAll()
                }
                listener.close()
            }
            return login
        } catch {
            listener.close()
            throw error
        }
    }

    /// Waits for the one visit that is this sign-in's, and shows its person how it ended.
    private func receive(_ attempt: AuthorizationAttempt, at listener: any RedirectListener, for login: SignInProgress)
        async
    {
        for await visit in listener.visits {
            let result: Result<Grant, AgentError>
            switch attempt.read(visit.query) {
            case .unrelated:
                visit.show(.unrelated)
                continue
            case .refused(let error): result = .failure(error)
            case .code(let code):
                // One answer is all there is: whoever comes now is a stranger to it.
                listener.close()
                result = await exchange(code, attempt, login)
            }
            let step = await came(login.id, result)
            visit.show(
                step.kind == .done
                    ? .done(login.profile.title)
                    : .failed(step.error?.message ?? step.message ?? "The sign-in has ended."))
            return
        }
    }

    private func expire(_ id: String, at end: BootInstant) async {
        do {
            try await context.clock.sleep(until: end)
        } catch {
            return
        }
        await came(id, .failure(AgentError(.timeout, "Nobody came back from the browser in time.")))
    }

    private func paste(_ login: SignInProgress) async throws(AgentError) -> SignInProgress {
        guard let tools, let oauth = login.authority.oauth else { throw .noTools(login) }
        var login = login
        guard let attempt = login.attempt, let address = login.fields[OAuthField.address.name] else {
            let attempt = try await attempt(login, tools, oauth, redirectURI: oauth.redirect.uri)
            login.askForAddress(of: attempt, at: context.clock.now())
            return login
        }
        switch attempt.read(address: address.reveal()) {
        case .unrelated:
            login.askForAddress(
                of: attempt, message: "This is not the address that this sign-in ends at.", at: context.clock.now())
        case .refused(let error): throw error
        case .code(let code):
            login.authorized(try await exchange(code, attempt, login).get(), at: context.clock.now())
        }
        return login
    }

    private func attempt(
        _ login: SignInProgress, _ tools: SignInDependencies, _ oauth: OAuthProfile, redirectURI: String
    ) async throws(AgentError) -> AuthorizationAttempt {
        let server = try await context.providers.server(of: login.authority, at: context.clock.now()).mapError(\.error)
            .get()
        var attempt = try AuthorizationAttempt(
            profile: login.authority, oauth: oauth, server: server, redirectURI: redirectURI, proofKey: login.proofKey,
            cryptography: tools.cryptography)
        let isDemanded = server.requiresPushedRequests || oauth.requiresPushedRequests
        guard isDemanded || server.endpoints.pushedAuthorization != nil else { return attempt }
        switch await context.providers.push(attempt, at: login.authority, as: login.client, sentAt: context.clock.now())
        {
        case .success(let name): attempt.pushed(as: name)
        case .failure(let failure):
            // Where nothing can be reached, a browser comes no further.
            guard !isDemanded, ![.offline, .captivePortal].contains(failure.error.kind),
                !(failure.error.isUnknownClient && login.registration != nil)
            else { throw failure.error }
            tools.note(
                "\(login.authority.title) did not take the request before the browser (RFC 9126), so the browser carries "
                    + "all of it: \(failure.error.message)")
        }
        return attempt
    }

    private func exchange(
        _ code: Secret, _ attempt: AuthorizationAttempt, _ login: SignInProgress
    ) async -> Result<Grant, AgentError> {
        let answer = await context.providers.token(
            of: login.authority, as: login.client, purpose: .signIn, sentAt: context.clock.now()
        ) { requests throws(AgentError) in try requests.code(code, of: attempt) }
        return await identified(answer.mapError(\.error), for: login, nonce: attempt.nonce)
    }

    /// The grant, with the user of its ID token.
    private func identified(
        _ answer: Result<Grant, AgentError>, for login: SignInProgress, nonce: String?
    ) async -> Result<Grant, AgentError> {
        guard let tools, case .success(let grant) = answer else { return answer }
        guard login.proof == nil || grant.idToken != nil else { return .failure(.noProof(login)) }
        return await context.providers.identified(
            grant, at: login.authority, nonce: nonce, cryptography: tools.cryptography, now: context.clock.now()
        ).mapError(\.error)
    }

    /// The grant, with the user where the provider tells who that is. A failure there ends no sign-in: the user can be
    /// asked for later.
    func withUser(_ grant: Grant, _ login: SignInProgress) async -> Grant {
        guard login.method.flow != .service,
            let record = try? login.record(from: grant, former: nil, now: context.clock.now()),
            case .success(let user) = await context.providers.fetchUser(record, sentAt: context.clock.now())
        else { return grant }
        // What is said of another person is not about this one (OpenID Connect Core 1.0 §5.3.2).
        let isSame = grant.user == nil || user.raw["sub"]?.stringValue == grant.rawUser?["sub"]?.stringValue
        guard isSame || login.profile.userRequest != nil else { return grant }
        var grant = grant
        grant.user = user.summary
        grant.rawUser = user.raw
        return grant
    }
}

extension AgentContext {
    /// Asks again and again whether the user has given the code.
    /// - Returns: `nil` if the sign-in was cancelled meanwhile.
    func poll(
        _ device: DeviceAuthorization, at profile: ProviderProfile, _ client: OAuthClient, from start: Moment
    ) async -> Result<Grant, AgentError>? {
        var poll = DevicePoll(device, from: start.boot)
        while true {
            do {
                try await clock.sleep(until: poll.wakeAt)
            } catch {
                return nil
            }
            if let end = poll.end(at: clock.now().boot) { return .failure(end) }
            let answer = await providers.token(
                of: profile, as: client, purpose: .signIn, sentAt: clock.now()
            ) { requests throws(AgentError) in try requests.deviceToken(device) }
            switch poll.take(answer, at: clock.now().boot) {
            case .again: continue
            case .granted(let grant): return .success(grant)
            case .ended(let error): return .failure(error)
            }
        }
    }
}

extension AgentError {
    static func noTools(_ login: SignInProgress) -> AgentError {
        AgentError(.unsupported, "This agent cannot sign in to \(login.authority.title) by a browser.")
    }

    /// The device grant, which is no part of OpenID Connect, may end without one.
    fileprivate static func noProof(_ login: SignInProgress) -> AgentError {
        AgentError(
            .badReply, "\(login.authority.title) gave no ID token, which \(login.profile.title) is to be shown.",
            cause: "id_token", retryable: false)
    }
}
