internal import AuthMachines
internal import AuthModel
internal import AuthWire

/// The last request of a sign-in, and what comes of it.
extension SignInService {
    /// - Returns: the last step; `nil` if the user is asked something first.
    func finish(_ login: SignInProgress) async -> Result<Step?, AgentError> {
        do throws(AgentError) {
            switch login.purpose {
            case .signIn, .password(.reset): return .success(try await signIn(login))
            case .password(.requestReset): return .success(try await requestReset(login))
            case .password(.set), .password(.change): return .success(try await changePassword(login))
            }
        } catch {
            return .failure(error)
        }
    }

    private func signIn(_ login: SignInProgress) async throws(AgentError) -> Step? {
        let sentAt: Moment
        var grant: Grant
        if let held = login.held {
            grant = held.grant
            sentAt = held.sentAt
        } else if let given = login.grant {
            // Its life began when it was asked for, however long the person took.
            let now = context.clock.now()
            sentAt = Moment(boot: now.deadline(for: given.issuedAt), wall: given.issuedAt)
            grant = await withUser(given, login)
        } else {
            sentAt = context.clock.now()
            let result = await context.providers.signIn(
                login.method, at: login.profile, environment: login.environment, fields: login.fields, sentAt: sentAt)
            grant = try result.mapError(\.error).get()
            // Without a user nothing could tell that the account is another one.
            if grant.user == nil, context.board.status(login.session)?.user != nil {
                grant = await withUser(grant, login)
            }
        }
        let former = context.board.status(login.session)
        let change = AccountChange(from: former, to: grant.user, login)
        // As they were for this sign-in: what a server publishes about itself is still fresh.
        let origins = try? await context.providers.origins(
            of: login.profile, in: login.environment, at: context.clock.now()
        ).get()
        // Cancelled meanwhile: the session is not made, and nobody uses what came for it.
        guard isInProgress(login.id) else {
            if login.held == nil { discard(grant, of: login) }
            throw .cancelledLogin
        }
        if let change, !login.mayReplaceAccount {
            hold(grant, sentAt: sentAt, for: login.id, until: change)
            return nil
        }
        useHeld(by: login.id)
        var record = try login.record(from: grant, former: former, now: context.clock.now())
        record.origins = origins ?? login.profile.origins(in: login.environment)
        let status = try await registry.signedIn(record, sentAt: sentAt, revokesFormer: change != nil)
        let words = [grant.message, login.note].compactMap(\.self)
        let message = words.isEmpty ? nil : words.joined(separator: "\n")
        return Step(login: login.id, kind: .done, message: message, status: status)
    }

    /// Has the provider revoke tokens that no session will have.
    func discard(_ grant: Grant, of login: SignInProgress) {
        guard let record = try? login.record(from: grant, former: nil, now: context.clock.now()) else { return }
        context.tasks.pool.order { [context] in
            // Whoever it fails for can do nothing about it: the tokens end by themselves.
            _ = await context.providers.signOut(record, sentAt: context.clock.now())
        }
    }

    private func requestReset(_ login: SignInProgress) async throws(AgentError) -> Step {
        let result = await context.providers.ask(
            login.method, at: login.profile, environment: login.environment, fields: login.fields,
            sentAt: context.clock.now())
        return Step(login: login.id, kind: .done, message: try result.mapError(\.error).get())
    }

    private func changePassword(_ login: SignInProgress) async throws(AgentError) -> Step {
        let session = try await registry.session(login.session)
        let (message, record) = try await session.withToken { record in
            await context.providers.perform(login.method, record, fields: login.fields, sentAt: context.clock.now())
        }
        if let field = login.method.newPasswordField, let password = login.fields[field.name] {
            let repeated = ProviderExchange(profile: login.profile).repeatedMethod
            let remembered = repeated?.fields.first { $0.kind == FieldKind.password }
            await session.handle(.passwordSet(password, rememberedAs: remembered?.name), learnedWith: record)
            try await session.write()
        }
        return Step(login: login.id, kind: .done, message: message, status: try registry.status(login.session))
    }

    /// What `password.*` is about: a session, where it needs one; else a provider, and the session named after it.
    func passwordLogin(_ action: PasswordAction, _ params: PasswordParams) throws(AgentError) -> SignInProgress {
        let known: SessionStatus?
        if action.needsSession {
            known = try registry.status(params.session)
        } else if params.provider == nil || params.session != nil {
            known = context.board.status(params.session)
        } else {
            known = nil
        }
        guard let provider = params.provider ?? known?.provider else {
            throw .invalidParams("params.provider: expected a provider, as there is no such session; found nothing.")
        }
        guard let profile = context.catalog.profiles[provider] else { throw .unknownProvider(provider) }
        guard let method = profile.password[action] else {
            throw AgentError(.unsupported, "\(profile.title) has no way to do that: \(action.words).")
        }
        let environment = params.environment ?? known?.environment
        let name = if let name = params.session ?? known?.session { name } else { try SessionName(provider) }
        return try SignInProgress(
            id: Self.newID(), session: name, profile: profile,
            environment: ProviderExchange(profile: profile).environment(named: environment).name, method: method,
            purpose: .password(action), mayReplaceAccount: params.replaceAccount, fields: params.fields,
            now: context.clock.now())
    }
}

extension PasswordAction {
    fileprivate var words: String {
        switch self {
        case .set: "set a first password"
        case .change: "change the password"
        case .requestReset: "ask for a reset of the password"
        case .reset: "reset the password"
        }
    }
}
