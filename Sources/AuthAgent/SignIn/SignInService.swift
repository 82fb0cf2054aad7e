import AuthMachines
package import AuthModel
package import AuthWire

/// The sign-ins under way, and what is done about passwords in the same way. The agent never prompts: it says what it
/// needs, and the client that asked does the asking.
///
/// Invariant: one of a session at a time; a result that comes after its end is dropped.
package actor SignInService {
    /// Sign-ins that wait for a person; more than a desktop ever has, few enough to cost nothing.
    package static let most = 64
    /// One that nobody has touched for so long is over: longer than an e-mailed code is usually good for.
    package static let patience = Duration.seconds(900)

    let context: AgentContext
    let registry: SessionRegistry
    let tools: SignInDependencies?
    private var logins: [String: SignInProgress] = [:]
    private var joined: [String: [AsyncStream<Step>.Continuation]] = [:]
    /// Ends the watch over each.
    private var watches: [String: AsyncStream<Never>.Continuation] = [:]
    /// Ends what is done for each while its person is away.
    private var awayTasks: [String: AsyncStream<Never>.Continuation] = [:]
    /// Those that wait for another one to have us registered, by the provider.
    var registering: [String: [AsyncStream<Never>.Continuation]] = [:]
    /// Where a browser is to come back to, bound before the provider registered that address. By sign-in.
    var bound: [String: ListeningRedirect] = [:]
    /// Of those whose person comes back by a scheme of ours.
    var schemeListeners: [String: (attempt: AuthorizationAttempt, mailbox: SchemeRedirectListener)] = [:]

    /// - Parameter tools: what signing in by a browser needs; without them it is unsupported.
    package init(context: AgentContext, registry: SessionRegistry, tools: SignInDependencies? = nil) {
        self.context = context
        self.registry = registry
        self.tools = tools
    }

    package func start(_ params: LoginStart) async throws(AgentError) -> Step {
        guard let profile = context.catalog.profiles[params.provider] else { throw .unknownProvider(params.provider) }
        try await refuseWithoutStore()
        let login = try SignInProgress(
            id: Self.newID(), params: params, profile: profile, catalog: context.catalog.profiles,
            now: context.clock.now())
        return try await begin(login, replacesOther: params.replacesSignIn)
    }

    /// `password.set`, `password.change`, `password.request_reset` and `password.reset`.
    package func start(_ action: PasswordAction, _ params: PasswordParams) async throws(AgentError) -> Step {
        if action == .reset { try await refuseWithoutStore() }
        return try await begin(passwordLogin(action, params), replacesOther: params.replacesSignIn)
    }

    package func answer(_ params: LoginAnswer) async throws(AgentError) -> Step {
        guard var login = logins[params.login] else { throw .unknownLogin }
        guard case .asking = login.stage else { throw .asksForNothing }
        try login.take(params.fields, at: context.clock.now())
        logins[params.login] = login
        return await advance(params.login)
    }

    /// The step this sign-in is at; one that works on is waited for.
    package func wait(_ params: LoginParams) async throws(AgentError) -> Step {
        guard let login = logins[params.login] else { throw .unknownLogin }
        if case .asking = login.stage, let step = login.step(at: context.clock.now()) { return step }
        let (steps, continuation) = AsyncStream<Step>.makeStream()
        joined[params.login, default: []].append(continuation)
        for await step in steps { return step }
        throw .callerGone
    }

    package func cancel(_ params: LoginParams) async throws(AgentError) -> Step {
        guard let login = logins[params.login] else { throw .unknownLogin }
        let step = end(params.login, .failed(params.login, .cancelledLogin))
        // A provider that does not accept what it registered shows the browser an error, and the user gives up.
        if login.isInBrowser { await dropRegistration(of: login) }
        return step
    }

    package func resend(_ params: LoginParams) async throws(AgentError) -> Step {
        guard var login = logins[params.login] else { throw .unknownLogin }
        guard case .asking = login.stage else { throw .asksForNothing }
        try login.resend(at: context.clock.now())
        logins[params.login] = login
        return await advance(params.login)
    }

    // MARK: One sign-in

    /// - Parameter replacesOther: ends another sign-in to the session. Its id is not disclosed: whoever has the id can
    ///   answer in its place.
    private func begin(_ login: SignInProgress, replacesOther: Bool) async throws(AgentError) -> Step {
        guard logins.count < Self.most else {
            throw AgentError(.busy, "There are \(Self.most) sign-ins under way: end one of them first.")
        }
        let other = logins.values.first { $0.session == login.session }
        if other != nil, !replacesOther {
            throw AgentError(
                .busy, "A sign-in to session \(login.session) is in progress: wait for it, or cancel it.",
                cause: "sign_in_in_progress")
        }
        if let known = context.board.status(login.session), known.provider != login.profile.name {
            throw AgentError(
                .conflict,
                "Session \(login.session) is at provider \(known.provider): sign out of it first, "
                    + "or choose another name.")
        }
        if let other { _ = end(other.id, .failed(other.id, .cancelledLogin)) }
        logins[login.id] = login
        if login.purpose.signsIn { context.board.put(herald: .signingIn(login)) }
        watch(login.id)
        return await advance(login.id)
    }

    /// Goes on until a person is needed, or to the end.
    private func advance(_ id: String) async -> Step {
        while var login = logins[id] {
            if let change = givenAccountChange(login) {
                login.ask(about: change, at: context.clock.now())
                logins[id] = login
            }
            switch login.stage {
            case .refused(let error): return end(id, .failed(id, error))
            case .asking:
                guard let step = login.step(at: context.clock.now()) else { break }
                tell(id, step)
                return step
            case .challenging(let challenge):
                let sentAt = context.clock.now()
                let result = await context.providers.send(
                    challenge, of: login.method, at: login.profile, environment: login.environment,
                    fields: login.fields, sentAt: sentAt)
                // Cancelled meanwhile: what came is dropped.
                guard var login = logins[id] else { break }
                switch result {
                case .success(let message):
                    login.challengeSent(challenge, message: message, at: context.clock.now())
                    logins[id] = login
                case .failure(let failure): return end(id, .failed(id, failure.error))
                }
            case .authorizing(let flow):
                let result = await authorize(login, flow)
                guard logins[id] != nil else { break }
                switch result {
                case .success(let login): logins[id] = login
                case .failure(let error): return end(id, .failed(id, error))
                }
            case .away:
                guard let step = login.step(at: context.clock.now()) else { break }
                return step
            case .finishing:
                let result = await finish(login)
                guard var login = logins[id] else { break }
                switch result {
                // The user is asked something yet.
                case .success(nil): break
                case .success(let step?): return end(id, step)
                case .failure(let error):
                    guard login.mayAnswerAgain(after: error, at: context.clock.now()) else {
                        return end(id, .failed(id, error))
                    }
                    logins[id] = login
                }
            }
        }
        return .failed(id, .cancelledLogin)
    }

    /// Whether what was given shows that the session would get another account, which the user has not agreed to: then
    /// nothing is sent before that.
    private func givenAccountChange(_ login: SignInProgress) -> AccountChange? {
        switch login.stage {
        case .asking where login.accountChange == nil: break
        case .challenging, .finishing, .authorizing: break
        case .asking, .away, .refused: return nil
        }
        guard login.purpose.signsIn, !login.mayReplaceAccount, login.grant == nil else { return nil }
        return AccountChange(from: context.board.status(login.session), given: login)
    }

    /// Keeps what the provider gave until the user has agreed to the change of account.
    func hold(_ grant: Grant, sentAt: Moment, for id: String, until change: AccountChange) {
        logins[id]?.ask(about: change, holding: (grant, sentAt), at: context.clock.now())
    }

    /// What was held for a sign-in becomes its session's.
    func useHeld(by id: String) { logins[id]?.useHeld() }

    /// Goes on with what an authorization server gave while a person was away.
    /// - Returns: how it ended.
    @discardableResult
    func came(_ id: String, _ result: Result<Grant, AgentError>) async -> Step {
        guard var login = logins[id], case .away = login.stage else { return .failed(id, .cancelledLogin) }
        switch result {
        case .success(let grant):
            login.authorized(grant, at: context.clock.now())
            logins[id] = login
            return await advance(id)
        case .failure(let error):
            await forgetRegistration(login, after: error)
            return end(id, .failed(id, error))
        }
    }

    /// Works on for a sign-in until that ends; then the work is cancelled.
    func work(for id: String, _ work: @escaping @Sendable () async -> Void) {
        let (over, continuation) = AsyncStream<Never>.makeStream()
        awayTasks.removeValue(forKey: id)?.finish()
        awayTasks[id] = continuation
        let isAccepted = context.tasks.pool.order {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in over {} }
                group.addTask { await work() }
                await group.next()
                group.cancelAll()
            }
        }
        if !isAccepted { _ = end(id, .failed(id, .stopping)) }
    }

    /// Whether it was not cancelled.
    func isInProgress(_ id: String) -> Bool { logins[id] != nil }

    private func end(_ id: String, _ step: Step) -> Step {
        if let login = logins.removeValue(forKey: id) {
            context.board.removePlaceholder(of: login.session, in: .signingIn)
            if step.kind != .done, let held = login.held { discard(held.grant, of: login) }
        }
        watches.removeValue(forKey: id)?.finish()
        awayTasks.removeValue(forKey: id)?.finish()
        schemeListeners[id] = nil
        tell(id, step)
        return step
    }

    private func tell(_ id: String, _ step: Step) {
        for continuation in joined.removeValue(forKey: id) ?? [] { continuation.yield(step) }
    }

    /// Nothing is sent to a provider for a session that could not be kept.
    private func refuseWithoutStore() async throws(AgentError) {
        await registry.retryPrompts()
        let store = context.board.store
        guard store.state != .ready else { return }
        throw .storeNotRead(store)
    }

    /// Ends it when it was left alone; until then it keeps others out of its session.
    private func watch(_ id: String) {
        let (over, continuation) = AsyncStream<Never>.makeStream()
        watches[id] = continuation
        let isAccepted = context.tasks.pool.order {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { for await _ in over {} }
                group.addTask { await self.endWhenIdle(id) }
                await group.next()
                group.cancelAll()
            }
        }
        if !isAccepted { _ = end(id, .failed(id, .stopping)) }
    }

    private func endWhenIdle(_ id: String) async {
        while let login = logins[id] {
            let now = context.clock.now().boot
            let deadline = login.lastTouched + Self.patience
            if now >= deadline, case .asking = login.stage {
                _ = end(id, .failed(id, AgentError(.timeout, "The sign-in was left alone for too long.")))
                return
            }
            do {
                // One that waits for its provider is looked at again.
                try await context.clock.sleep(until: now < deadline ? deadline : now + Self.patience)
            } catch {
                return
            }
        }
    }

    /// Not to be guessed by another program that would answer in this one's stead.
    static func newID() -> String {
        let number = UInt64.random(in: .min ... .max)
        let digits = String(number, radix: 36)
        return "l" + digits
    }
}

extension Step {
    static func failed(_ login: String, _ error: AgentError) -> Step {
        Step(login: login, kind: .failed, error: error)
    }
}

extension SessionStatus {
    fileprivate static func signingIn(_ login: SignInProgress) -> SessionStatus {
        SessionStatus(
            session: login.session, provider: login.profile.name, environment: login.environment, state: .signingIn)
    }
}

extension AgentError {
    fileprivate static let asksForNothing = AgentError(.busy, "This sign-in asks for nothing now: wait for it.")
}
