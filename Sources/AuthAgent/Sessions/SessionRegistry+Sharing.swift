internal import AuthMachines
internal import AuthModel
internal import AuthWire

/// Sessions of several resources that share one sign-in: one session has the refresh token, and the others have tokens
/// that were requested with it (RFC 8707 §2.2).
///
/// Invariant: a session that shares a sign-in never sends a refresh token. The session with the sign-in requests its
/// tokens, one request at a time, like its own.
extension SessionRegistry {
    /// A new token for a session that shares another one's sign-in.
    func sharedGrant(for record: SessionRecord, sentAt: Moment) async throws(ProviderFailure) -> Grant {
        guard let resource = record.resource, let name = resource.sharedSession else {
            throw .refused(.cannotRenew(record.provider))
        }
        guard let source = session(named: name), hasSignIn(await source.record, for: record) else {
            let absence = isLoaded ? nil : absence(of: name).ofSharedSignIn(record.session)
            throw .temporary(absence ?? .noSharedSignIn(record.session), retryAfter: nil)
        }
        do throws(AgentError) {
            let grant = try await token(for: resource, of: source, sentAt: sentAt)
            // The other session may have been signed in again meanwhile.
            if hasSignIn(await source.record, for: record) { return grant }
        } catch {
            // A refusal that is repeated from memory has a pause: no request follows before its end.
            guard error.refusesTarget, error.retryAfter == nil else {
                throw .temporary(error.ofSharedSignIn(record.session), retryAfter: error.retryAfter)
            }
            // The refusal may concern the sign-in itself and not this resource: a renewal of the other session shows
            // that.
            do throws(AgentError) {
                try await source.renew()
            } catch {
                throw .temporary(error.ofSharedSignIn(record.session), retryAfter: error.retryAfter)
            }
            throw .final(error)
        }
        throw .temporary(.noSharedSignIn(record.session), retryAfter: nil)
    }

    /// Requests a new token for another resource with a session's sign-in.
    /// - Throws: `badReply` if the token may not be sent to that resource (``ProtectedResource/accepts(_:from:)``).
    func token(
        for resource: ProtectedResource, of source: Session, sentAt: Moment
    ) async throws(AgentError) -> Grant {
        let scopes = resource.scopes.isEmpty ? nil : resource.scopes
        guard let target = try TokenTarget(TokenGet(scopes: scopes, audience: resource.identifier)) else {
            throw .internalError("a resource without an identifier")
        }
        let token = try await source.token(for: target, minValid: nil, isNew: true)
        guard let known = await source.record.resource, resource.accepts(Secret(token.accessToken), from: known) else {
            throw AgentError(
                .badReply, "The server does not say that its token is for \(resource.identifier).", cause: "audience")
        }
        return Grant(
            accessToken: Secret(token.accessToken), tokenType: token.tokenType, issuedAt: sentAt.wall,
            expiresAt: token.expiresAt.map { WallTime(unixSeconds: $0) })
    }

    /// Whether the other session has a sign-in that may request tokens for this one: same server, same user.
    func hasSignIn(_ source: SessionRecord, for record: SessionRecord) -> Bool {
        guard let known = source.resource, known.sharedSession == nil, known.issuer == record.resource?.issuer,
            source.tokens.refreshToken?.isEmpty == false
        else { return false }
        guard let user = record.user?.id, let other = source.user?.id else {
            // Another sign-in may be another user's. An older authd did not record which one was shared.
            return record.resource?.sharedSignIn.map { $0 == source.signIn } ?? true
        }
        return user == other
    }

    /// The sessions that share this session's sign-in, by name.
    func sessions(sharing name: SessionName) async -> [Session] {
        var found: [Session] = []
        for session in all where await session.record.resource?.sharedSession == name { found.append(session) }
        return found.sorted { $0.name < $1.name }
    }

    /// Updates, in the sessions that share a sign-in, whether it can still renew them.
    /// - Parameter name: the session with the sign-in; `nil`: any.
    func updateShared(by name: SessionName? = nil) async {
        // Until all sessions are loaded, a missing one may still be in the store.
        guard isLoaded else { return }
        let version = nextReadingVersion()
        for session in all {
            let record = await session.record
            guard let shared = record.resource?.sharedSession, name == nil || name == shared else { continue }
            var isUsable = false
            if let source = self.session(named: shared), Self.isUsable(board.status(shared)) {
                isUsable = hasSignIn(await source.record, for: record)
            }
            await session.sharedSignInChanged(isUsable ? .lasting : .none, version: version, readWith: record)
        }
    }

    static func isUsable(_ status: SessionStatus?) -> Bool {
        status.map { $0.state != .signInRequired && $0.state != .signedOut } ?? false
    }
}

extension AgentError {
    /// Whether the provider refused this token, finally or with an error of OAuth about the target or the client (RFC 6749
    /// §5.2, RFC 8707 §2). Any other error says nothing about it: a proxy on the way may have sent it.
    fileprivate var refusesTarget: Bool {
        let codes = ["refused_by_provider", "invalid_target", "invalid_scope", "access_denied", "unauthorized_client"]
        // Servers send it with 400 (RFC 6749 §5.2), and proxies in front of them with 403.
        if kind == .forbidden, cause == "access_denied" { return false }
        return [.validation, .refused, .forbidden].contains(kind) && codes.contains(cause ?? "")
    }

    /// Errors of this session do not name the other one, because a client of this session may not know it
    /// (Docs/decisions/access.md). `shared_session` in the status does.
    fileprivate static func noSharedSignIn(_ session: SessionName) -> AgentError {
        AgentError(
            .signInRequired, "Session \(session) uses the sign-in of another session, which is not signed in.",
            cause: "shared_sign_in")
    }

    /// An error of the session with the sign-in, as one of this session.
    fileprivate func ofSharedSignIn(_ session: SessionName) -> AgentError {
        var error = self
        error.message =
            "Session \(session) uses the sign-in of another session, which did not renew it: "
            + "\((kind ?? .internal_).rawValue). The status of that session says more."
        error.details = []
        return error
    }
}
