import AuthMachines
import AuthModel
import AuthWire

/// Signs in to a resource with the sign-in of another session at the same server, without the user.
///
/// Invariant: a token is sent to a new resource only if it is known to be for that resource. A malicious resource could
/// name the server of another one, and a server that ignores `resource` would then issue a token for that other
/// resource.
struct SharedSignIn {
    let context: AgentContext
    let registry: SessionRegistry
    let name: SessionName
    let params: LoginStart
    /// Generated for the new resource.
    let profile: ProviderProfile
    /// The address of the resource, with its query string.
    let url: ResourceURL
    /// A session whose token is released only after a check of presence: its sign-in is not used for others.
    let isGuarded: @Sendable (SessionName) -> Bool
    /// The sessions that messages may name.
    let names: SessionNames

    enum Outcome {
        /// No session has a sign-in that could be used.
        case none
        /// Why the sign-in of a session could not be used, as a message for the user.
        case refused(String)
        case done(SessionStatus, source: SessionName)
    }

    func run() async throws(AgentError) -> Outcome {
        guard let source = await source(), var resource = try profile.requesting(params.scopes).resource else {
            return .none
        }
        let record = await source.record
        guard let known = record.resource else { return .none }
        resource.clientSource = known.clientSource
        resource.clientID = known.clientID
        resource.clientAuthentication = known.clientAuthentication
        resource.sharedSession = source.name
        resource.sharedSignIn = record.signIn
        let now = context.clock.now()
        let grant: Grant
        let refusal: String?
        do throws(AgentError) {
            grant = try await registry.token(for: resource, of: source, sentAt: now)
            // Some servers revoke the source's own token when they issue another one. It is renewed if that may have
            // happened.
            _ = try await source.token(minValid: nil)
            refusal = try await self.refusal(of: grant)
        } catch {
            return .refused(words(source.name, error.providerMessage ?? error.message))
        }
        if let refusal { return .refused(words(source.name, refusal)) }
        guard await source.record.signIn == record.signIn else {
            return .refused(words(source.name, "it was signed in again meanwhile."))
        }
        let shared = try await self.record(of: resource, grant, from: record, at: now)
        return .done(try await registry.signedIn(shared, sentAt: now), source: source.name)
    }

    private func words(_ source: SessionName, _ reason: String) -> String {
        // The reason may name the session, too.
        "The sign-in of \(names.text(source)) could not be used for this resource"
            + (names.contains(source) ? ": \(reason)" : ".")
    }

    // MARK: The other session

    /// The session whose sign-in is used. `nil` if there is none, if several could be meant, or if the user asked for something
    /// that requires a separate sign-in.
    private func source() async -> Session? {
        guard params.share, params.method == nil, await mayReplace() else { return nil }
        var found: [(session: Session, user: String?)] = []
        for session in registry.all where session.name != name && context.board.status(session.name)?.state == .active {
            let record = await session.record
            if isSource(record) { found.append((session, record.user?.id)) }
        }
        found.sort { $0.session.name < $1.session.name }
        // If they belong to different users, only a sign-in with a browser shows which user is meant.
        let isOneUser = found.count == 1 || (Set(found.map(\.user)).count == 1 && found.first?.user != nil)
        return isOneUser ? found.first { !isGuarded($0.session.name) }?.session : nil
    }

    /// A session's own sign-in is never replaced by a shared one.
    private func mayReplace() async -> Bool {
        guard context.board.status(name) != nil else { return true }
        return await registry.session(named: name)?.record.resource.map {
            $0.sharedSession != nil && $0.url == profile.name
        } ?? false
    }

    private func isSource(_ record: SessionRecord) -> Bool {
        guard let resource = profile.resource, let known = record.resource, known.sharedSession == nil,
            known.issuer == resource.issuer, record.tokens.refreshToken?.isEmpty == false, record.tokens.proofKey == nil
        else { return false }
        let fields = Set(params.fields.keys).subtracting([OAuthField.clientID, OAuthField.clientSecret])
        guard fields.isEmpty else { return false }
        if let id = params.fields[OAuthField.clientID] { return known.clientSource == .user && known.clientID == id }
        return known.clientSource == resource.clientSource
            && (known.clientSource != .document || known.clientID == resource.clientID)
    }

    // MARK: The token

    /// - Returns: why this token cannot be used; `nil` if the resource accepts it.
    private func refusal(of grant: Grant) async throws(AgentError) -> String? {
        guard let token = grant.accessToken else { return "the server did not issue a token." }
        // HEAD, because many MCP servers answer a GET that has a token with a stream that does not end.
        var request = HTTPRequest(
            method: "HEAD", url: url.text + url.query, headers: [.authorization(token, boundTo: nil)])
        request.limit = ResourceDiscovery.timeout
        let reply = try await converting(ProviderFailure.self, try await context.providers.send(request))
        return reply.status == 401 || reply.status == 403
            ? "the resource does not accept the token (HTTP \(reply.status))." : nil
    }

    private func record(
        of resource: ProtectedResource, _ grant: Grant, from source: SessionRecord, at now: Moment
    ) async throws(AgentError) -> SessionRecord {
        let scopes = resource.scopes.isEmpty ? source.tokens.scopes?.granted : resource.scopes
        var record = SessionRecord(
            session: name, provider: resource.url, environment: ProviderProfile.generatedEnvironment,
            method: source.method,
            tokens: TokenSet(
                accessToken: grant.accessToken ?? Secret(""), tokenType: grant.tokenType ?? "Bearer",
                issuedAt: grant.issuedAt, expiresAt: grant.expiresAt, scopes: scopes.map { TokenScopes(granted: $0) }),
            user: source.user, rawUser: source.rawUser, userReceivedAt: source.userReceivedAt,
            signedInAt: now.wall, signIn: .random(), clientSecret: source.clientSecret, client: source.client)
        record.resource = resource
        record.origins = try await converting(
            ProviderFailure.self,
            try await context.providers.origins(of: ProviderProfile(resource), in: record.environment, at: now))
        return record
    }
}
