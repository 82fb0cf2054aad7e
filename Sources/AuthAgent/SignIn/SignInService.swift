import AuthMachines
package import AuthModel
package import AuthWire
import Synchronization

/// The sign-ins in progress, and the requests about passwords, which proceed in the same way. The agent never prompts: it
/// returns the fields that it needs, and the client asks the user for them.
///
/// Invariant: one of a session at a time, and ``most`` in all. A sign-in is in progress, or its last step is kept, or it is
/// unknown.
package final class SignInService: Sendable {
    private typealias SignIn = (session: SessionName, runner: Runner<SignInMachine>)

    private struct State {
        var inProgress: [String: SignIn] = [:]
        var ended = EndedSignIns()
    }

    /// Sign-ins that may wait for their users at once: more than a desktop needs, and few enough to be cheap.
    package static let most = 64
    /// No provider makes a longer address: it has a code, a state and a few other members.
    private static let longestAddress = 16 << 10

    /// The clients that providers have registered for authd.
    package let clients: ClientRegistry
    private let context: AgentContext
    private let registry: SessionRegistry
    private let loader: SessionLoader
    private let dependencies: SignInDependencies?
    private let isGuarded: @Sendable (SessionName) -> Bool
    private let signIns = Mutex(State())

    /// - Parameters:
    ///   - dependencies: what signing in with a browser needs; without them it is unsupported.
    ///   - isGuarded: whether the session's token is released only after a check of presence.
    package init(
        context: AgentContext, registry: SessionRegistry, loader: SessionLoader,
        dependencies: SignInDependencies? = nil,
        isGuarded: @escaping @Sendable (SessionName) -> Bool = { _ in false }
    ) {
        self.context = context
        self.registry = registry
        self.loader = loader
        self.dependencies = dependencies
        self.isGuarded = isGuarded
        clients = ClientRegistry(context: context, registry: registry, keys: dependencies?.keys)
    }

    /// - Parameter names: the other sessions that messages may name.
    package func start(
        _ params: LoginStart, naming names: SessionNames = .all
    ) async throws(AgentError) -> Step {
        // The provider of such a session is its URL.
        if let url = params.url ?? (params.provider.contains("://") ? params.provider : nil) {
            return try await start(at: url, params, naming: names)
        }
        guard let profile = context.providers.profiles[params.provider] else { throw .unknownProvider(params.provider) }
        try await refuseWithoutStore()
        var params = params
        params.environment = params.environment ?? environment(of: params.session, at: profile)
        let machine = try SignInMachine(
            id: Self.newID(), params: params, profile: profile, catalog: context.providers.profiles,
            now: context.clock.now())
        return try await begin(machine, replacesOther: params.replacesSignIn)
    }

    /// Where a session is signed in; `nil` if it is unknown, or if the profile no longer has that environment.
    private func environment(of session: SessionName?, at profile: ProviderProfile) -> String? {
        guard let session, let known = context.board.status(session), known.provider == profile.name,
            profile.environments.contains(where: { $0.name == known.environment })
        else { return nil }
        return known.environment
    }

    /// Signs in to a protected resource, which is asked where that is possible.
    private func start(
        at url: String, _ params: LoginStart, naming names: SessionNames
    ) async throws(AgentError) -> Step {
        let url = try ResourceURL(url)
        try await refuseWithoutStore()
        var (profile, notes) = try await ResourceFinder(context: context).profile(of: url, for: params)
        var params = params
        let name = if let name = params.session { name } else { try sessionName(of: url) }
        params.session = name
        // Another sign-in to the session ends first, or goes on.
        if signIns.withLock({ !$0.inProgress.values.contains { $0.session == name } }) {
            let sharing = SharedSignIn(
                context: context, registry: registry, name: name, params: params, profile: profile, url: url,
                isGuarded: isGuarded, names: names)
            switch try await sharing.run() {
            case .none: break
            case .refused(let reason): notes.append(reason)
            case .done(let status, let source):
                let place = names.contains(source) ? source.text : "it"
                notes.append(
                    "The sign-in of \(names.text(source)) was used: a sign-out of \(place) also ends \(name). "
                        + "`--no-share` signs in separately."
                )
                let last = Step(
                    login: Self.newID(), kind: .done, message: notes.joined(separator: "\n"), status: status)
                ended(with: last)
                return last
            }
        }
        if let secret = await knownSecret(of: params, name, profile) { params.fields[OAuthField.clientSecret] = secret }
        let machine = try SignInMachine(
            id: Self.newID(), params: params, profile: profile, catalog: context.providers.profiles, notes: notes,
            now: context.clock.now())
        return try await begin(machine, replacesOther: params.replacesSignIn)
    }

    /// The secret of the user's client that the session is already signed in with, at the same server: the user need
    /// not give it again. `nil` if one was given.
    private func knownSecret(
        of params: LoginStart, _ name: SessionName, _ profile: ProviderProfile
    ) async -> String? {
        guard params.fields[OAuthField.clientSecret] == nil, let id = params.fields[OAuthField.clientID],
            let record = await registry.session(named: name)?.record, let known = record.resource,
            known.clientID == id, known.url == profile.resource?.url, known.issuer == profile.resource?.issuer
        else { return nil }
        return record.clientSecret?.reveal()
    }

    /// The session of this URL, or the first name that is free.
    private func sessionName(of url: ResourceURL) throws(AgentError) -> SessionName {
        var number = 1
        while true {
            let name = try url.sessionName(number)
            guard let known = context.board.status(name), known.provider != url.text else { return name }
            number += 1
        }
    }

    /// `password.set`, `password.change`, `password.request_reset` and `password.reset`.
    package func start(_ action: PasswordAction, _ params: PasswordParams) async throws(AgentError) -> Step {
        if action == .reset { try await refuseWithoutStore() }
        return try await begin(machine(for: action, params), replacesOther: params.replacesSignIn)
    }

    package func answer(_ params: LoginAnswer) async throws(AgentError) -> Step {
        let signIn = try signIn(params.login)
        let former = context.board.status(signIn.session)
        return try await ask(signIn.runner) {
            .answered($0, params.fields, former: former, lent: params.lent, limit: params.timeout)
        }
    }

    /// - Returns: the fields among these that break a rule, and the rules in its message.
    package func check(_ params: LoginCheck) async throws(AgentError) -> Step {
        try await ask(signIn(params.login).runner) { .checkRequested($0, params.fields) }
    }

    /// The present step of this sign-in. While a request is in progress, the next step is waited for. For some time
    /// after its end the last step is returned, with the session's present status: none if the session is gone.
    package func wait(_ params: LoginParams) async throws(AgentError) -> Step {
        let now = context.clock.now().boot
        let (signIn, last) = signIns.withLock { ($0.inProgress[params.login], $0.ended.step(params.login, at: now)) }
        if let signIn { return try await ask(signIn.runner) { .stepRequested($0) } }
        guard var last else { throw .unknownLogin }
        last.status = last.status.flatMap { context.board.status($0.session) }
        return last
    }

    package func cancel(_ params: LoginParams) async throws(AgentError) -> Step {
        try await ask(signIn(params.login).runner) { .cancelRequested($0) }
    }

    package func resend(_ params: LoginParams) async throws(AgentError) -> Step {
        try await ask(signIn(params.login).runner) { .resendRequested($0) }
    }

    /// Passes an address to the sign-in that it ends. It is accepted once.
    ///
    /// Any page in any browser can have the desktop call authd with an address that the page has made. Without the state of a
    /// waiting sign-in it is refused.
    package func redirect(_ params: LoginRedirect) async throws(AgentError) {
        guard params.address.utf8.count <= Self.longestAddress else {
            throw AgentError(
                .tooLarge, "An address that ends a sign-in has at most \(Self.longestAddress >> 10) KiB.")
        }
        let parts = params.address.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? String(parts[1].prefix { $0 != "#" }) : ""
        for signIn in signIns.withLock({ Array($0.inProgress.values) }) {
            let reply = try? await signIn.runner.ask { .redirected($0, uri: String(parts[0]), query: query) }
            if case .success = reply { return }
        }
        throw .unknownAddress
    }

    /// The session of a sign-in that is in progress, or whose last step is kept.
    package func session(of login: String) -> SessionName? {
        let now = context.clock.now().boot
        return signIns.withLock {
            $0.inProgress[login]?.session ?? $0.ended.step(login, at: now)?.status?.session
        }
    }

    package var hasSignIns: Bool { signIns.withLock { !$0.inProgress.isEmpty } }

    /// Ends every sign-in, as if its user had cancelled it.
    package func cancelAll() async {
        let runners = signIns.withLock { $0.inProgress.values.map(\.runner) }
        await withDiscardingTaskGroup { group in
            for runner in runners { group.addTask { _ = try? await self.ask(runner) { .cancelRequested($0) } } }
        }
    }

    // MARK: One sign-in

    /// - Parameter replacesOther: ends another sign-in to the session. Its ID is not disclosed: a client that has the ID can
    ///   answer in its place.
    private func begin(_ machine: SignInMachine, replacesOther: Bool) async throws(AgentError) -> Step {
        let name = machine.session
        let performer = SignInPerformer(
            context: context, registry: registry, clients: clients, dependencies: dependencies,
            ended: { [weak self] in self?.ended(with: $0) })
        let runner = Runner(machine, performer: performer, tasks: context.tasks)
        while let other = try add(runner, machine, replacesOther) {
            do throws(AgentError) {
                // It is not in progress when this returns.
                _ = try await ask(other) { .abandoned($0) }
            } catch {
                guard error == .unknownLogin else { throw error }
            }
        }
        let former = context.board.status(name)
        let step = try await ask(runner) { .begun($0, former: former) }
        // The caller was cancelled as the reply arrived, and does not receive it.
        if Task.isCancelled { _ = try? await ask(runner) { .abandoned($0) } }
        return step
    }

    /// - Returns: another sign-in to the session, which has to end first; `nil`: this one is in progress.
    private func add(
        _ runner: Runner<SignInMachine>, _ machine: SignInMachine, _ replacesOther: Bool
    ) throws(AgentError) -> Runner<SignInMachine>? {
        let (name, provider) = (machine.session, machine.form.profile.name)
        let known = context.board.status(name)
        return try signIns.withLock { signIns throws(AgentError) -> Runner<SignInMachine>? in
            guard signIns.inProgress.count < Self.most else {
                throw AgentError(.busy, "There are \(Self.most) sign-ins in progress: end one of them first.")
            }
            let other = signIns.inProgress.values.first { $0.session == name }
            guard other == nil || replacesOther else {
                throw AgentError(
                    .busy, "A sign-in to session \(name) is in progress: wait for it, or cancel it.",
                    cause: "sign_in_in_progress")
            }
            if let known, known.provider != provider {
                throw AgentError(
                    .conflict,
                    "Session \(name) is at provider \(known.provider): sign out of it first, or choose another name.")
            }
            if other == nil { signIns.inProgress[machine.id] = (name, runner) }
            return other?.runner
        }
    }

    private func signIn(_ id: String) throws(AgentError) -> SignIn {
        guard let signIn = signIns.withLock({ $0.inProgress[id] }) else { throw .unknownLogin }
        return signIn
    }

    private func ended(with last: Step) {
        let now = context.clock.now().boot
        signIns.withLock { signIns in
            signIns.inProgress[last.login] = nil
            signIns.ended.add(last, at: now)
        }
    }

    private func ask(
        _ runner: Runner<SignInMachine>, _ event: @Sendable (CallerID) -> SignInEvent
    ) async throws(AgentError) -> Step {
        try await converting(WaitEnd.self, try await runner.ask(event)).get()
    }

    /// Nothing is sent to a provider for a session that could not be stored.
    private func refuseWithoutStore() async throws(AgentError) {
        await loader.retryPrompts()
        let store = context.board.store
        guard store.state != .ready else { return }
        throw .storeNotRead(store)
    }

    /// What `password.*` is about: a session, if it needs one; else a provider, and the session named after it.
    private func machine(
        for action: PasswordAction, _ params: PasswordParams
    ) throws(AgentError) -> SignInMachine {
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
        guard let profile = context.providers.profile(named: provider) else { throw .unknownProvider(provider) }
        guard let method = profile.password[action] else {
            throw AgentError(.unsupported, "\(profile.title) has no way to do that: \(action.words).")
        }
        let name = if let name = params.session ?? known?.session { name } else { try SessionName(provider) }
        let form = try SignInForm(
            profile: profile, environment: params.environment ?? known?.environment, method: method,
            answers: params.fields)
        return SignInMachine(
            id: Self.newID(), session: name, purpose: .password(action), form: form,
            mayReplaceAccount: params.replaceAccount, limit: params.timeout, now: context.clock.now())
    }

    /// Random, so that another program cannot guess it and answer in the client's place.
    private static func newID() -> String { "l" + String(UInt64.random(in: .min ... .max), radix: 36) }
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
