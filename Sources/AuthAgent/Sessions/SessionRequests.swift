import AuthConcurrency
package import AuthMachines
package import AuthModel
package import AuthWire

/// The requests of clients that are about sessions.
package struct SessionRequests: Sendable {
    package let context: AgentContext
    package let registry: SessionRegistry
    private let signOuts: PendingSignOuts
    private let handovers: PendingHandover

    package init(context: AgentContext, registry: SessionRegistry, storage: SessionStorage) {
        self.context = context
        self.registry = registry
        signOuts = storage.signOuts
        handovers = storage.handovers
    }

    private var board: StateBoard { context.board }
    var providers: ProviderClient { context.providers }

    // MARK: Answers from memory, on any thread

    /// `nil`: memory cannot answer, ``token(_:)`` can.
    package func liveToken(_ params: TokenGet) -> LiveToken? {
        guard params.scopes == nil, params.audience == nil, params.origin == nil else { return nil }
        return board.liveToken(params.session, minValid: params.minValid, at: context.clock.now().boot)
    }

    /// Sorted by name. If there are none, and the store has not been read yet, the answer is an error: it may have some.
    package func list() throws(AgentError) -> [SessionStatus] {
        let statuses = board.statuses()
        if statuses.isEmpty, !registry.isLoaded { throw .storeNotRead(board.store) }
        return statuses
    }

    package func status(_ session: SessionName?) throws(AgentError) -> SessionStatus {
        try registry.status(session)
    }

    // MARK: Tokens

    package func token(_ params: TokenGet) async throws(AgentError) -> TokenResult {
        guard let origin = params.origin else {
            return try await token(params, of: try await registry.session(params.session))
        }
        let session = try await session(params, for: origin)
        try await check(origin, of: session, audience: params.audience)
        let token = try await token(params, of: session)
        // The session may have been signed in elsewhere while the token was waited for.
        try await check(origin, of: session, audience: params.audience)
        return token
    }

    /// The named session. Without a name, the default session if it belongs to the origin, otherwise the only one that
    /// does.
    private func session(_ params: TokenGet, for url: String) async throws(AgentError) -> Session {
        let session: Session?
        let absence: AgentError
        do throws(AgentError) {
            (session, absence) = (try await registry.session(params.session), .noSession)
        } catch {
            (session, absence) = (nil, error)
        }
        guard params.session == nil, params.audience == nil, let origin = Origin(of: url) else {
            if let session { return session }
            throw absence
        }
        // One that is still missing may be the default session.
        if session == nil, handovers.isIncomplete { throw absence }
        let fitting = await sessions(at: origin)
        if let session, fitting.isEmpty || fitting.contains(where: { $0.name == session.name }) { return session }
        guard fitting.count <= 1 else { throw .severalSessions(fitting.map(\.name), at: origin) }
        guard let only = fitting.first else { throw absence }
        return only
    }

    /// The sessions whose tokens may be sent to an origin, sorted by name.
    private func sessions(at origin: Origin) async -> [Session] {
        var found: [Session] = []
        for session in registry.all where providers.tokenOrigins(await session.record).contains(origin) {
            found.append(session)
        }
        return found.sorted { $0.name.text < $1.name.text }
    }

    private func token(_ params: TokenGet, of session: Session) async throws(AgentError) -> TokenResult {
        guard let target = try TokenTarget(params) else { return try await session.token(minValid: params.minValid) }
        let record = await session.record
        guard let profile = providers.profile(of: record), let oauth = profile.oauth else {
            throw .notOAuth(record.provider)
        }
        guard oauth.givesTargetedTokens else { throw .noTargetedTokens(profile) }
        // The token that is exchanged must be valid itself.
        if target.audience != nil, oauth.audienceBy == .exchange { _ = try await session.token(minValid: nil) }
        return try await session.token(for: target, minValid: params.minValid)
    }

    /// - Throws: `denied` if the token that is requested does not belong to the origin that the caller sends it to.
    private func check(_ url: String, of session: Session, audience: String?) async throws(AgentError) {
        guard let origin = Origin(of: url) else {
            throw .invalidParams("params.origin: expected an http or https URL; found something else.")
        }
        // A token for another audience belongs there, if that is an address.
        let target = audience.flatMap { Origin(of: $0) }
        let record = await session.record
        let places = if let target { [target] } else { providers.tokenOrigins(record) }
        guard !places.contains(origin) else { return }
        if let change = providers.originChange(of: record) { throw change }
        let fitting = await sessions(at: origin).map { "`-s \($0.name)` belongs to \(origin)" }
        throw .otherOrigin(origin, session.name, places, fitting)
    }

    package func reject(_ params: TokenReject) async throws(AgentError) -> SessionStatus {
        let session = try await registry.session(params.session)
        try await session.reject(Secret(params.accessToken))
        return try status(session.name)
    }

    /// A proof for a program that sends its own request.
    package func proof(_ params: TokenProof) async throws(AgentError) -> ProofResult {
        let session = try await registry.session(params.session)
        let record = params.accessToken == nil ? try await session.liveRecord() : await session.record
        guard let key = record.tokens.proofKey else {
            throw AgentError(
                .unsupported, "The tokens of session \(session.name) are bound to no key: they need no proof.",
                cause: "not_bound")
        }
        guard Origin(of: params.url) != nil, params.url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .invalidParams("params.url: expected a whole address, http or https; found something else.")
        }
        guard !params.method.isEmpty, params.method.utf8.allSatisfy({ $0.isUppercase || $0.isLowercase }) else {
            throw .invalidParams("params.method: expected a method of HTTP, such as GET; found something else.")
        }
        let token = params.accessToken.map { Secret($0) } ?? record.tokens.accessToken
        let proof = try await providers.signer.proof(
            ProofRequest(key: key, accessToken: token), method: params.method, url: params.url, nonce: params.nonce)
        return ProofResult(proof: proof.reveal(), session: session.name)
    }

    /// Begins a renewal without waiting for it. The result is in the session's status.
    package func startRenewal(of session: SessionName) {
        context.tasks.pool.order { try? await registry.session(named: session)?.renew() }
    }

    package func refresh(_ params: SessionParams) async throws(AgentError) -> SessionStatus {
        let session = try await registry.session(params.session)
        try await session.renew()
        return try status(session.name)
    }

    /// Asks the provider whether the session is valid. If it has no request for that, only the token's expiry decides.
    /// - Parameter deadline: of the request.
    package func validate(
        _ params: SessionParams, until deadline: BootInstant? = nil
    ) async throws(AgentError) -> SessionStatus {
        let now = context.clock.now().boot
        let end = now + NetworkWait.longest(within: deadline.map { max($0 - now, .zero) })
        let session = try await registry.session(params.session)
        try await waitForNetwork(await session.record, until: end)
        let record = try await session.liveRecord()
        if providers.profile(of: record)?.renewal.kind == .validate {
            try await session.renew()
            return try status(session.name)
        }
        let grant: Grant?
        do throws(ProviderFailure) {
            grant = try await providers.validate(record, sentAt: context.clock.now())
        } catch {
            var isFinal = if case .final = error { true } else { false }
            // A page from a proxy may have the status 401 too.
            guard isFinal || error.rejectsToken else {
                await session.note(error, with: record)
                throw error.error
            }
            // Nothing else can be tried: this was the provider's answer about the session. At an OAuth server, UserInfo may
            // refuse a token because of its scopes or audience.
            let isOAuth = providers.profile(of: record)?.oauth != nil
            if providers.means(of: record) == .none, !isOAuth { isFinal = true }
            try await session.reject(record.tokens.accessToken, isFinal: isFinal)
            // A token that was issued just now is not renewed for that, and the provider does not accept it.
            if await session.record.tokens.accessToken == record.tokens.accessToken { throw error.error }
            return try status(session.name)
        }
        if let user = grant?.user, let raw = grant?.rawUser {
            await session.handle(.userReceived(user, raw: raw), learnedWith: record)
        }
        var status = try status(session.name)
        if grant == nil { status.message = status.message ?? nothingToQuery(record) }
        return status
    }

    private func waitForNetwork(_ record: SessionRecord, until end: BootInstant) async throws(AgentError) {
        guard let profile = providers.profile(of: record),
            profile.oauth != nil || profile.validation != nil || profile.renewal.kind == .validate,
            context.isOffline(for: profile, in: record.environment)
        else { return }
        guard await context.networkReturns(before: end) else { throw .noNetworkInTime }
    }

    private func nothingToQuery(_ record: SessionRecord) -> String {
        let reason =
            if let profile = providers.profile(of: record), profile.oauth != nil {
                "\(profile.title) offers neither UserInfo nor introspection to this client"
            } else {
                "the profile of \(record.provider) has no request that validates a session"
            }
        return "There is nothing to query: \(reason). This is what authd knows by itself."
    }

    /// Signs out on this machine, with or without a network; then notifies the provider, if it has a request for that.
    package func logout(_ params: SessionLogout) async throws(AgentError) -> SessionStatus {
        let session = try await registry.session(params.session)
        let outcome = OneShot<Result<SessionStatus, AgentError>>()
        // Finished even if the caller is gone: otherwise the tokens would not be revoked.
        let isAccepted = context.tasks.pool.order { () async in
            outcome.send(await Result(of: try await signOut(session, revokes: params.revoke)))
        }
        guard isAccepted else { throw .stopping }
        guard let outcome = await outcome.value() else { throw .callerGone }
        return try outcome.get()
    }

    private func signOut(_ session: Session, revokes: Bool) async throws(AgentError) -> SessionStatus {
        let record = await session.record
        var last = try status(session.name)
        let isShared = record.resource?.sharedSession != nil
        // Records of an imported bundle may name each other.
        let sharing = isShared ? [] : await registry.sessions(sharing: session.name)
        // These sessions end with the sign-in that they share, even if the store fails.
        for other in sharing { _ = try? await signOut(other, revokes: revokes) }
        let note = defaultNote(removing: session.name)
        signOuts.begin(record)
        // At the same time as the store's work, so that a disk that does not respond cannot delay the sign-out.
        async let marking = signOuts.keep()
        let (tokens, targeted, removed) = await session.signOut(revokes: revokes)
        // The provider is notified even if the store could not remove the session: the tokens that it keeps are useless then.
        var unreported: ProviderFailure?
        for record in revokes ? tokens : [] {
            do throws(ProviderFailure) {
                try await providers.signOut(record, sentAt: context.clock.now())
            } catch {
                unreported = unreported ?? error
            }
        }
        // If the provider cannot be notified of these, the request for the others would fail too.
        if revokes, unreported == nil { unreported = await endTogether(targeted) }
        let page = revokes && !isShared ? await providers.signOutPage(record, at: context.clock.now()) : nil
        let unmarked = await marking
        do throws(AgentError) {
            try removed.get()
        } catch {
            throw unmarked.map { error.withUnrecordedSignOut($0) } ?? error
        }
        // The store has no record of it any more, so the mark is removed.
        _ = await signOuts.keep()
        last.state = .signedOut
        last.cause = nil
        let words = [
            unreported.map { "Signed out here; the provider could not be notified: \($0.error.message)" },
            page.map { "Your browser may still be signed in. To end that too, open \($0)" },
            sharing.isEmpty
                ? nil
                : "Signed out too, as they shared this sign-in: "
                    + sharing.map(\.name.text).joined(separator: ", ") + ".",
            record.resource?.sharedSession.map {
                "Session \($0), whose sign-in it shared, stays signed in. The server accepts the token until its end."
            },
            note,
        ].compactMap(\.self)
        last.message = words.isEmpty ? nil : words.joined(separator: "\n")
        return last
    }

    /// Revokes targeted tokens, all at once, so that the sign-out takes no longer than one of them.
    /// - Returns: why one of them may still be valid.
    private func endTogether(_ targeted: [SessionRecord]) async -> ProviderFailure? {
        await withTaskGroup { group in
            for record in targeted {
                group.addTask { () async -> ProviderFailure? in
                    do throws(ProviderFailure) {
                        try await providers.signOut(record, sentAt: context.clock.now())
                        return nil
                    } catch {
                        return error
                    }
                }
            }
            return await group.reduce(nil) { $0 ?? $1 }
        }
    }

    /// How the sign-out of a session changes the default one, in words; `nil` if it does not.
    private func defaultNote(removing session: SessionName) -> String? {
        let (now, then) = board.defaultChange(removing: session)
        if let then { return then == now ? nil : "The default session is \(then) now." }
        let left = board.statuses().map(\.session).filter { $0 != session }
        guard now == session, !left.isEmpty else { return nil }
        return "There is no default session now. Choose one with `authc use NAME`: "
            + left.map(\.text).joined(separator: ", ")
    }

    /// Makes a session the default one.
    package func use(_ params: SessionUse) async throws(AgentError) -> SessionStatus {
        let session = try await registry.session(params.session)
        await session.handle(.defaultChosen(after: board.defaultMarks(besides: session.name).values.max()))
        await registry.endDefault(board.defaultMarks(besides: session.name))
        try await session.write()
        return try status(params.session)
    }

    /// Returns when the goal is reached, or fails with `timeout` at the caller's limit. Fails with `not_signed_in` if the goal
    /// is to be signed out and there is no session: then there is no status to return.
    package func wait(_ params: SessionWait) async throws(AgentError) -> SessionStatus {
        for await _ in board.changes() {
            if let status = reached(params) { return status }
            // Without a session there is nothing to return; with several and no default, it is unknown which one is meant.
            if params.session == nil, params.until == .signedOut || board.sessionCount > 1,
                board.store.state == .ready, board.status(nil) == nil
            {
                throw registry.absence(of: nil)
            }
        }
        throw AgentError(.timeout, "The session did not become \(params.until.rawValue) in time.")
    }

    private func reached(_ params: SessionWait) -> SessionStatus? {
        let status = board.status(params.session)
        switch params.until {
        case .active: return status?.state == .active ? status : nil
        case .online: return status?.state == .active && board.network.state == .online ? status : nil
        case .signedOut:
            guard let status else { return signedOutStatus(params.session) }
            return status.state == .signedOut || status.state == .signInRequired ? status : nil
        }
    }

    private func signedOutStatus(_ session: SessionName?) -> SessionStatus? {
        // A store that was not read yet may hold it.
        guard board.store.state == .ready, let session else { return nil }
        return SessionStatus(
            session: session, provider: "", state: .signedOut, needsPassword: false, unsaved: false,
            isDefault: false)
    }

    /// Returns the origins that the profile sends tokens to and that the session was not signed in at, or trusts them.
    ///
    /// - Throws: `conflict` if the user agreed to places other than those that the profile names now.
    package func trust(_ params: SessionTrust) async throws(AgentError) -> TrustResult {
        let session = try await registry.session(params.session)
        let record = await session.record
        guard let profile = providers.profile(of: record) else { throw .unknownProvider(record.provider) }
        let now = context.clock.now()
        guard
            let found = try await converting(
                ProviderFailure.self, try await providers.origins(of: profile, in: record.environment, at: now))
        else {
            throw AgentError(
                .validation, "\(profile.title) has no environment \(record.environment) any more: sign in again.")
        }
        let change = record.origins?.change(to: found) ?? OriginChange(former: [], new: [])
        if let agreed = params.origins {
            guard Set(agreed) == Set(change.new) else {
                throw AgentError(
                    .conflict, "The profile \(record.provider) does not name these places for session \(session.name).",
                    cause: AgentError.originChangedCause, details: change.new)
            }
            // Since the question the session may have changed: the provider was asked meanwhile.
            guard await session.trust(found, of: record) else {
                throw AgentError(
                    .conflict, "Session \(session.name) or its profile has changed meanwhile: try again.",
                    cause: AgentError.originChangedCause)
            }
            try await session.write()
        }
        return TrustResult(
            former: change.former, origins: change.new, isTrusted: params.origins != nil,
            status: try status(session.name))
    }
}
