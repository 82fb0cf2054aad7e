package import AuthModel
package import AuthWire

/// One sign-in, or one thing done about a password: what was chosen, what was given so far, and what comes next.
///
/// Invariants:
/// 1. It ends once. Each caller gets one reply; those that wait at the end, or ask for the step later, get the last step.
/// 2. Nothing is installed after its end. Tokens that the provider has given are installed or revoked, never both. A key that
///    the user has entered is installed or forgotten.
/// 3. The requests without the user have a limit (``SignInSteps``), and so has the time in which they are repeated.
/// 4. At most one request is in progress, so a result belongs to the present stage or to a sign-in that has ended.
package struct SignInMachine: Machine {
    package enum Purpose: Sendable, Equatable {
        case signIn
        case password(PasswordAction)

        /// Whether it ends with a session.
        var signsIn: Bool { self == .signIn || self == .password(.reset) }
    }

    indirect enum Stage: Sendable {
        /// Waits for an answer.
        case asking(SignInQuestion)
        /// The session's provider is asked.
        case requesting(SignInPart)
        /// The action is carried out when there is a network; then the former stage continues.
        case offline(SignInAction, from: Stage, until: BootInstant)
        /// A step's request is repeated until the user has done something elsewhere.
        case polling(Int, StepPollTimer, isAsking: Bool)
        /// The same about a password, without a sign-in.
        case acting
        /// The authorization server is asked for what this flow needs.
        case authorizing(OAuthFlow)
        /// The user is in a browser that comes back by itself.
        case inBrowser(BrowserAuthorization, until: BootInstant)
        /// The user is at another device.
        case atDevice(DeviceAuthorization, DevicePoll, isAsking: Bool)
        case exchangingCode
        /// The provider is asked about the tokens that it gave.
        case examining
        /// It is too late to cancel: the session learns of the tokens.
        case installing
        case ended(Step)
    }

    /// A sign-in that waits for its user ends after this time: more than an e-mailed code is usually good for. So does one that
    /// waits for a network if no client asks about it.
    package static let abandonedAfter = Duration.seconds(900)
    package static let wake = SignInEvent.wake
    package static func callerGone(_ caller: CallerID) -> SignInEvent { .callerGone(caller) }

    package let id: String
    package let session: SessionName
    package internal(set) var form: SignInForm
    let purpose: Purpose
    let signIn: SignInID
    /// The answers are kept, so that the session can sign in again.
    var remembers = false
    /// Whether the user has a browser on this machine.
    var hasBrowser = true
    /// Whether the browser of another machine's agent is used.
    package var borrowsBrowser = false
    /// The scopes that count as requested, once the other machine has answered.
    var lentScopes: [String]?
    /// The message for the user at the end.
    var note: String?
    /// The session may be given to another account: the user said so, beforehand or when asked.
    var mayReplaceAccount: Bool

    var stage = Stage.acting
    /// How long a request waits for a network: until the time limit of the client's latest request that has one.
    var longestOffline: Duration
    /// When the current request stops waiting for a network; `nil` if it has not waited.
    var offlineEnd: BootInstant?
    var lastTouched: BootInstant
    /// When a client last asked for the step, or learned that there is no network.
    var lastAsked: BootInstant
    /// As the session was when it was last looked at.
    var former: SessionStatus?
    /// What the user is asked to agree to.
    var accountChange: AccountChange?
    /// Tokens that belong to no session yet.
    var held: (grant: Grant, sentAt: Moment)?
    /// From the responses so far, if the profile keeps them.
    package internal(set) var cookies = CookieJar()
    /// The user's way to an authorization server, until they are back.
    var attempt: AuthorizationAttempt?
    /// What the authorization server has registered us as.
    var registration: RegisteredClient?
    var hasRegisteredAgain = false
    /// What the tokens are bound to.
    var proofKey: Secret?

    /// The caller that began it, until it knows the sign-in.
    var starter: CallerID?
    /// The caller whose request is worked on. It gets the next step of any kind.
    var asker: CallerID?
    /// Those that wait for a question or the end.
    var waiting: [CallerID] = []
    /// The callers know only that there was no network: they do not know yet where the user is.
    var isAwayUnknown = false

    /// - Parameters:
    ///   - catalog: the other providers, where a user may prove who they are.
    ///   - notes: what the user is shown at the end.
    /// - Throws: `validation` for an environment, method or field that the profile does not have, and for answers that
    ///   cannot be remembered.
    package init(
        id: String, params: LoginStart, profile: ProviderProfile, catalog: ProfileCatalog, notes: [String] = [],
        signIn: SignInID = .random(), now: Moment
    ) throws(AgentError) {
        let profile = try profile.requesting(params.scopes)
        let method = try profile.method(named: params.method)
        let repeated = profile.repeatedMethod
        if params.remember, let repeated, repeated.name != method.name {
            throw AgentError(
                .validation,
                "\(method.label) at \(profile.title) cannot be remembered, as it cannot be done twice: choose the method "
                    + "\(repeated.name).")
        }
        let form = try SignInForm(
            profile: profile, environment: params.environment, method: method,
            proof: IdentityProof(for: method, in: catalog), answers: params.fields)
        let session = if let name = params.session { name } else { try SessionName(profile.name) }
        self.init(
            id: id, session: session, purpose: .signIn, form: form,
            mayReplaceAccount: params.replaceAccount, limit: params.timeout, signIn: signIn, now: now)
        remembers = params.remember && repeated != nil
        (hasBrowser, borrowsBrowser) = (params.hasBrowser, params.borrowsBrowser)
        if borrowsBrowser { try checkBorrowing() }
        if !notes.isEmpty { note = notes.joined(separator: "\n") }
        guard params.remember, repeated == nil else { return }
        note =
            profile.renewal.kind == .none
            ? "Nothing is remembered: no sign-in of \(profile.title) can be made again without you."
            : "Nothing is remembered: sessions of \(profile.title) are renewed without it."
    }

    /// - Parameter limit: `timeout_ms` of the request that begins it.
    package init(
        id: String, session: SessionName, purpose: Purpose, form: SignInForm, mayReplaceAccount: Bool,
        limit: Duration? = nil, signIn: SignInID = .random(), now: Moment
    ) {
        self.id = id
        self.session = session
        self.purpose = purpose
        self.form = form
        self.mayReplaceAccount = mayReplaceAccount
        self.signIn = signIn
        longestOffline = NetworkWait.longest(within: limit)
        (lastTouched, lastAsked) = (now.boot, now.boot)
    }

    private var hasEnded: Bool { if case .ended = stage { true } else { false } }
    private var isInstalling: Bool { if case .installing = stage { true } else { false } }

    // MARK: Events

    package mutating func handle(_ event: SignInEvent, in turn: inout SignInTurn) {
        do throws(AgentError) {
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
            case .wake: try wake(&turn)
            case .callerGone(let caller): callerGone(caller, &turn)
            case .answered(let caller, let answers, let former, let lent, let limit):
                self.former = former
                if let limit { longestOffline = NetworkWait.longest(within: limit) }
                reply(to: caller, &turn) { machine, turn throws(AgentError) in
                    try machine.answer(answers, lent, &turn)
                }
            case .checkRequested(let caller, let answers): check(answers, for: caller, &turn)
            case .resendRequested(let caller):
                reply(to: caller, &turn) { machine, turn throws(AgentError) in try machine.resend(&turn) }
            case .stepRequested(let caller): stepRequested(caller, &turn)
            case .cancelRequested(let caller):
                // A server that does not accept what it registered shows the browser an error, and the user gives up.
                if attempt != nil, !hasEnded { forgetRegistration(&turn) }
                cancel(for: caller, &turn)
            case .abandoned(let caller): cancel(for: caller, &turn)
            case .redirected(let caller, let uri, let query): redirected(caller, uri, query, &turn)
            default: if hasEnded { dropLate(event, &turn) } else { try receive(event, &turn) }
            }
        } catch {
            failed(error, &turn)
        }
        turn.wakeUp = deadline
    }

    var deadline: BootInstant? {
        switch stage {
        case .asking: lastTouched + Self.abandonedAfter
        case .offline(_, _, let end): min(end, lastAsked + Self.abandonedAfter)
        case .inBrowser(_, let end): end
        case .atDevice(_, let poll, isAsking: false): poll.wakeAt
        case .polling(_, let timer, isAsking: false): timer.wakeAt
        default: nil
        }
    }

    private mutating func wake(_ turn: inout SignInTurn) throws(AgentError) {
        guard let deadline, turn.now.boot >= deadline else { return }
        switch stage {
        case .asking: throw AgentError(.timeout, "The sign-in was not continued in time.")
        case .offline(_, _, let end) where turn.now.boot >= end: throw .noNetworkInTime
        case .offline:
            throw AgentError(.timeout, "No client asked for the result while authd waited for a network.")
        case .inBrowser: throw AgentError(.timeout, "The browser did not return in time.")
        case .atDevice(let device, let poll, _):
            if let end = poll.end(at: turn.now.boot) { throw end }
            stage = .atDevice(device, poll, isAsking: true)
            turn.act(.requestToken(.deviceCode(device)))
        case .polling(let index, let timer, _):
            if timer.hasEnded(at: turn.now.boot) { throw .waitEnded }
            stage = .polling(index, timer, isAsking: true)
            turn.act(.request(.step(index)))
        default: break
        }
    }

    /// The result of an action.
    private mutating func receive(_ event: SignInEvent, _ turn: inout SignInTurn) throws(AgentError) {
        if !event.isAboutNetwork { offlineEnd = nil }
        switch event {
        case .registered(let result):
            registration = try result.get()
            findServer(&turn)
        case .serverFound(let result, let key): try serverFound(result.get(), key, &turn)
        case .authorizationReady(let result): authorizationReady(try result.get(), &turn)
        case .deviceReady(let result, let sentAt):
            let device = try result.get()
            stage = .atDevice(device, DevicePoll(device, from: sentAt.boot), isAsking: false)
            replyAway(&turn)
        case .tokenReceived(let result, let sentAt): try tokenReceived(result, sentAt, &turn)
        case .idTokenRejected(let grant, let error):
            if form.proof == nil { revoke(grant, &turn) }
            throw error
        case .responded(let part, let result, let sentAt, let former):
            self.former = former
            try responded(result, to: part, sentAt: sentAt, &turn)
        case .networkMissing(let action): try networkMissing(action, &turn)
        case .networkReturned: networkReturned(&turn)
        case .examined(let user, let origins, let former):
            self.former = former
            try examined(user, origins, &turn)
        case .installed(let result):
            let status = try result.get()
            let words = [held?.grant.message, note, noteOfForgotten(status)].compactMap(\.self)
            let message = words.isEmpty ? nil : words.joined(separator: "\n")
            end(.done, message: message, status: status, &turn)
        case .passwordDone(let result):
            let (message, status) = try result.get()
            end(.done, message: message, status: status, &turn)
        default: break
        }
    }

    mutating func failed(_ error: AgentError, _ turn: inout SignInTurn) {
        switch stage {
        case .authorizing where mayRegisterAgain(after: error):
            hasRegisteredAgain = true
            turn.act(.stopListening)
            turn.act(.register(refused: registration))
            return
        case .requesting(.first), .requesting(.own), .requesting(.step), .acting:
            // The user may correct the answer.
            if let question = form.correction(after: error) { return ask(question, &turn) }
        case .inBrowser, .atDevice, .exchangingCode:
            // A server that does not say which clients it knows shows the browser of an unknown one an error page, and
            // the browser does not come back.
            if error.isUnknownClient || (error.kind == .timeout && registration?.place == nil) {
                forgetRegistration(&turn)
            }
        default: break
        }
        end(.failed, error: error, &turn)
    }

    // MARK: Callers

    mutating func reply(
        to caller: CallerID, _ turn: inout SignInTurn,
        _ body: (inout SignInMachine, inout SignInTurn) throws(AgentError) -> Void
    ) {
        do throws(AgentError) {
            guard !hasEnded else { throw .unknownLogin }
            guard case .asking = stage else { throw .asksForNothing }
            asker = caller
            lastTouched = turn.now.boot
            form.steps.userActed()
            try body(&self, &turn)
        } catch {
            if asker == caller { asker = nil }
            turn.reply(.failure(error), to: caller)
        }
    }

    mutating func answer(
        _ answers: [String: String], _ lent: LoginLent?, _ turn: inout SignInTurn
    ) throws(AgentError) {
        if let change = accountChange {
            guard let answer = answers[AccountChange.field.name], answers.count == 1 else {
                throw AgentError(
                    .validation, "Only the question whether to replace the account is to be answered.",
                    details: [AccountChange.field.name])
            }
            accountChange = nil
            guard AccountChange.isYes(answer) else { return failed(change.refusal, &turn) }
            mayReplaceAccount = true
            return held == nil ? proceed(&turn) : examine(fetchesUser: false, &turn)
        }
        if case .asking(let question) = stage, question.lend != nil { return try continueWith(lent, &turn) }
        try form.accept(answers, besides: attempt == nil ? [] : [OAuthField.address])
        guard let attempt else { return proceed(&turn) }
        guard let address = form.removeAnswer(to: OAuthField.address) else { return askForAddress(&turn) }
        if !accept(attempt.read(address: address.reveal()), &turn) {
            askForAddress(message: "This is not the address that this sign-in ends at.", &turn)
        }
    }

    private mutating func resend(_ turn: inout SignInTurn) throws(AgentError) {
        guard accountChange == nil else {
            throw AgentError(.unsupported, "The question whether to replace the account is to be answered first.")
        }
        try form.checkResend(at: turn.now.boot)
        send(.challenge, &turn)
    }

    private mutating func stepRequested(_ caller: CallerID, _ turn: inout SignInTurn) {
        lastAsked = turn.now.boot
        switch stage {
        case .ended(let last): turn.reply(.success(last), to: caller)
        case .asking(let question): turn.reply(.success(step(for: question, at: turn.now)), to: caller)
        default:
            waiting.append(caller)
            if isAwayUnknown { replyAway(&turn) }
        }
    }

    private mutating func cancel(for caller: CallerID, _ turn: inout SignInTurn) {
        guard !hasEnded else { return turn.reply(.failure(.unknownLogin), to: caller) }
        waiting.append(caller)
        if !isInstalling { end(.failed, error: .cancelledLogin, &turn) }
    }

    private mutating func callerGone(_ caller: CallerID, _ turn: inout SignInTurn) {
        waiting.removeAll { $0 == caller }
        if asker == caller { asker = nil }
        guard caller == starter else { return }
        starter = nil
        // No caller knows it, so none could answer it or cancel it.
        if !hasEnded, !isInstalling { end(.failed, error: .cancelledLogin, &turn) }
    }

    mutating func reply(_ step: Step, _ turn: inout SignInTurn) {
        for caller in [asker].compactMap(\.self) + waiting { turn.reply(.success(step), to: caller) }
        (starter, asker, waiting) = (nil, nil, [])
    }

    // MARK: The end

    private mutating func end(
        _ kind: StepKind, message: String? = nil, status: SessionStatus? = nil, error: AgentError? = nil,
        _ turn: inout SignInTurn
    ) {
        if let held, !isInstalling { revoke(held.grant, &turn) }
        held = nil
        let last = Step(login: id, kind: kind, message: message, status: status, error: error)
        stage = .ended(last)
        turn.act(.stopListening)
        if purpose.signsIn { turn.act(.removePlaceholder) }
        turn.act(.end(last))
        reply(last, &turn)
    }

    /// A result that comes after the end of an action that was begun before it.
    private func dropLate(_ event: SignInEvent, _ turn: inout SignInTurn) {
        switch event {
        case .tokenReceived(.success(let grant), _) where form.proof == nil: revoke(grant, &turn)
        case .idTokenRejected(let grant, _) where form.proof == nil: revoke(grant, &turn)
        case .responded(_, .success(let response), _, _):
            if let grant = response.grant { revoke(grant, &turn) }
        case .registered, .authorizationReady: turn.act(.stopListening)
        default: break
        }
    }

    private func revoke(_ grant: Grant, _ turn: inout SignInTurn) {
        // A key is the user's own, and without a token there is nothing to revoke.
        if form.method.key == nil, let record = try? record(from: grant, at: turn.now) { turn.act(.revoke(record)) }
    }
}
