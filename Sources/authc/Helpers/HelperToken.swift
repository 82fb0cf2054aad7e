import AuthWire

/// The token that a helper gives to another program.
struct HelperToken {
    let options: Options
    /// The address that the program sends the token to.
    let origin: String?

    /// - Throws: if the session does not belong to that origin, or has no token now.
    func get() throws(Failure) -> TokenResult {
        if let origin { try OriginArgument.check(origin) }
        let chosen = try options.chosenSession()
        guard origin != nil, options.session == nil, let chosen else { return try get(chosen) }
        do throws(Failure) {
            return try get(chosen)
        } catch {
            // The variable or the folder's rule is about other servers.
            guard error.isOtherOrigin else { throw error }
            return try get(nil)
        }
    }

    private func get(_ session: SessionName?) throws(Failure) -> TokenResult {
        let request = TokenRequest(
            session: session, minValid: Self.leastTime, origin: origin, timeout: options.timeout)
        let token = try options.connect().call(request.method, within: request.time).value
        try TokenReport.check(token)
        return token
    }

    /// The program got a 401 with this token. An older one is ignored.
    func reject(_ refused: String) throws(Failure) {
        // The agent finds the session by the origin.
        let token = try get()
        guard token.accessToken == refused else { return }
        // If nothing can renew it, one server's refusal must not end the session.
        let status = try options.connect().call(SessionStatusGet(SessionParams(session: token.session))).value
        guard status.renews else { return }
        _ = try options.connect().call(TokenReject(session: token.session, accessToken: refused))
    }

    /// A program may send a token more than once before it asks for another.
    private static let leastTime = Duration.seconds(60)

    /// The user name if a program needs one besides the token. Most servers ignore it; some require a particular one.
    static let standardUser = "oauth2"
}

extension Failure {
    /// The token is for another server.
    var isOtherOrigin: Bool { agentError?.cause == "other_origin" }

    /// Nothing is signed in.
    var isWithoutSession: Bool { agentError?.kind == .notSignedIn || agentError?.kind == .unknownSession }
}

extension TokenResult {
    /// Unix seconds, rounded down; `nil` if the provider does not say, or says something that no clock reaches.
    var expirySecond: Int64? { expiresAt.flatMap { Int64(exactly: $0.rounded(.down)) } }
}
