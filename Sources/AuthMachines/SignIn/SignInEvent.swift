package import AuthModel
package import AuthWire

/// Everything that can happen to a sign-in.
///
/// Parameter `former` is always the present status of the session that the sign-in is to.
package indirect enum SignInEvent: Sendable {
    /// The first event. The caller does not know the sign-in before it gets the reply.
    case begun(CallerID, former: SessionStatus?)
    case wake
    case callerGone(CallerID)

    // What callers ask. Each gets the next step, or the reason why the request is refused.
    /// - Parameters:
    ///   - limit: `timeout_ms` of the request.
    ///   - lent: the answer of another machine's agent.
    case answered(
        CallerID, [String: String], former: SessionStatus?, lent: LoginLent? = nil, limit: Duration? = nil)
    /// Checks answers against their rules.
    case checkRequested(CallerID, [String: String])
    case resendRequested(CallerID)
    case stepRequested(CallerID)
    case cancelRequested(CallerID)
    /// Another sign-in to the session replaces it, or no client knows it.
    case abandoned(CallerID)
    /// The user is back from the browser.
    /// - Parameter uri: an address of a private scheme, which the desktop has passed on: it gets its reply at once; `nil`: a
    ///   browser has come to the address that the sign-in listens at, and waits. A failure: this sign-in did not send it.
    case redirected(CallerID, uri: String?, query: String)

    // Results of the machine's own actions.
    /// The session's provider has answered one request of the sign-in.
    case responded(SignInPart, Result<SignInResponse, ProviderFailure>, sentAt: Moment, former: SessionStatus?)
    /// This was not done: there is no network, and the profile says to wait for one.
    case networkMissing(SignInAction)
    case networkReturned
    case registered(Result<RegisteredClient, AgentError>)
    /// - Parameter proofKey: a new one, if the action asked for it.
    case serverFound(Result<OAuthServer, AgentError>, proofKey: Secret?)
    case authorizationReady(Result<BrowserAuthorization, AgentError>)
    case deviceReady(Result<DeviceAuthorization, AgentError>, sentAt: Moment)
    case tokenReceived(Result<Grant, ProviderFailure>, sentAt: Moment)
    /// Tokens were received, but their ID token was not accepted.
    case idTokenRejected(Grant, AgentError)
    /// - Parameters:
    ///   - user: as the provider describes the user; `nil`: it was not asked, or did not say.
    ///   - origins: where the tokens may be sent; `nil`: that could not be found out.
    case examined(user: SignedInUser?, origins: TokenOrigins?, former: SessionStatus?)
    case installed(Result<SessionStatus, AgentError>)
    case passwordDone(Result<(message: String?, status: SessionStatus?), AgentError>)
}

/// An action for a sign-in. Results come back as events.
package indirect enum SignInAction: Sendable {
    /// Others see that the session is being signed in to.
    case showPlaceholder(SessionStatus)
    case removePlaceholder

    // The authorization server.
    /// - Parameter refused: the client that cannot be used any more, if there was one.
    case register(refused: RegisteredClient?)
    /// The next sign-in registers again, if this client is still the one that is stored.
    case forgetRegistration(RegisteredClient)
    case findServer(makesKey: Bool)
    /// - Parameter listens: the browser comes back to an address of ours.
    case prepareBrowser(OAuthServer, listens: Bool)
    /// Each visit of the browser becomes an event.
    case listen
    case stopListening
    case beginDevice
    case requestToken(SignInTokenRequest)

    // The session's provider.
    case request(SignInPart)
    /// Waits for a network until this time at most.
    case awaitNetwork(until: BootInstant)
    /// Finds out what is not known of a grant: where its tokens may be sent and, with the record, whose they are.
    case examine(user: SessionRecord?)
    case install(SessionRecord, sentAt: Moment, revokesFormer: Bool)
    /// No session uses these tokens.
    case revoke(SessionRecord)
    case requestReset
    case changePassword

    /// Nothing but late results comes after this.
    /// - Parameter last: the step that callers get from now on.
    case end(_ last: Step)
}

/// What a token is requested with at the authorization server.
package enum SignInTokenRequest: Sendable {
    case clientCredentials
    case refreshToken(Secret)
    case code(Secret, AuthorizationAttempt)
    case deviceCode(DeviceAuthorization)
}

/// As the provider describes them.
package typealias SignedInUser = (raw: JSON, summary: UserSummary)
package typealias SignInReply = Result<Step, AgentError>
package typealias SignInTurn = Turn<SignInAction, SignInReply>
