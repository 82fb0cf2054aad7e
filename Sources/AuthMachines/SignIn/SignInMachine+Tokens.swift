package import AuthModel
import AuthWire

/// The way to the authorization server and back, and what becomes of the tokens.
extension SignInMachine {
    /// The provider whose authorization server the user goes to.
    package var plainAuthority: ProviderProfile {
        var profile = form.proof?.profile ?? form.profile
        if let lentScopes { profile.oauth?.scopes = lentScopes }
        return profile
    }

    /// The same, as the client that it has registered.
    package var authority: ProviderProfile {
        plainAuthority.known(as: registration).withClient(
            form.fields[OAuthField.clientID], hasSecret: form.fields[OAuthField.clientSecret] != nil)
    }

    /// The client that asks there.
    package var client: OAuthClient {
        OAuthClient(
            secret: registration?.secret ?? form.fields[OAuthField.clientSecret] ?? form.fields[OAuthField.clientKey],
            proofKey: proofKey)
    }

    /// The server may have forgotten the client that it registered, or the port that it knows is in use: then it is asked
    /// once more, as a new client.
    func mayRegisterAgain(after error: AgentError) -> Bool {
        guard !hasRegisteredAgain, let oauth = plainAuthority.oauth, oauth.registers else { return false }
        return error.isUnknownClient || (error.cause == AgentError.redirectPort && oauth.redirect.isAtAnyPort)
    }

    func forgetRegistration(_ turn: inout SignInTurn) {
        if let registration { turn.act(.forgetRegistration(registration)) }
    }

    func findServer(_ turn: inout SignInTurn) {
        turn.act(.findServer(makesKey: authority.oauth?.bindsTokens == true && proofKey == nil))
    }

    mutating func serverFound(
        _ server: OAuthServer, _ key: Secret?, _ turn: inout SignInTurn
    ) throws(AgentError) {
        guard case .authorizing(let flow) = stage else { return }
        proofKey = key ?? proofKey
        if key != nil, let algorithms = server.proofAlgorithms, !algorithms.contains("ES256") {
            throw AgentError(
                .unsupported,
                "\(authority.title) does not accept proofs with ES256 (RFC 9449), which its profile requires.")
        }
        if borrowsBrowser { return try borrow(for: flow, server, &turn) }
        let (hasDevices, hasPage) = (server.endpoints.deviceAuthorization != nil, server.endpoints.authorization != nil)
        let listens = flow == .browser && hasBrowser && (hasPage || !hasDevices)
        // Its address was bound before it was registered.
        if !listens { turn.act(.stopListening) }
        switch flow {
        case .service: turn.act(.requestToken(.clientCredentials))
        case .importing: turn.act(.requestToken(.refreshToken(form.fields[OAuthField.refreshToken] ?? Secret(""))))
        case .browser where !listens && hasDevices, .device: turn.act(.beginDevice)
        case .browser, .paste: turn.act(.prepareBrowser(server, listens: listens))
        }
    }

    mutating func authorizationReady(_ authorization: BrowserAuthorization, _ turn: inout SignInTurn) {
        attempt = authorization.attempt
        if borrowsBrowser { return askToLend(authorization.attempt.lend, &turn) }
        guard authorization.listens else { return askForAddress(&turn) }
        stage = .inBrowser(authorization, until: turn.now.boot + AuthorizationAttempt.timeout)
        turn.act(.listen)
        replyAway(&turn)
    }

    /// - Parameter uri: what the desktop was called with; `nil`: a browser, which waits for the page of the next step.
    mutating func redirected(_ caller: CallerID, _ uri: String?, _ query: String, _ turn: inout SignInTurn) {
        guard case .inBrowser(let authorization, _) = stage, let step = stepAway(at: turn.now),
            uri.map({ $0.utf8.elementsEqual(authorization.attempt.redirectURI.utf8) }) ?? true
        else { return turn.reply(.failure(.unknownAddress), to: caller) }
        if uri == nil { waiting.append(caller) }
        let isAccepted = accept(authorization.attempt.read(query), &turn)
        if uri == nil, isAccepted { return }
        waiting.removeAll { $0 == caller }
        turn.reply(isAccepted ? .success(step) : .failure(.unknownAddress), to: caller)
    }

    /// - Returns: `false` if it was not this sign-in that sent the browser.
    mutating func accept(_ answer: AuthorizationAttempt.Answer, _ turn: inout SignInTurn) -> Bool {
        switch answer {
        case .unrelated: return false
        case .refused(let error): failed(error, &turn)
        case .code(let code):
            guard let attempt else { return false }
            // There is one response. Any other visitor is unrelated.
            turn.act(.stopListening)
            stage = .exchangingCode
            turn.act(.requestToken(.code(code, attempt)))
        }
        return true
    }

    mutating func tokenReceived(
        _ result: Result<Grant, ProviderFailure>, _ sentAt: Moment, _ turn: inout SignInTurn
    ) throws(AgentError) {
        var grant: Grant
        if case .atDevice(let device, var poll, _) = stage {
            guard let received = try poll.handle(result, at: turn.now.boot) else {
                return stage = .atDevice(device, poll, isAsking: false)
            }
            grant = received
        } else {
            grant = try result.mapError(\.error).get()
        }
        if let given = form.fields[OAuthField.refreshToken] {
            // One that did not rotate is still the one that was given.
            grant.refreshToken = grant.refreshToken ?? given
            let other = "Remove the refresh token from the other program: if both renew with it, the session ends."
            grant.message = [grant.message, other].compactMap(\.self).joined(separator: "\n")
        }
        attempt = nil
        guard form.proof == nil else {
            // The device grant is not part of OpenID Connect and may end without one.
            guard let idToken = grant.idToken else { throw .noProof(authority, for: form.profile) }
            form.prove(with: idToken)
            return proceed(&turn)
        }
        // Their life began when they were requested, however long that took.
        held = (grant, sentAt)
        examine(fetchesUser: form.method.flow != .service, &turn)
    }

    mutating func examine(fetchesUser: Bool, _ turn: inout SignInTurn) {
        stage = .examining
        guard fetchesUser, let held else { return turn.act(.examine(user: nil)) }
        turn.act(.examine(user: try? record(from: held.grant, at: turn.now)))
    }

    mutating func examined(
        _ user: SignedInUser?, _ origins: TokenOrigins?, _ turn: inout SignInTurn
    ) throws(AgentError) {
        guard var grant = held?.grant, let sentAt = held?.sentAt else { return }
        // What is said of another user is not about this one (OpenID Connect Core 1.0 §5.3.2).
        if let user,
            grant.user == nil || form.profile.userRequest != nil
                || user.raw["sub"]?.stringValue == grant.rawUser?["sub"]?.stringValue
        {
            (grant.user, grant.rawUser) = (user.summary, user.raw)
            held?.grant = grant
        }
        // The account was chosen on another machine, and the user of this one may not have seen it.
        if let change = unapprovedChange(to: grant.user, mustBeKnown: borrowsBrowser || grant.isUserUnverified) {
            return ask(about: change, &turn)
        }
        var record = try record(from: grant, former: former, at: turn.now)
        record.origins = origins ?? form.profile.origins(in: form.environment)
        let change = AccountChange(of: session, from: former, to: grant.user, at: form.environment)
        stage = .installing
        turn.act(.install(record, sentAt: sentAt, revokesFormer: change != nil))
    }
}
