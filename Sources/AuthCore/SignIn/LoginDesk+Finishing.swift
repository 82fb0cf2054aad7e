internal import AuthWire

/// The last request of a sign-in, and what comes of it.
extension LoginDesk {
    func finish(_ login: Login) async -> Result<Step, AgentError> {
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

    private func signIn(_ login: Login) async throws(AgentError) -> Step {
        let sentAt: Moment
        var grant: Grant
        if let given = login.grant {
            // Its life began when it was asked for, however long the person took.
            let now = table.clock.now()
            sentAt = Moment(boot: now.deadline(for: given.issuedAt), wall: given.issuedAt)
            grant = await withUser(given, login)
        } else {
            sentAt = table.clock.now()
            let result = await table.provider.signIn(
                login.method, at: login.profile, environment: login.environment, fields: login.fields, sentAt: sentAt)
            grant = try result.mapError(\.error).get()
        }
        // Cancelled meanwhile: the session does not come to be.
        guard isUnderWay(login.id) else { throw AgentError(.denied, "The sign-in was cancelled.") }
        let former = table.board.status(login.session)
        try refuseStranger(grant, former, login)
        let record = try login.record(from: grant, former: former, now: table.clock.now())
        let status = try await table.signedIn(record, sentAt: sentAt)
        let words = [grant.message, login.note].compactMap(\.self)
        let message = words.isEmpty ? nil : words.joined(separator: "\n")
        return Step(login: login.id, kind: .done, message: message, status: status)
    }

    private func requestReset(_ login: Login) async throws(AgentError) -> Step {
        let result = await table.provider.ask(
            login.method, at: login.profile, environment: login.environment, fields: login.fields,
            sentAt: table.clock.now())
        return Step(login: login.id, kind: .done, message: try result.mapError(\.error).get())
    }

    private func changePassword(_ login: Login) async throws(AgentError) -> Step {
        let session = try await table.session(login.session)
        let message = try await table.withToken(of: session) { record in
            await table.provider.perform(login.method, record, fields: login.fields, sentAt: table.clock.now())
        }
        if let field = login.method.newPasswordField, let password = login.fields[field.name] {
            let repeated = ProviderExchange(profile: login.profile).repeatedMethod
            let remembered = repeated?.fields.first { $0.kind == FieldKind.password }
            await session.handle(.passwordSet(password, rememberedAs: remembered?.name))
            try await session.write()
        }
        return Step(login: login.id, kind: .done, message: message, status: try table.status(login.session))
    }

    /// What `password.*` is about: a session, where it needs one; else a provider, and the session named after it.
    func passwordLogin(_ action: PasswordAction, _ params: PasswordParams) throws(AgentError) -> Login {
        let known: SessionStatus?
        if action.needsSession {
            known = try table.status(params.session)
        } else if params.provider == nil || params.session != nil {
            known = table.board.status(params.session)
        } else {
            known = nil
        }
        guard let provider = params.provider ?? known?.provider else {
            throw .invalidParams("params.provider: expected a provider, as there is no such session; found nothing.")
        }
        guard let profile = table.catalog.profiles[provider] else { throw .unknownProvider(provider) }
        guard let method = profile.password[action] else {
            throw AgentError(.unsupported, "\(profile.title) has no way to do that: \(action.words).")
        }
        let environment = params.environment ?? known?.environment
        let name = if let name = params.session ?? known?.session { name } else { try SessionName(provider) }
        return try Login(
            id: Self.newID(), session: name, profile: profile,
            environment: ProviderExchange(profile: profile).environment(named: environment).name, method: method,
            purpose: .password(action), fields: params.fields, now: table.clock.now())
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
