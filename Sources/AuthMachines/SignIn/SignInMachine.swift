package import AuthModel
package import AuthWire

/// One sign-in, or one thing done about a password: what was chosen, what was given so far, and what comes next.
///
/// Invariants:
/// 1. It ends once. Each caller gets one reply; those that still wait at the end get the last step.
/// 2. Nothing is installed after its end. Tokens that the provider has given are installed or revoked, never both.
/// 3. At most one request is in progress, so a result belongs to the present stage or to a sign-in that has ended.
package struct SignInMachine: Machine {
    package enum Purpose: Sendable, Equatable {
        case signIn
        case password(PasswordAction)

        /// Whether it ends with a session.
        package var signsIn: Bool { self == .signIn || self == .password(.reset) }
    }

    private enum Stage {
        case new
        case asking(SignInQuestion)
        case sendingChallenge(Challenge)
        case registering(OAuthFlow)
        case findingServer(OAuthFlow)
        case preparingBrowser(listens: Bool)
        case beginningDevice
        /// The user is in a browser that comes back by itself.
        case inBrowser(BrowserAuthorization, until: BootInstant)
        /// The user is at another device.
        case atDevice(DeviceAuthorization, DevicePoll, isAsking: Bool)
        /// The client or a refresh token is traded for tokens.
        case requestingToken(OAuthFlow)
        case exchangingCode
        case signingIn
        /// The provider is asked about the tokens that it gave.
        case examining
        /// It is too late to cancel: the session learns of the tokens.
        case installing
        case changingPassword
        case ended
    }

    /// A sign-in that waits for its user ends after this time: more than an e-mailed code is usually good for.
    package static let abandonedAfter = Duration.seconds(900)
    package static let wake = SignInEvent.wake
    package static func callerGone(_ caller: CallerID) -> SignInEvent { .callerGone(caller) }

    package let id: String
    package let session: SessionName
    package let purpose: Purpose
    package private(set) var form: SignInForm
    /// The answers are kept, so that the session can sign in again.
    private let remembers: Bool
    /// Whether the user has a browser on this machine.
    private let hasBrowser: Bool
    /// What the user is told at the end.
    private let note: String?
    private let signIn: SignInID
    /// The session may be given to another account: the user said so, beforehand or when asked.
    private var mayReplaceAccount: Bool

    private var stage = Stage.new
    private var lastTouched: BootInstant
    /// As the session was when it was last looked at.
    private var former: SessionStatus?
    /// What the user is asked to agree to.
    private var accountChange: AccountChange?
    /// Tokens that belong to no session yet.
    private var held: (grant: Grant, sentAt: Moment)?
    /// The user's way to an authorization server, until they are back.
    private var attempt: AuthorizationAttempt?
    /// What the authorization server has registered us as.
    private var registration: RegisteredClient?
    private var hasRegisteredAgain = false
    /// What the tokens are bound to.
    private var proofKey: Secret?

    /// The caller that began it, until it knows the sign-in.
    private var starter: CallerID?
    /// The caller whose request is worked on. It gets the next step of any kind.
    private var asker: CallerID?
    /// Those that wait for a question or the end.
    private var waiting: [CallerID] = []

    /// - Parameter catalog: the other providers, where a user may prove who they are.
    /// - Throws: `validation` for an environment, method or field that the profile does not have, and for answers that
    ///   cannot be remembered.
    package init(
        id: String, params: LoginStart, profile: ProviderProfile, catalog: ProfileCatalog, signIn: SignInID = .random(),
        now: Moment
    ) throws(AgentError) {
        let exchange = ProviderExchange(profile: profile)
        let method = try exchange.method(named: params.method)
        let repeated = exchange.repeatedMethod
        if params.remember, let repeated, repeated.name != method.name {
            throw AgentError(
                .validation,
                "\(method.label) at \(profile.title) cannot be remembered, as it cannot be done twice: choose the method "
                    + "\(repeated.name).")
        }
        self.id = id
        session = if let name = params.session { name } else { try SessionName(profile.name) }
        purpose = .signIn
        form = try SignInForm(
            profile: profile, environment: exchange.environment(named: params.environment).name, method: method,
            proof: IdentityProof(for: method, in: catalog), answers: params.fields)
        remembers = params.remember && repeated != nil
        hasBrowser = params.hasBrowser
        note = params.remember && repeated == nil ? Self.nothingRemembered(profile) : nil
        self.signIn = signIn
        mayReplaceAccount = params.replaceAccount
        lastTouched = now.boot
    }

    /// Something done about a password.
    package init(
        id: String, session: SessionName, action: PasswordAction, method: SignInMethod, profile: ProviderProfile,
        environment: String?, params: PasswordParams, signIn: SignInID = .random(), now: Moment
    ) throws(AgentError) {
        self.id = id
        self.session = session
        purpose = .password(action)
        form = try SignInForm(
            profile: profile, environment: ProviderExchange(profile: profile).environment(named: environment).name,
            method: method, proof: nil, answers: params.fields)
        remembers = false
        hasBrowser = true
        note = nil
        self.signIn = signIn
        mayReplaceAccount = params.replaceAccount
        lastTouched = now.boot
    }

    private static func nothingRemembered(_ profile: ProviderProfile) -> String {
        profile.renewal.kind == .none
            ? "Nothing is remembered: no sign-in of \(profile.title) can be made again without you."
            : "Nothing is remembered: sessions of \(profile.title) are renewed without it."
    }

    /// The provider whose authorization server the user goes to.
    package var plainAuthority: ProviderProfile { form.proof?.profile ?? form.profile }

    /// The same, as the client that it has registered.
    package var authority: ProviderProfile { plainAuthority.known(as: registration) }

    /// The client that asks there.
    package var client: OAuthClient {
        OAuthClient(
            secret: registration?.secret ?? form.fields[OAuthField.clientSecret] ?? form.fields[OAuthField.clientKey],
            proofKey: proofKey)
    }

    // MARK: Events

    package mutating func handle(_ event: SignInEvent, in turn: inout SignInTurn) {
        switch event {
        case .begun(let caller, let former):
            (starter, asker, self.former) = (caller, caller, former)
            if purpose.signsIn {
                turn.act(
                    .showPlaceholder(
                        SessionStatus(
                            session: session, provider: form.profile.name, environment: form.environment,
                            state: .signingIn)))
            }
            proceed(&turn)
        case .wake: wake(&turn)
        case .callerGone(let caller): callerGone(caller, &turn)
        case .answered(let caller, let answers, let former):
            self.former = former
            reply(to: caller, &turn) { machine, turn throws(AgentError) in try machine.answer(answers, &turn) }
        case .resendRequested(let caller):
            reply(to: caller, &turn) { machine, turn throws(AgentError) in try machine.resend(&turn) }
        case .stepRequested(let caller): stepRequested(caller, &turn)
        case .cancelRequested(let caller):
            if case .ended = stage { return turn.reply(.failure(.unknownLogin), to: caller) }
            // A server that does not accept what it registered shows the browser an error, and the user gives up.
            if attempt != nil, let registration { turn.act(.forgetRegistration(registration)) }
            cancel(for: caller, &turn)
        case .abandoned(let caller): cancel(for: caller, &turn)
        case .visited(let caller, let query): visited(caller, query, &turn)
        case .redirected(let caller, let uri, let query): redirected(caller, uri, query, &turn)
        default:
            if case .ended = stage { dropLate(event, &turn) } else { handleResult(event, &turn) }
        }
        turn.wakeUp = deadline
    }

    private var deadline: BootInstant? {
        switch stage {
        case .asking: lastTouched + Self.abandonedAfter
        case .inBrowser(_, let end): end
        case .atDevice(_, let poll, false): poll.wakeAt
        default: nil
        }
    }

    private mutating func wake(_ turn: inout SignInTurn) {
        guard let deadline, turn.now.boot >= deadline else { return }
        switch stage {
        case .asking: fail(AgentError(.timeout, "The sign-in was left alone for too long."), &turn)
        case .inBrowser: awayFailed(AgentError(.timeout, "Nobody came back from the browser in time."), &turn)
        case .atDevice(let device, let poll, _):
            if let end = poll.end(at: turn.now.boot) { return awayFailed(end, &turn) }
            stage = .atDevice(device, poll, isAsking: true)
            turn.act(.requestToken(.deviceCode(device)))
        default: break
        }
    }

    private mutating func handleResult(_ event: SignInEvent, _ turn: inout SignInTurn) {
        switch (stage, event) {
        case (.sendingChallenge(let challenge), .challengeSent(let result)):
            succeed(result, &turn) { machine, message, turn in
                machine.form.challengeSent(challenge, at: turn.now)
                machine.proceed(message: message, &turn)
            }
        case (.registering(let flow), .registered(let result)):
            authorize(flow, result, &turn) { machine, client, turn in
                machine.registration = client
                machine.findServer(for: flow, &turn)
            }
        case (.findingServer(let flow), .serverFound(let result, let key)):
            authorize(flow, result, &turn) { $0.serverFound($1, key, flow, &$2) }
        case (.preparingBrowser(let listens), .authorizationReady(let result)):
            authorize(listens ? .browser : .paste, result, &turn) { $0.authorizationReady($1, listens: listens, &$2) }
        case (.beginningDevice, .deviceReady(let result, let sentAt)):
            authorize(.device, result, &turn) { machine, device, turn in
                machine.stage = .atDevice(device, DevicePoll(device, from: sentAt.boot), isAsking: false)
                machine.replyAway(&turn)
            }
        case (.requestingToken(let flow), .tokenReceived(let result)):
            authorize(flow, result.mapError(\.error), &turn) { $0.tokenReceived($1, &$2) }
        case (.exchangingCode, .tokenReceived(let result)):
            switch result {
            case .success(let grant): authorized(grant, &turn)
            case .failure(let failure): awayFailed(failure.error, &turn)
            }
        case (.atDevice(let device, var poll, true), .tokenReceived(let result)):
            switch poll.take(result, at: turn.now.boot) {
            case .again: stage = .atDevice(device, poll, isAsking: false)
            case .granted(let grant): authorized(grant, &turn)
            case .ended(let error): awayFailed(error, &turn)
            }
        case (.signingIn, .signedIn(let result, let sentAt, let former)):
            self.former = former
            correct(result, &turn) { machine, grant, turn in
                machine.held = (grant, sentAt)
                // Without a user nothing would show that the account is another one.
                machine.examine(fetchesUser: grant.user == nil && former?.user != nil, &turn)
            }
        case (.examining, .examined(let user, let origins, let former)):
            self.former = former
            examined(user, origins, &turn)
        case (.installing, .installed(let result)):
            succeed(result, &turn) { $0.finish(status: $1, &$2) }
        case (.changingPassword, .passwordDone(let result)):
            correct(result, &turn) {
                $0.end(Step(login: $0.id, kind: .done, message: $1.message, status: $1.status), &$2)
            }
        default: break
        }
    }

    // MARK: Callers

    private mutating func reply(
        to caller: CallerID, _ turn: inout SignInTurn,
        _ body: (inout SignInMachine, inout SignInTurn) throws(AgentError) -> Void
    ) {
        do throws(AgentError) {
            switch stage {
            case .ended: throw .unknownLogin
            case .asking: break
            default: throw .asksForNothing
            }
            asker = caller
            lastTouched = turn.now.boot
            try body(&self, &turn)
        } catch {
            asker = nil
            turn.reply(.failure(error), to: caller)
        }
    }

    private mutating func answer(_ answers: [String: String], _ turn: inout SignInTurn) throws(AgentError) {
        if let accountChange { return try answer(answers, about: accountChange, &turn) }
        guard let attempt else {
            try form.accept(answers)
            return proceed(&turn)
        }
        try form.accept(answers, besides: [OAuthField.address])
        guard let address = form.takeAnswer(to: OAuthField.address) else { return askForAddress(&turn) }
        guard cameBack(with: attempt.read(address: address.reveal()), &turn) else {
            return askForAddress(message: "This is not the address that this sign-in ends at.", &turn)
        }
    }

    private mutating func answer(
        _ answers: [String: String], about change: AccountChange, _ turn: inout SignInTurn
    ) throws(AgentError) {
        guard let answer = answers[AccountChange.field.name], answers.count == 1 else {
            throw AgentError(
                .validation, "Only the question whether to replace the account is to be answered.",
                details: [AccountChange.field.name])
        }
        accountChange = nil
        guard AccountChange.isYes(answer) else { return fail(change.refusal, &turn) }
        mayReplaceAccount = true
        if held != nil { examine(fetchesUser: false, &turn) } else { proceed(&turn) }
    }

    private mutating func resend(_ turn: inout SignInTurn) throws(AgentError) {
        guard accountChange == nil else {
            throw AgentError(.unsupported, "The question whether to replace the account is to be answered first.")
        }
        send(try form.challengeToResend(at: turn.now.boot), &turn)
    }

    private mutating func stepRequested(_ caller: CallerID, _ turn: inout SignInTurn) {
        switch stage {
        case .ended: turn.reply(.failure(.unknownLogin), to: caller)
        case .asking(let question): turn.reply(.success(step(for: question, at: turn.now)), to: caller)
        default: waiting.append(caller)
        }
    }

    private mutating func cancel(for caller: CallerID, _ turn: inout SignInTurn) {
        switch stage {
        case .ended: turn.reply(.failure(.unknownLogin), to: caller)
        case .installing: waiting.append(caller)
        default:
            waiting.append(caller)
            fail(.cancelledLogin, &turn)
        }
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout SignInTurn) {
        waiting.removeAll { $0 == caller }
        if asker == caller { asker = nil }
        guard caller == starter else { return }
        starter = nil
        // Nobody knows it, so nobody could answer it or cancel it.
        switch stage {
        case .installing, .ended: break
        default: fail(.cancelledLogin, &turn)
        }
    }

    private func step(for question: SignInQuestion, at now: Moment) -> Step {
        Step(login: id, question, about: accountChange == nil ? form.sent : nil, at: now)
    }

    /// `nil` if the user is not elsewhere.
    private func stepAway(at now: Moment) -> Step? {
        switch stage {
        case .inBrowser(let authorization, let end):
            Step(login: id, authorization, redirect: authority.oauth?.redirect, until: now.date(of: end))
        case .atDevice(let device, let poll, _): Step(login: id, device, until: now.date(of: poll.endsAt))
        default: nil
        }
    }

    /// The user is elsewhere: those that know it already wait for what comes after that.
    private mutating func replyAway(_ turn: inout SignInTurn) {
        guard let asker, let step = stepAway(at: turn.now) else { return }
        turn.reply(.success(step), to: asker)
        (starter, self.asker) = (nil, nil)
    }

    private mutating func reply(_ step: Step, _ turn: inout SignInTurn) {
        for caller in [asker].compactMap(\.self) + waiting { turn.reply(.success(step), to: caller) }
        (starter, asker, waiting) = (nil, nil, [])
    }

    // MARK: The user

    /// Goes on with what was given so far.
    private mutating func proceed(message: String? = nil, _ turn: inout SignInTurn) {
        let next = form.next(at: turn.now, message: message)
        var user = UserSummary()
        user.email = form.email
        // Nothing is sent before the user has agreed.
        if let change = unapprovedChange(to: user) { return ask(about: change, &turn) }
        switch next {
        case .ask(let question):
            form.hasAsked = true
            ask(question, &turn)
        case .send(let challenge): send(challenge, &turn)
        case .authorize(let flow): authorize(flow, &turn)
        case .finish: request(&turn)
        }
    }

    private func unapprovedChange(to user: UserSummary?) -> AccountChange? {
        guard purpose.signsIn, !mayReplaceAccount else { return nil }
        return AccountChange(of: session, from: former, to: user, at: form.environment)
    }

    private mutating func ask(about change: AccountChange, _ turn: inout SignInTurn) {
        accountChange = change
        ask(SignInQuestion(fields: [AccountChange.field], message: change.message), &turn)
    }

    private mutating func askForAddress(message: String? = nil, _ turn: inout SignInTurn) {
        ask(SignInQuestion(fields: [OAuthField.address], message: message, url: attempt?.url), &turn)
    }

    private mutating func ask(_ question: SignInQuestion, _ turn: inout SignInTurn) {
        lastTouched = turn.now.boot
        stage = .asking(question)
        reply(step(for: question, at: turn.now), &turn)
    }

    private mutating func send(_ challenge: Challenge, _ turn: inout SignInTurn) {
        stage = .sendingChallenge(challenge)
        turn.act(.sendChallenge(challenge))
    }

    // MARK: The authorization server

    private mutating func authorize(_ flow: OAuthFlow, _ turn: inout SignInTurn) {
        guard plainAuthority.oauth?.registers == true, registration == nil else { return findServer(for: flow, &turn) }
        stage = .registering(flow)
        turn.act(.register(refused: nil))
    }

    /// The server may have forgotten the client that it registered, or the port that it knows is in use: then it is asked
    /// once more, as a new client.
    private mutating func authorize<Value>(
        _ flow: OAuthFlow, _ result: Result<Value, AgentError>, _ turn: inout SignInTurn,
        _ body: (inout SignInMachine, Value, inout SignInTurn) -> Void
    ) {
        guard case .failure(let error) = result, !hasRegisteredAgain, let oauth = plainAuthority.oauth, oauth.registers,
            error.isUnknownClient || (error.cause == AgentError.redirectPort && oauth.redirect.isAtAnyPort)
        else { return succeed(result, &turn, body) }
        hasRegisteredAgain = true
        stage = .registering(flow)
        turn.act(.stopListening)
        turn.act(.register(refused: registration))
    }

    private mutating func findServer(for flow: OAuthFlow, _ turn: inout SignInTurn) {
        stage = .findingServer(flow)
        turn.act(.findServer(makesKey: authority.oauth?.bindsTokens == true && proofKey == nil))
    }

    private mutating func serverFound(
        _ server: OAuthServer, _ key: Secret?, _ flow: OAuthFlow, _ turn: inout SignInTurn
    ) {
        if let key {
            if let algorithms = server.proofAlgorithms, !algorithms.contains("ES256") {
                return fail(
                    AgentError(
                        .unsupported,
                        "\(authority.title) does not take proofs by ES256 (RFC 9449), and its profile wants them."),
                    &turn)
            }
            proofKey = key
        }
        var listens = false
        switch flow {
        case .service: requestToken(.clientCredentials, for: flow, &turn)
        case .importing:
            guard let token = form.fields[OAuthField.refreshToken] else { return fail(.cancelledLogin, &turn) }
            requestToken(.refreshToken(token), for: flow, &turn)
        case .paste: prepareBrowser(server, listens: false, &turn)
        case .device: beginDevice(&turn)
        case .browser:
            listens = hasBrowser && server.endpoints.authorization != nil
            if !listens, server.endpoints.deviceAuthorization != nil {
                beginDevice(&turn)
            } else {
                listens = hasBrowser
                prepareBrowser(server, listens: listens, &turn)
            }
        }
        // Its address was bound before it was registered.
        if !listens { turn.act(.stopListening) }
    }

    private mutating func prepareBrowser(_ server: OAuthServer, listens: Bool, _ turn: inout SignInTurn) {
        stage = .preparingBrowser(listens: listens)
        turn.act(.prepareBrowser(server, listens: listens))
    }

    private mutating func beginDevice(_ turn: inout SignInTurn) {
        stage = .beginningDevice
        turn.act(.beginDevice)
    }

    private mutating func requestToken(_ request: SignInTokenRequest, for flow: OAuthFlow, _ turn: inout SignInTurn) {
        stage = .requestingToken(flow)
        turn.act(.requestToken(request))
    }

    private mutating func authorizationReady(
        _ authorization: BrowserAuthorization, listens: Bool, _ turn: inout SignInTurn
    ) {
        attempt = authorization.attempt
        guard listens else { return askForAddress(&turn) }
        stage = .inBrowser(authorization, until: turn.now.boot + AuthorizationAttempt.timeout)
        turn.act(.listen)
        replyAway(&turn)
    }

    private mutating func visited(_ caller: CallerID, _ query: String, _ turn: inout SignInTurn) {
        guard case .inBrowser(let authorization, _) = stage else {
            return turn.reply(.failure(.unknownAddress), to: caller)
        }
        // It gets the page of the next step.
        waiting.append(caller)
        guard !cameBack(with: authorization.attempt.read(query), &turn) else { return }
        waiting.removeLast()
        turn.reply(.failure(.unknownAddress), to: caller)
    }

    private mutating func redirected(_ caller: CallerID, _ uri: String, _ query: String, _ turn: inout SignInTurn) {
        guard case .inBrowser(let authorization, _) = stage, let step = stepAway(at: turn.now),
            authorization.attempt.redirectURI.utf8.elementsEqual(uri.utf8),
            cameBack(with: authorization.attempt.read(query), &turn)
        else { return turn.reply(.failure(.unknownAddress), to: caller) }
        turn.reply(.success(step), to: caller)
    }

    /// - Returns: `false` if it was not this sign-in that sent the browser.
    private mutating func cameBack(with answer: AuthorizationAttempt.Answer, _ turn: inout SignInTurn) -> Bool {
        switch answer {
        case .unrelated: return false
        case .refused(let error): awayFailed(error, &turn)
        case .code(let code):
            guard let attempt else { return false }
            // There is one answer. Any other visitor is a stranger.
            turn.act(.stopListening)
            stage = .exchangingCode
            turn.act(.requestToken(.code(code, attempt)))
        }
        return true
    }

    /// The server may not know the client any more. One that does not say which clients it knows shows the browser of an
    /// unknown one an error page, from which nobody comes back.
    private mutating func awayFailed(_ error: AgentError, _ turn: inout SignInTurn) {
        if let registration, error.isUnknownClient || (error.kind == .timeout && registration.place == nil) {
            turn.act(.forgetRegistration(registration))
        }
        fail(error, &turn)
    }

    private mutating func tokenReceived(_ grant: Grant, _ turn: inout SignInTurn) {
        var grant = grant
        if let given = form.fields[OAuthField.refreshToken] {
            // One that did not rotate is still the one that was given.
            grant.refreshToken = grant.refreshToken ?? given
            grant.message = "Remove the refresh token from where it came from: two that renew by one end the session."
        }
        authorized(grant, &turn)
    }

    private mutating func authorized(_ grant: Grant, _ turn: inout SignInTurn) {
        attempt = nil
        guard form.proof == nil else {
            // The device grant is not part of OpenID Connect and may end without one.
            guard let idToken = grant.idToken else { return fail(.noProof(authority, for: form.profile), &turn) }
            form.prove(with: idToken)
            return proceed(&turn)
        }
        // Their life began when they were requested, however long that took.
        held = (grant, Moment(boot: turn.now.deadline(for: grant.issuedAt), wall: grant.issuedAt))
        examine(fetchesUser: form.method.flow != .service, &turn)
    }

    // MARK: The session's provider

    /// Everything that is needed has been given.
    private mutating func request(_ turn: inout SignInTurn) {
        stage = purpose.signsIn ? .signingIn : .changingPassword
        switch purpose {
        case .signIn, .password(.reset): turn.act(.signIn)
        case .password(.requestReset): turn.act(.requestReset)
        case .password(.set), .password(.change): turn.act(.changePassword)
        }
    }

    private mutating func examine(fetchesUser: Bool, _ turn: inout SignInTurn) {
        stage = .examining
        guard fetchesUser, let held else { return turn.act(.examine(user: nil)) }
        turn.act(.examine(user: try? record(from: held.grant, at: turn.now)))
    }

    private mutating func examined(_ user: SignedInUser?, _ origins: TokenOrigins?, _ turn: inout SignInTurn) {
        guard let held else { return }
        var grant = held.grant
        // What is said of another user is not about this one (OpenID Connect Core 1.0 §5.3.2).
        if let user,
            grant.user == nil || form.profile.userRequest != nil
                || user.raw["sub"]?.stringValue == grant.rawUser?["sub"]?.stringValue
        {
            (grant.user, grant.rawUser) = (user.summary, user.raw)
            self.held?.grant = grant
        }
        if let change = unapprovedChange(to: grant.user) { return ask(about: change, &turn) }
        do throws(AgentError) {
            var record = try record(from: grant, former: former, at: turn.now)
            record.origins = origins ?? form.profile.origins(in: form.environment)
            let change = AccountChange(of: session, from: former, to: grant.user, at: form.environment)
            stage = .installing
            turn.act(.install(record, sentAt: held.sentAt, revokesFormer: change != nil))
        } catch {
            fail(error, &turn)
        }
    }

    // MARK: The end

    private mutating func succeed<Value>(
        _ result: Result<Value, AgentError>, _ turn: inout SignInTurn,
        _ body: (inout SignInMachine, Value, inout SignInTurn) -> Void
    ) {
        switch result {
        case .success(let value): body(&self, value, &turn)
        case .failure(let error): fail(error, &turn)
        }
    }

    /// The same for an answer that the user may correct.
    private mutating func correct<Value>(
        _ result: Result<Value, AgentError>, _ turn: inout SignInTurn,
        _ body: (inout SignInMachine, Value, inout SignInTurn) -> Void
    ) {
        guard case .failure(let error) = result, let question = form.correction(after: error) else {
            return succeed(result, &turn, body)
        }
        ask(question, &turn)
    }

    private mutating func finish(status: SessionStatus, _ turn: inout SignInTurn) {
        let words = [held?.grant.message, note].compactMap(\.self)
        held = nil
        end(
            Step(
                login: id, kind: .done, message: words.isEmpty ? nil : words.joined(separator: "\n"), status: status),
            &turn)
    }

    private mutating func fail(_ error: AgentError, _ turn: inout SignInTurn) {
        end(Step(login: id, kind: .failed, error: error), &turn)
    }

    private mutating func end(_ step: Step, _ turn: inout SignInTurn) {
        if let held, !isInstalling { revoke(held.grant, &turn) }
        held = nil
        stage = .ended
        turn.act(.stopListening)
        if purpose.signsIn { turn.act(.removePlaceholder) }
        turn.act(.end)
        reply(step, &turn)
    }

    private var isInstalling: Bool { if case .installing = stage { true } else { false } }

    /// What was begun before the end and comes after it.
    private func dropLate(_ event: SignInEvent, _ turn: inout SignInTurn) {
        switch event {
        case .tokenReceived(.success(let grant)) where form.proof == nil: revoke(grant, &turn)
        case .signedIn(.success(let grant), _, _): revoke(grant, &turn)
        case .registered, .authorizationReady: turn.act(.stopListening)
        default: break
        }
    }

    private func record(
        from grant: Grant, former: SessionStatus? = nil, at now: Moment
    ) throws(AgentError) -> SessionRecord {
        return try SessionRecord(
            session: session, form: form, grant: grant,
            client: form.method.flow == nil ? nil : (client, registration), remembers: remembers, former: former,
            signIn: signIn, at: now)
    }

    private func revoke(_ grant: Grant, _ turn: inout SignInTurn) {
        // Without a token there is nothing to revoke.
        if let record = try? record(from: grant, at: turn.now) { turn.act(.revoke(record)) }
    }
}
