/// An authorization server over real HTTP (RFC 6749, RFC 8414, RFC 8628), strict in what it takes and able to do what a
/// good one never does.
package final class OAuthStandIn: Sendable {
    package struct Configuration: Sendable {
        package var clientID = "authd-test"
        /// `nil`: the client is a public one.
        package var clientSecret: String?
        /// It knows no client but one that has it register itself (RFC 7591).
        package var registersClients = false
        /// What it gives tokens for, and registers clients for; `nil`: whatever there is, and metadata does not tell.
        package var grantTypes: [String]?
        /// The public half, in PEM, of the key that the client proves by who it is (RFC 7523); it has no secret then.
        package var clientKey: String?
        package var assertionAudience = AssertionAudience.issuer
        /// Tokens are bound to keys, and nothing is taken without a proof (RFC 9449).
        package var requiresProofs = false
        /// Proofs hold words of this server's (RFC 9449 §8, §9).
        package var requiresNonces = false
        /// Requests for authorization may be pushed (RFC 9126).
        package var acceptsPushedRequests = false
        /// Requests for authorization that were not pushed before are refused (RFC 9126 §5).
        package var requiresPushedRequests = false
        /// How far its clock is ahead.
        package var clockAhead = Duration.zero
        package var tokenLifetime = Duration.seconds(3600)
        package var deviceInterval = Duration.seconds(1)
        package var deviceLifetime = Duration.seconds(600)
        package var user = User(subject: "248289761001", name: "Jane Doe", email: "janedoe@example.com")

        package init() {}
    }

    /// Whom a client has to name as the reader of its own word.
    package enum AssertionAudience: Sendable {
        case issuer, tokenEndpoint
    }

    /// Who signs in, as the claims about them say.
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

    /// What went on at the token endpoint.
    package struct Counts: Sendable, Equatable {
        package var discoveries = 0
        package var devicePolls = 0
        package var deviceSlowDowns = 0
        package var refreshes = 0
        /// Refresh tokens that came a second time; each ended its session there.
        package var reuses = 0
        package var userInfos = 0
        package var services = 0
        package var registrations = 0
        /// With those that were refused.
        package var registrationRequests = 0
        package var pushes = 0
        package var proofs = 0
        /// Why proofs were refused.
        package var proofRefusals: [String] = []
        /// Proofs that lacked the word of this server.
        package var nonceChallenges = 0
        /// Clients that have proved by a key who they are.
        package var assertions = 0
        package var codes = 0
        /// Codes that came a second time; each ended its session there.
        package var codeReplays = 0
        package var keyAnswers = 0
        package var revocations = 0
        /// What single tokens were asked for: scopes, and in which word the audience came.
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
        listener = try Listener(host: "127.0.0.1", respond: server.respond)
        state.use(issuer: "http://\(listener.authority)")
    }

    /// Runs it for as long as the body does, listening from its first line on.
    package static func serving<Result: Sendable>(
        _ configuration: Configuration = Configuration(),
        _ body: @Sendable @escaping (OAuthStandIn) async throws -> Result
    ) async throws -> Result {
        let standIn = try OAuthStandIn(configuration)
        return try await withThrowingTaskGroup(of: Result?.self) { group in
            group.addTask {
                try await standIn.listener.run()
                return nil
            }
            group.addTask {
                try await standIn.listener.waitUntilListening()
                return try await body(standIn)
            }
            defer { group.cancelAll() }
            while let ended = try await group.next() {
                if let result = ended { return result }
            }
            throw CancellationError()
        }
    }

    package var issuer: String { state.issuer }
    package var counts: Counts { state.counts.value }
    /// Every token and code that was given out.
    package var secrets: [String] { state.secrets.all(.token) + state.secrets.all(.code) }

    /// Those of ``secrets`` that would still be taken.
    package var goodTokens: [String] { state.secrets.all(.token).filter(state.isGood) }

    /// Returns once the counts are as asked for.
    package func waitForCounts(_ matches: @escaping @Sendable (Counts) -> Bool) async throws {
        try await state.counts.wait(until: matches)
    }

    /// The person gives the code, and says yes or no.
    package func decide(userCode: String, approve: Bool) throws {
        try state.decide(userCode: userCode, approve: approve)
    }

    /// Has it do wrong so often.
    package func misbehave(_ fault: Fault, times: Int = .max) { state.inject(fault, times: times) }

    /// Signs by another key from now on, and tells that one alone.
    package func rollKeys() async { await signer.roll() }

    /// One that another program might have.
    package func giveRefreshToken() -> String { state.giveRefreshToken() }

    /// Wants another word in proofs from now on.
    package func changeNonces() { state.changeNonces() }

    /// Takes every order back.
    package func clear() { state.clearFaults() }

    /// Who signs in from now on.
    package func use(_ user: User) { state.use(user) }

    /// The client proves from now on by this key who it is: its public half, in PEM.
    package func use(clientKey: String) { state.use(clientKey: clientKey) }

    /// Who wants to be registered gets no answer meanwhile.
    package func holdRegistrations(_ holds: Bool) { state.holdsRegistrations.update { $0 = holds } }

    /// As an administrator can who removes a client.
    package func forgetClient() { state.forgetClient() }

    /// What tokens live that are given out from now on.
    package func setTokenLifetime(_ length: Duration) { state.setTokenLifetime(length) }

    /// Ends every session there is, as an administrator can: their refresh tokens are void.
    package func endSessions() { state.endSessions() }
}

extension OAuthStandIn {
    /// What no good server does.
    package enum Fault: Sendable, Hashable {
        /// Metadata speaks for another issuer.
        case wrongIssuer
        /// Metadata is not there.
        case noMetadata
        /// The token endpoint answers with a page, as a captive portal does, and does nothing.
        case page
        /// The token endpoint asks to be asked less often, whenever it is asked.
        case slowDown
        /// Token answers are forms, with a lifetime, as some providers send them.
        case formAnswers
        /// Errors have status 200.
        case errorsAsSuccess
        /// Errors have no body.
        case emptyErrors
        /// The lifetime is a text, the kind of token in lower case, and refreshing brings no new refresh token.
        case wrongTypes
        /// The answer to an authorization request names another issuer (RFC 9207 §4).
        case mixUp
        /// The answer to an authorization request does not name the issuer, though metadata says that it does.
        case omitsIssuer
        /// The ID token is for another sign-in.
        case wrongNonce
        /// The ID token is for another client.
        case wrongAudience
        /// The ID token belongs to another access token.
        case wrongTokenHash
        /// The ID token has no signature.
        case unsigned
        /// The ID token is signed by a secret that every client knows: our name (RFC 8725 §2.1).
        case signedWithName
        /// The keys that are told are not those that sign.
        case staleKeys
        /// There is no ID token.
        case noIDToken
        /// Tokens are not taken back.
        case revokesNothing
        /// UserInfo is about somebody else.
        case otherUserInfo
        /// No token is given for the audience that was asked for (RFC 8707 §2).
        case unknownTarget
        /// Fewer scopes are granted than were asked for.
        case grantsLess
        /// The person says no.
        case denies
        /// Tokens that are no bearer tokens.
        case unknownTokenType
        /// Proofs are to be signed by another algorithm than ours.
        case otherProofAlgorithms
        /// Tokens are bound to no key, though a proof came.
        case unboundTokens
        /// Requests for authorization are not taken in advance, though metadata says so.
        case refusesPushes
        /// Who is registered is not told where to ask about that (RFC 7592).
        case omitsRegistrationURI
    }
}
