/// An authorization server over real HTTP (RFC 6749, RFC 8414, RFC 8628). It checks requests strictly, and can misbehave.
package final class OAuthStandIn: Sendable {
    package struct Configuration: Sendable {
        /// A numeric address.
        package var host = "127.0.0.1"
        package var clientID = "authd-test"
        /// `nil`: the client is public.
        package var clientSecret: String?
        /// Whether the only client is one that registers itself (RFC 7591).
        package var registersClients = false
        /// The supported grant types; `nil`: all, and metadata does not list them.
        package var grantTypes: [String]?
        /// The public key (PEM) with which the client authenticates instead of a secret (RFC 7523).
        package var clientKey: String?
        package var assertionAudience = AssertionAudience.issuer
        /// Tokens are bound to keys, and every request needs a proof (RFC 9449).
        package var requiresProofs = false
        /// Proofs need a nonce of this server (RFC 9449 §8, §9).
        package var requiresNonces = false
        /// Authorization requests may be pushed (RFC 9126).
        package var acceptsPushedRequests = false
        /// Authorization requests must be pushed (RFC 9126 §5).
        package var requiresPushedRequests = false
        /// How far its clock is ahead.
        package var clockAhead = Duration.zero
        package var tokenLifetime = Duration.seconds(3600)
        /// How long a refresh token is still accepted after another one has replaced it, because the response may be lost.
        package var grace = Duration.zero
        package var deviceInterval = Duration.seconds(1)
        package var deviceLifetime = Duration.seconds(600)
        /// What ID tokens name as the tenant of their user.
        package var tenant: String?
        package var user = User(subject: "248289761001", name: "Jane Doe", email: "janedoe@example.com")

        package init() {}
    }

    package enum AssertionAudience: Sendable {
        case issuer, tokenEndpoint
    }

    package struct User: Sendable {
        package var subject: String
        package var name: String
        package var email: String

        package init(subject: String, name: String, email: String) {
            self.subject = subject
            self.name = name
            self.email = email
        }
    }

    package struct Counts: Sendable, Equatable {
        package var discoveries = 0
        package var devicePolls = 0
        package var deviceSlowDowns = 0
        package var refreshes = 0
        /// Refresh tokens that were used twice. Each ended its session.
        package var reuses = 0
        package var userInfos = 0
        package var services = 0
        package var registrations = 0
        /// Includes refused ones.
        package var registrationRequests = 0
        package var pushes = 0
        package var proofs = 0
        package var proofRefusals: [String] = []
        /// Proofs without the server's nonce.
        package var nonceChallenges = 0
        /// Clients that authenticated with a key.
        package var assertions = 0
        package var codes = 0
        /// Codes that were used twice. Each ended its session.
        package var codeReplays = 0
        package var keyAnswers = 0
        package var revocations = 0
        /// The scope and audience of each targeted token request.
        package var targets: [String] = []
    }

    let state: OAuthState
    private let listener: Listener
    private let signer: IDTokenSigner

    private init(_ configuration: Configuration) throws {
        let state = OAuthState(configuration)
        signer = IDTokenSigner()
        self.state = state
        let server = OAuthServing(state: state, signer: signer)
        listener = try Listener(host: configuration.host, respond: server.respond)
        state.use(issuer: "http://\(listener.authority)")
    }

    /// Runs the server while the body runs. It listens before the body starts.
    package static func serving<Result: Sendable>(
        _ configuration: Configuration = Configuration(),
        _ body: @Sendable @escaping (OAuthStandIn) async throws -> Result
    ) async throws -> Result {
        let standIn = try OAuthStandIn(configuration)
        return try await withServer(standIn.listener.run) {
            try await standIn.listener.waitUntilListening()
            return try await body(standIn)
        }
    }

    package var issuer: String { state.issuer }
    package var counts: Counts { state.counts.value }
    package var secrets: [String] { state.secrets.all(.token) + state.secrets.all(.code) }

    package var goodTokens: [String] { state.secrets.all(.token).filter(state.isGood) }

    package func waitForCounts(_ matches: @escaping @Sendable (Counts) -> Bool) async throws {
        try await state.counts.wait(until: matches)
    }

    /// The user enters the code, and approves or denies.
    package func decide(userCode: String, approve: Bool) throws {
        try state.decide(userCode: userCode, approve: approve)
    }

    /// Injects a fault for this number of times.
    package func misbehave(_ fault: Fault, times: Int = .max) { state.inject(fault, times: times) }

    /// Signs with a new key from now on, and publishes only that one.
    package func rollKeys() async { await signer.roll() }

    /// A refresh token that another program might have.
    package func giveRefreshToken() -> String { state.giveRefreshToken() }

    /// Wants another word in proofs from now on.
    package func changeNonces() { state.changeNonces() }

    package func clear() { state.clearFaults() }

    /// The user who signs in from now on.
    package func use(_ user: User) { state.use(user) }

    /// The client proves from now on by this key who it is: its public half, in PEM.
    package func use(clientKey: String) { state.use(clientKey: clientKey) }

    /// While it holds them, a request for a registration gets no response.
    package func holdRegistrations(_ holds: Bool) { state.holdsRegistrations.update { $0 = holds } }

    /// As an administrator can who removes a client.
    package func forgetClient() { state.forgetClient() }

    /// Every request with a refresh token, oldest first.
    package var renewals: [OAuthRenewal] { state.renewals.value }

    /// A renewal is recorded before its response is sent.
    package func waitForRenewals(_ matches: @escaping @Sendable ([OAuthRenewal]) -> Bool) async throws {
        try await state.renewals.wait(until: matches)
    }

    /// `nil`: it was never issued.
    package func standing(ofAccessToken token: String) -> OAuthStanding? { state.standing(ofAccessToken: token) }

    /// How long used refresh tokens are accepted from now on, even those that were used before.
    package func setGrace(_ length: Duration) { state.setGrace(length) }

    /// What tokens live that are given out from now on.
    package func setTokenLifetime(_ length: Duration) { state.setTokenLifetime(length) }

    /// What responses report from now on as the remaining life of refresh tokens; `nil`: nothing.
    package func setRefreshLifetime(_ length: Duration?) { state.setRefreshLifetime(length) }

    /// Ends every session, as an administrator can: their refresh tokens become invalid.
    package func endSessions() { state.endSessions() }
}

