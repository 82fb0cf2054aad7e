package import AuthModel
package import AuthWire

/// The server of a bridge, and which session belongs to it.
package struct BridgeTarget: Sendable {
    package let resource: ResourceURL
    /// `-s`; `nil`: the one that was signed in to this URL.
    package let session: SessionName?

    package init(_ resource: ResourceURL, session: SessionName? = nil) {
        self.resource = resource
        self.session = session
    }

    /// With its query.
    package var url: String { resource.text + resource.query }

    /// Without the query: it may contain a key.
    var shown: String { resource.text }

    package enum Choice: Sendable {
        case session(SessionStatus)
        /// No session belongs to the URL, and none was chosen.
        case none(BridgeProblem)
        /// The one that was chosen does not exist, or it is not clear which one is meant.
        case failed(BridgeProblem)
    }

    /// What a request gets if the agent cannot be asked. A server without authorization needs neither an agent nor a keyring; a
    /// session that the user chose must be used.
    package func answer(without reason: BridgeProblem) -> TokenOutcome {
        session == nil ? .none(reason) : .failed(reason)
    }

    /// Another session of the same host may belong to another tenant, so only the URL itself counts
    /// (Docs/decisions/gateway.md).
    /// - Parameter preferred: of several: `$AUTHD_SESSION`.
    package func choice(from sessions: [SessionStatus], preferred: SessionName? = nil) -> Choice {
        if let session {
            if let found = sessions.first(where: { $0.session == session }) { return .session(found) }
            return .failed(
                notSignedIn("There is no session '\(session)'.", command: CommandText.login(shown, session: session)))
        }
        let fitting = sessions.filter { $0.provider == resource.text }
        if let found = fitting.count > 1 ? fitting.first(where: { $0.session == preferred }) : fitting.first {
            return .session(found)
        }
        if fitting.isEmpty {
            return .none(notSignedIn("Not signed in to \(shown).", command: CommandText.login(shown)))
        }
        let names = fitting.map { "-s \($0.session)" }.joined(separator: ", ")
        return .failed(
            BridgeProblem(
                .notSignedIn,
                "Several sessions are signed in to \(shown). Add one of these to the command of this server: \(names).")
        )
    }

    /// The agent has no token for the session.
    package func problem(_ error: AgentError, of status: SessionStatus) -> BridgeProblem {
        switch error.kind {
        case .notSignedIn, .signInRequired, .unknownSession:
            notSignedIn(
                "The session '\(status.session)' must be signed in again.",
                command: CommandText.login(status.provider, session: status.session))
        case .refused:
            // After a 401: the server refuses the token, and the provider to renew it.
            notSignedIn(
                "\(error.message) \(resource.origin.host) refuses the token (401).",
                command: CommandText.login(status.provider, session: status.session))
        default: BridgeProblem(error)
        }
    }

    /// A 401 with a renewed token.
    func refusal(of token: BridgeToken) -> BridgeProblem {
        notSignedIn(
            "\(resource.origin.host) refuses the token of the session '\(token.session)', and a renewed one (401).",
            command: CommandText.login(token.provider, session: token.session))
    }

    /// A 403 that names scopes.
    func missingScopes(_ challenge: TokenChallenge, of token: BridgeToken) -> BridgeProblem {
        let needed = challenge.scopes ?? []
        let missing = needed.filter { !token.scopes.contains($0) }
        var text = "The session '\(token.session)' lacks scopes for this request (403)."
        guard !missing.isEmpty else {
            text += needed.isEmpty ? " The server does not name them." : " It was granted all that the server names."
            return BridgeProblem(.forbidden, text)
        }
        let command = CommandText.login(token.provider, session: token.session, scopes: token.scopes + missing)
        var problem = BridgeProblem(
            .forbidden, text + " Missing: \(missing.joined(separator: " ")). To grant them, run: \(command)",
            command: command)
        problem.missingScopes = missing
        problem.httpStatus = 403
        return problem
    }

    private func notSignedIn(_ reason: String, command: String) -> BridgeProblem {
        BridgeProblem(.notSignedIn, "\(reason) Run `\(command)`, then try again.", command: command)
    }
}
