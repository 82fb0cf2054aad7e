public import AuthConnection
public import AuthWire

extension AuthClient {
    /// An access token that is valid now, and for `minValid` longer if the provider's lifetimes allow.
    /// - Parameters:
    ///   - session: `nil` is the session that belongs to `origin`; without an origin, the default session.
    ///   - origin: where the caller sends the token, such as `https://api.example.org`. The agent refuses with `denied` if the
    ///     session does not belong there. A program that does not name its session should name this.
    ///   - minValid: if the token ends sooner, it is renewed first.
    ///   - timeout: the longest wait for the agent's response.
    public func token(
        session: SessionName? = nil, origin: String? = nil, minValid: Duration? = nil,
        timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> TokenResult {
        try await call(TokenGet(session: session, minValid: minValid, origin: origin), timeout: timeout)
    }

    /// Reports that a backend answered 401 to `accessToken`. The agent renews the token if it is still the current one.
    @discardableResult
    public func reject(
        accessToken: String, session: SessionName? = nil, timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> SessionStatus {
        try await call(TokenReject(session: session, accessToken: accessToken), timeout: timeout)
    }

    /// A proof for one request that the program sends itself, if the session's tokens are bound to a key: the value of the
    /// header `DPoP` (RFC 9449 §7.1).
    /// - Parameters:
    ///   - method: the method of the request, such as `GET`.
    ///   - url: the whole URL of the request.
    ///   - nonce: the nonce of the server.
    ///   - accessToken: the token for the proof, if it is not the session's own.
    ///   - session: `nil` is the default session.
    ///   - timeout: the longest wait for the agent's response.
    public func proof(
        method: String, url: String, nonce: String? = nil, accessToken: String? = nil, session: SessionName? = nil,
        timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> ProofResult {
        try await call(
            TokenProof(session: session, method: method, url: url, nonce: nonce, accessToken: accessToken),
            timeout: timeout)
    }

    public func status(
        session: SessionName? = nil, timeout: Duration = AuthClient.defaultTimeout
    ) async throws(ClientError) -> SessionStatus {
        try await call(SessionStatusGet(SessionParams(session: session)), timeout: timeout)
    }

    public func sessions(timeout: Duration = AuthClient.defaultTimeout) async throws(ClientError) -> [SessionStatus] {
        try await call(SessionListGet(), timeout: timeout).sessions
    }

    public func info(timeout: Duration = AuthClient.defaultTimeout) async throws(ClientError) -> AgentInfo {
        try await call(AgentInfoGet(), timeout: timeout)
    }
}
