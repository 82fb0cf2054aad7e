package import AuthWire

/// What the confined clients of a listener may do (`[listener.NAME]` in authd.toml(5)).
///
/// Invariant: what is not listed here is refused. A new method is refused until it is added to ``byClass`` or ``byName``,
/// whatever the settings say: its results must be filtered first.
package struct ListenerRules: Sendable, Equatable {
    /// For the extra socket only: authd opens it itself, without a socket unit.
    package var listens = false
    /// For the extra socket only: an absolute path; `nil`: the standard one.
    package var socket: String?
    package var sessions: Set<SessionName> = []
    package var classes: Set<AccessClass> = []
    package var methods: Set<String> = []
    /// Those that `api.call` may use.
    package var endpoints: Set<String> = []
    /// At least one of them must be requested with `token.get`, and no other.
    package var scopes: Set<String> = []
    /// One of them must be requested with `token.get`, if there are any.
    package var audiences: Set<String> = []
    /// The providers whose sign-ins on other machines may use the browser of this one.
    package var signInProviders: Set<String> = []
    /// The scopes that such a sign-in may get; `nil`: those of the provider's profile.
    package var signInScopes: Set<String>?

    package init() {}

    /// The classes that settings may list.
    package static let grantableClasses: [AccessClass] = [.status, .token, .act]

    /// They return nothing about sessions.
    static let always: Set<String> = [AgentPing.name, AgentInfoGet.name, RPCDiscover.name]

    /// Allowed if the settings list their class or their name.
    static let byClass: Set<String> = [
        SessionListGet.name, SessionStatusGet.name, SessionWait.name, ProviderListGet.name, ProviderShow.name,
        NetworkStatusGet.name, EventsSubscribe.name, EventsUnsubscribe.name, SessionRefresh.name,
        SessionValidate.name, TokenReject.name, APICall.name,
    ]

    /// Allowed only if the settings list their name: they return tokens and proofs, or reach more than the listed endpoints.
    static let byName: Set<String> = [TokenGet.name, TokenProof.name, UserGet.name, APIRequest.name]

    /// They belong to a call of the same connection.
    static let ofStreams: Set<String> = [APIWrite.name, APIRead.name, APIClose.name]

    /// The names that settings may list.
    package static var grantableMethods: [String] { byClass.union(byName).sorted() }

    package func allows(_ method: String, _ access: AccessClass) -> Bool {
        if Self.always.contains(method) { return true }
        if Self.ofStreams.contains(method) { return allows(APICall.name, .act) || allows(APIRequest.name, .act) }
        if Self.byName.contains(method) { return methods.contains(method) }
        // Its class does not count: it has its own settings, and the user is asked.
        if method == LoginLend.name { return !signInProviders.isEmpty }
        return Self.byClass.contains(method) && (methods.contains(method) || classes.contains(access))
    }
}

/// The parts of a confined client's request that the rules are about.
package struct ConfinedRequest: Sendable {
    package let method: String
    package let access: AccessClass
    /// The listener whose rules apply.
    package let listener: ListenerName
    package var session: SessionName?
    /// The endpoint of `api.call`.
    package var endpoint: String?
    /// It has a separate address instead of the endpoint's.
    package var hasAddress = false
    /// A write that may be sent after the rules have changed.
    package var isQueued = false
    /// The scopes of `token.get`.
    package var scopes: [String]?
    package var audience: String?

    package init(method: String, access: AccessClass, at listener: ListenerName = .extra) {
        self.method = method
        self.access = access
        self.listener = listener.boundary
    }

    /// Why its method is refused, before its params are read.
    package func refusalOfMethod(by rules: ListenerRules) -> AgentError? {
        if rules.allows(method, access) { return nil }
        return notAllowed(
            method == LoginLend.name
                ? "lists no sign_in_providers, so no sign-in may use the browser" : "does not allow \(method)")
    }

    /// Why it is refused; `nil` if it is allowed. A session that is not listed gets the error of one that does not exist,
    /// whether it exists or not.
    package func refusal(by rules: ListenerRules) -> AgentError? {
        if let refusal = refusalOfMethod(by: rules) { return refusal }
        if let session, !rules.sessions.contains(session) { return .unknownSession(session) }
        if let endpoint, !rules.endpoints.contains(endpoint) {
            return notAllowed("does not allow the endpoint \(endpoint.quotable)")
        }
        // It can reach any path of the API.
        if hasAddress, !rules.allows(APIRequest.name, APIRequest.access) {
            return notAllowed("does not allow `next`, which needs api.request")
        }
        if isQueued { return notAllowed("does not allow queued writes") }
        return method == TokenGet.name ? tokenRefusal(by: rules) : nil
    }

    private func tokenRefusal(by rules: ListenerRules) -> AgentError? {
        guard !rules.scopes.isEmpty || !rules.audiences.isEmpty else {
            return notAllowed("lists no scopes and no audiences for token.get")
        }
        if !rules.scopes.isEmpty || scopes != nil {
            guard let scopes, !scopes.isEmpty, rules.scopes.isSuperset(of: scopes) else {
                return notAllowed(
                    "allows token.get only with `scopes` of this list", details: rules.scopes.sorted())
            }
        }
        if !rules.audiences.isEmpty || audience != nil {
            guard let audience, rules.audiences.contains(audience) else {
                return notAllowed(
                    "allows token.get only with an `audience` of this list", details: rules.audiences.sorted())
            }
        }
        return nil
    }

    /// Why a token that was issued for this request is not returned; `nil` if it may be.
    ///
    /// A provider that ignores `scope` and does not list scopes cannot be recognized, because an absent list means
    /// those that were requested (RFC 6749 §5.1). Neither can the audience of an opaque token.
    package func refusal(of token: TokenResult, by rules: ListenerRules) -> AgentError? {
        let issued = "does not allow the token that was issued"
        if token.isOwn { return notAllowed("\(issued): it is the session's own") }
        let secret = Secret(token.accessToken)
        guard isNarrow(token.granted), isNarrow(JWTClaims.scopes(of: secret)) else {
            return notAllowed("\(issued): it has more scopes than requested")
        }
        if let audience, JWTClaims.isReadable(secret) {
            let audiences = Set(JWTClaims.audiences(of: secret))
            guard audiences.contains(audience), rules.audiences.isSuperset(of: audiences) else {
                return notAllowed("\(issued): it is for another audience, or for more than one")
            }
        }
        return nil
    }

    private func notAllowed(_ reason: String, details: [String] = []) -> AgentError {
        .notAllowed(at: listener, reason, details: details)
    }

    private func isNarrow(_ granted: [String]?) -> Bool {
        guard let scopes, let granted else { return true }
        return Set(scopes).isSuperset(of: granted)
    }
}

extension AgentError {
    /// The cause of an error for a client that may not do what it requested.
    package static let confinedCause = "confined"

    /// - Parameter listener: whose table does not allow it.
    package static func notAllowed(
        at listener: ListenerName, _ reason: String, details: [String] = []
    ) -> AgentError {
        AgentError(
            .denied, "[listener.\(listener.boundary.rawValue)] in authd.toml \(reason).", cause: confinedCause,
            details: details)
    }
}
