import AuthWire

/// Which token a program gets.
struct TokenRequest {
    /// `nil`: the default one at the time of the request.
    var session: SessionName?
    var minValid: Duration?
    var scopes: [String]?
    var audience: String?
    var origin: String?
    var timeout: Duration?

    var method: TokenGet {
        TokenGet(
            session: session, minValid: minValid, scopes: scopes, audience: audience, timeout: timeout, origin: origin)
    }

    /// The same token, whatever the default session is.
    func `for`(_ session: SessionName) -> TokenRequest {
        var request = self
        request.session = session
        return request
    }

    /// How long the agent's response may take.
    var time: Duration { timeout.map { $0 + Agent.grace } ?? Agent.defaultTimeout }
}

/// A token, and the other values that a program asked for.
struct Credential {
    let token: TokenResult
    private let status: SessionStatus?

    /// - Parameter values: the values that ``value(_:)`` is called with.
    init(_ request: TokenRequest, for values: [TokenValue], from agent: Agent) throws(Failure) {
        token = try agent.call(request.method, within: request.time).value
        TokenReport.noteIfShort(token, request)
        try TokenReport.check(token)
        status =
            values.allSatisfy(\.isOfToken)
            ? nil : try agent.call(SessionStatusGet(SessionParams(session: token.session))).value
    }

    /// The same values with another token.
    init(_ token: TokenResult, instead former: Credential) {
        self.token = token
        status = former.status
    }

    /// - Throws: if the provider does not report the value.
    func value(_ value: TokenValue) throws(Failure) -> String {
        let found: String? =
            switch value {
            case .accessToken: token.accessToken
            case .authorization: "\(token.tokenType) \(token.accessToken)"
            case .tokenType: token.tokenType
            case .expiresAt: token.expirySecond.map { "\($0)" }
            case .session: token.session.text
            case .provider: status?.provider
            case .environment: status?.environment
            case .userID: status?.user?.id
            case .userName: status?.user?.name
            case .userEmail: status?.user?.email
            }
        guard let found else {
            throw Failure(
                status: .refusedData, kind: ErrorKind.notFound.rawValue,
                message: "\(token.session) has no \(value.rawValue)",
                hint: "`authc status -s \(token.session)` shows what the provider reports")
        }
        // Strings for execve(2) end at the first NUL.
        guard !found.utf8.contains(0) else {
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "\(value.rawValue) of \(token.session) contains a NUL")
        }
        return found
    }

    /// The variables with their values.
    func values(of variables: [TokenVariable]) throws(Failure) -> [(name: String, value: String)] {
        var found: [(String, String)] = []
        for variable in variables { found.append((variable.name, try value(variable.value))) }
        return found
    }
}
