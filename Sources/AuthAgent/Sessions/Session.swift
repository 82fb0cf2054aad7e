package import AuthMachines
package import AuthModel
package import AuthWire

/// One session of the agent: its ``SessionMachine``, and what can be asked of it.
package final class Session: Sendable {
    private let runner: Runner<SessionMachine>
    private let performer: SessionPerformer

    init(_ machine: SessionMachine, performer: SessionPerformer) {
        self.performer = performer
        runner = Runner(machine, performer: performer, tasks: performer.context.tasks)
    }

    package var name: SessionName { performer.name }
    private var providers: ProviderClient { performer.context.providers }

    package func begin() async { await runner.send(.begun) }

    /// Begins a restored session: its origins are compared before a request could be sent. One step does all of it,
    /// because an agent may start with many sessions.
    /// - Parameters:
    ///   - isShared: whether other hosts renew the session, too.
    ///   - news: the state of the network for the provider at `origin`.
    /// - Returns: see ``networkChanged(_:at:)``.
    func beginRestored(isShared: Bool, _ news: VersionedNetworkState, at origin: Origin?) async -> Bool {
        await runner.together { [self] runner in
            checkOrigins(on: runner)
            if isShared { runner.send(.shared(true)) }
            return networkChanged(news, at: origin, on: runner)
        }
    }

    package func handle(_ event: SessionEvent) async { await runner.send(event) }

    /// Another program may have changed the record.
    /// - Returns: whether this session was signed out of: it ends.
    func mayDiffer() async -> Bool {
        await runner.together { runner in
            runner.send(.storeChanged)
            return runner.read { $0.signedOut }
        }
    }

    /// The same for what was learned with this record. It is dropped if the session has another sign-in by now.
    package func handle(_ event: SessionEvent, learnedWith record: SessionRecord) async {
        await runner.together { runner in
            if runner.read({ $0.record }).signIn == record.signIn { runner.send(event) }
        }
    }

    package var record: SessionRecord {
        get async { performer.cookies.added(to: await runner.read { $0.record }) }
    }

    /// `nil` if the session has another sign-in, or was signed out of.
    func record(of signIn: SignInID) async -> SessionRecord? {
        let record = await runner.read { $0.signedOut || $0.record.signIn != signIn ? nil : $0.record }
        return record.map { performer.cookies.added(to: $0) }
    }

    /// Stores the cookies of an API call that was made with this record.
    func storeCookies(of reply: HTTPResponse, from url: String, sentAt: WallTime, for record: SessionRecord) async {
        let current = await runner.read { $0.record }
        guard current.signIn == record.signIn else { return }
        performer.cookies.store(reply, from: url, sentAt: sentAt, of: current)
    }

    /// The origin of its provider in the present profile; `nil` if there is no profile any more.
    package var origin: Origin? {
        get async { providers.probe(await record)?.origin }
    }

    /// Whether it is the one that this runner runs.
    package func isRun(by other: Runner<SessionMachine>) -> Bool { runner === other }

    /// Returns when its actor has handled what it was sent before.
    func answers() async { await runner.read { _ in } }

    // MARK: Changes from outside

    /// Records the state of the network for the provider at `origin`. An older version than the last one is dropped.
    /// - Returns: `false` if the provider is at another origin by now: the state is then not about it. `true` even if the
    ///   session has ended: it needs no state.
    package func networkChanged(_ news: VersionedNetworkState, at origin: Origin?) async -> Bool {
        await runner.together { [self] in networkChanged(news, at: origin, on: $0) }
    }

    private func networkChanged(
        _ news: VersionedNetworkState, at origin: Origin?, on runner: isolated Runner<SessionMachine>
    ) -> Bool {
        guard origin == providers.probe(runner.read { $0.record })?.origin else { return false }
        runner.send(.networkChanged(news.state), version: news.version, from: .network)
        return true
    }

    /// The profiles were replaced: the new ones decide whether anything renews this session.
    package func profilesChanged() async {
        await runner.together { [providers] runner in
            runner.send(.renewable(providers.means(of: runner.read { $0.record })))
        }
    }

    /// Records what renews this session with the sign-in that it shares. An older version than the last one is dropped, and so is
    /// one that was read when the session had another sign-in.
    package func sharedSignInChanged(
        _ means: RenewalMeans, version: UInt64, readWith record: SessionRecord
    ) async {
        await runner.together { runner in
            guard runner.read({ $0.record }).signIn == record.signIn else { return }
            runner.send(.renewable(means), version: version, from: .sessions)
        }
    }

    /// A new sign-in to this session.
    /// - Parameters:
    ///   - revokesFormer: whether the tokens of the former account are revoked.
    ///   - reset: if its password was reset, so that a remembered sign-in uses the new one.
    /// - Returns: `false` if the session has ended: the sign-in needs a new session.
    package func replace(
        with record: SessionRecord, sentAt: Moment, revokesFormer: Bool = false, reset: PasswordReplacement? = nil
    ) async -> Bool {
        await runner.together { [providers] runner in
            guard !runner.read({ $0.isGone }) else { return false }
            var record = record
            // After a sign-out, nothing of the former session is used again.
            if let reset, let former = runner.read({ $0.signedOut ? nil : $0.record }) {
                record = reset.completed(record, replacing: former)
            }
            runner.send(.renewable(providers.means(of: record)))
            runner.send(.replaced(record, sentAt: sentAt, revokesFormer: revokesFormer))
            return true
        }
    }

    /// Compares the origins that the present profile names with those that the session was signed in at. A record of an older
    /// version, without origins, takes the profile's.
    package func checkOrigins() async {
        await runner.together { [self] in checkOrigins(on: $0) }
    }

    private func checkOrigins(on runner: isolated Runner<SessionMachine>) {
        let record = runner.read { $0.record }
        if record.origins != nil {
            runner.send(.originsChecked(providers.originChange(of: record)))
        } else if let named = providers.namedOrigins(of: record) {
            runner.send(.originsTrusted(named))
        }
    }

    /// Lets the tokens of this record be sent to these places.
    /// - Returns: whether they may be; `false` if the session has another sign-in or other places by now, or the profile
    ///   names others.
    package func trust(_ origins: TokenOrigins, of record: SessionRecord) async -> Bool {
        await performer.trust(origins, of: record, on: runner)
    }

    /// A request with this record failed. If it was not sent because of where it would have gone, the status says so.
    func note(_ failure: ProviderFailure, with record: SessionRecord) async {
        guard failure.error.isOriginChange else { return }
        await runner.together { runner in
            let current = runner.read { $0.record }
            // Another place may be trusted since.
            guard current.signIn == record.signIn, current.origins == record.origins else { return }
            runner.send(.originsChecked(failure.error))
        }
    }

    // MARK: What callers ask

    package func token(minValid: Duration?) async throws(AgentError) -> TokenResult {
        try await token { .tokenRequested($0, minValid: minValid) }
    }

    /// - Parameter isNew: whether a token must be requested even if a valid one is known.
    package func token(
        for target: TokenTarget, minValid: Duration?, isNew: Bool = false
    ) async throws(AgentError) -> TokenResult {
        try await token { .targetedTokenRequested($0, target, minValid: minValid, isNew: isNew) }
    }

    private func token(_ event: @Sendable (CallerID) -> SessionEvent) async throws(AgentError) -> TokenResult {
        switch try await ask(event) {
        case .token(var result):
            let (now, answered) = (performer.context.clock.now(), result)
            result.valid = await runner.read { $0.validity(of: answered, at: now) }
            return result
        case .failure(let error): throw error
        case .done: throw AgentError(.internal_, "A token was requested, and none was returned.")
        }
    }

    /// The record with a token that is good now.
    package func liveRecord() async throws(AgentError) -> SessionRecord {
        _ = try await token(minValid: nil)
        return await record
    }

    /// Sends a request with a valid token; once more with a new one if the provider did not accept the first.
    /// - Returns: the answer, and the record that it was requested with.
    func withToken<Answer: Sendable>(
        _ request: (SessionRecord) async throws(ProviderFailure) -> Answer
    ) async throws(AgentError) -> (Answer, SessionRecord) {
        let record = try await liveRecord()
        do throws(ProviderFailure) {
            return (try await request(record), record)
        } catch {
            guard error.rejectsToken else {
                await note(error, with: record)
                throw error.error
            }
        }
        try await reject(record.tokens.accessToken)
        let renewed = try await liveRecord()
        return (try await converting(ProviderFailure.self, try await request(renewed)), renewed)
    }

    package func renew() async throws(AgentError) {
        try await finish { .renewalRequested($0) }
    }

    /// - Parameter isFinal: whether the provider's refusal of the token was its final answer about the session.
    package func reject(_ token: Secret, isFinal: Bool = false) async throws(AgentError) {
        try await finish { .rejected($0, token, isFinal: isFinal) }
    }

    /// - Returns: the session's own tokens and the targeted ones, to be revoked at the provider, and how the removal from the
    ///   store ended.
    package func signOut(
        revokes: Bool
    ) async -> (tokens: [SessionRecord], targeted: [SessionRecord], removed: Result<Void, AgentError>) {
        let removed: Result<Void, AgentError> = await Result(
            of: try await finish { .signOutRequested($0, revokes: revokes) })
        let (tokens, targeted) = await runner.read { ($0.signedOutTokens, $0.signedOutTargets) }
        return (tokens, targeted, removed)
    }

    /// Returns when the newest record is in the store, or the store has refused it.
    package func write() async throws(AgentError) {
        try await finish { .writeRequested($0) }
    }

    /// Returns when no request to the provider is in progress, or when the session is closed.
    package func requestsEnded() async {
        _ = try? await ask { .requestsEndRequested($0) }
    }

    /// Each wait ends with `stopping`, now and later: the agent stops.
    package func close() async { await runner.close() }

    private func finish(_ event: @Sendable (CallerID) -> SessionEvent) async throws(AgentError) {
        if case .failure(let error) = try await ask(event) { throw error }
    }

    private func ask(_ event: @Sendable (CallerID) -> SessionEvent) async throws(AgentError) -> SessionReply {
        try await converting(WaitEnd.self, try await runner.ask(event))
    }
}