extension OAuthStandIn {
    package enum Fault: Sendable, Hashable {
        case wrongIssuer
        case noMetadata
        /// The token endpoint returns an HTML page, as a captive portal does, and does nothing.
        case page
        /// The token endpoint always answers `slow_down`.
        case slowDown
        /// Token responses are forms, as some providers send them.
        case formAnswers
        /// Errors have status 200.
        case errorsAsSuccess
        case emptyErrors
        /// The lifetime is a string, the token type is in lower case, and a refresh returns no new refresh token.
        case wrongTypes
        /// The authorization response names another issuer (RFC 9207 §4).
        case mixUp
        /// The authorization response does not name the issuer, although metadata says that it does.
        case omitsIssuer
        /// The ID token is for another sign-in.
        case wrongNonce
        /// The ID token is for another client.
        case wrongAudience
        /// The ID token names a different tenant than its issuer does.
        case wrongTenant
        /// The ID token belongs to another access token.
        case wrongTokenHash
        case unsigned
        /// The ID token is signed with the client id, which is not secret (RFC 8725 §2.1).
        case signedWithName
        /// The published keys are not those that sign.
        case staleKeys
        case noIDToken
        case revokesNothing
        case otherUserInfo
        /// The requested audience is refused (RFC 8707 §2).
        case unknownTarget
        /// Fewer scopes are granted than requested.
        case grantsLess
        /// More scopes are granted than requested.
        case grantsMore
        case denies
        case unknownTokenType
        /// Metadata names another algorithm for proofs than ES256.
        case otherProofAlgorithms
        /// Tokens are not bound to a key, although the request has a proof.
        case unboundTokens
        /// Pushed authorization requests are refused, although metadata names the endpoint.
        case refusesPushes
        /// The registration response names no configuration endpoint (RFC 7592).
        case omitsRegistrationURI
    }
}
