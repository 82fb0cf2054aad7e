package import AuthModel
package import AuthWire

/// One sign-in under way, or one thing done about a password: what was chosen, what was given so far, what comes next.
///
/// A value that decides; ``SignInService`` does.
package struct SignInProgress: Sendable {
    package enum Purpose: Sendable, Equatable {
        case signIn
        case password(PasswordAction)

        /// Whether it ends with a session.
        package var signsIn: Bool { self == .signIn || self == .password(.reset) }
    }

    package enum Stage: Sendable {
        /// Waits for the client to answer.
        case asking(Question)
        /// The provider is being asked to send the challenge.
        case challenging(Challenge)
        /// The authorization server is asked for what this flow needs.
        case authorizing(OAuthFlow)
        /// A person is at another device, until then; the server is asked again and again.
        case away(AwayReason, until: BootInstant)
        /// Everything is there; the provider is being asked.
        case finishing
        /// The user has refused to go on.
        case refused(AgentError)
    }

    /// Where a person is meanwhile.
    package enum AwayReason: Sendable {
        case device(DeviceAuthorization)
        case browser(BrowserRedirect)
    }

    /// There, and what brings them back.
    package struct BrowserRedirect: Sendable {
        package var url: String
        /// The client has the desktop hand addresses of this scheme to us meanwhile.
        package var scheme: String?
        /// Of a certificate that no browser knows.
        package var fingerprint: String?

        package init(url: String, scheme: String? = nil, fingerprint: String? = nil) {
            self.url = url
            self.scheme = scheme
            self.fingerprint = fingerprint
        }
    }

    package struct Question: Sendable {
        package var fields: [StepField]
        package var message: String?
        /// What a person opens first.
        package var url: String?
        /// Why the last answers were no good, where the provider said so.
        package var error: AgentError?
    }

    /// A challenge that is on its way to the person.
    package struct SentChallenge: Sendable {
        package let place: String?
        package let at: Moment
        package let endsAt: BootInstant?
        package let againAt: BootInstant
    }

    package let id: String
    package let session: SessionName
    package let profile: ProviderProfile
    package let environment: String
    package let method: SignInMethod
    package let purpose: Purpose
    /// The answers are kept, to sign in again by.
    package let remembers: Bool
    /// The session may be given to another account: the user said so, beforehand or when asked.
    package private(set) var mayReplaceAccount: Bool
    /// What the user is being asked to agree to.
    package private(set) var accountChange: AccountChange?
    /// Tokens of another account than the session's. They are used if the user agrees, else revoked.
    package private(set) var held: (grant: Grant, sentAt: Moment)?
    /// What the person should know besides, at the end.
    package let note: String?
    package internal(set) var fields: [String: Secret] = [:]
    package internal(set) var stage = Stage.finishing
    package internal(set) var sent: SentChallenge?
    /// A person's way to the authorization server, whose end they bring back themselves.
    package private(set) var attempt: AuthorizationAttempt?
    /// Where the person proves who they are, instead of handing a proof in.
    package let proof: IdentityProof?
    /// They have been there.
    private(set) var isProven = false
    /// Whether the person has a browser where they are.
    package let hasBrowser: Bool
    /// What an authorization server gave.
    package private(set) var grant: Grant?
    /// What that is bound to, where the profile wants it bound.
    package var proofKey: Secret?
    /// What the authorization server has registered us as, where it does that itself.
    package var registration: RegisteredClient?
    package private(set) var lastTouched: BootInstant
    /// How often the provider refused what the person was sent.
    private var refusals = 0
    /// Whether the person was asked anything yet.
    var hasAsked = false

    /// A wrong code may be typed again so often; then another sign-in is begun.
    private static let maxRefusals = 5

    /// - Parameter catalog: where other providers are, at which a person may prove who they are.
    /// - Throws: `validation` for an environment, method or field that the profile has not, and for answers that
    ///   cannot be remembered.
    package init(
        id: String, params: LoginStart, profile: ProviderProfile, catalog: ProfileCatalog = ProfileCatalog(),
        now: Moment
    ) throws(AgentError) {
        let exchange = ProviderExchange(profile: profile)
        let method = try exchange.method(named: params.method)
        let repeated = exchange.repeatedMethod
        if params.remember, let repeated, repeated.name != method.name {
            throw AgentError(
                .validation,
                "\(method.label) at \(profile.title) cannot be remembered, as it cannot be done twice: choose the method "
                    + "\(repeated.name).")
        }
        let name = if let name = params.session { name } else { try SessionName(profile.name) }
        try self.init(
            id: id, session: name, profile: profile, environment: exchange.environment(named: params.environment).name,
            method: method, purpose: .signIn, remembers: params.remember && repeated != nil,
            proof: IdentityProof(for: method, in: catalog), hasBrowser: params.hasBrowser,
            mayReplaceAccount: params.replaceAccount,
            note: params.remember && repeated == nil ? Self.nothingRemembered(profile) : nil, fields: params.fields,
            now: now)
    }

    package init(
        id: String, session: SessionName, profile: ProviderProfile, environment: String, method: SignInMethod,
        purpose: Purpose, remembers: Bool = false, proof: IdentityProof? = nil, hasBrowser: Bool = true,
        mayReplaceAccount: Bool = false,
        note: String? = nil,
        fields: [String: String], now: Moment
    ) throws(AgentError) {
        self.id = id
        self.session = session
        self.profile = profile
        self.environment = environment
        self.method = method
        self.purpose = purpose
        self.remembers = remembers
        self.proof = proof
        self.hasBrowser = hasBrowser
        self.mayReplaceAccount = mayReplaceAccount
        self.note = note
        lastTouched = now.boot
        try take(fields, at: now)
    }

    /// Whose authorization server the person goes to, if to any.
    package var authority: ProviderProfile { plainAuthority.known(as: registration) }

    /// The same as its profile says it, whoever we are registered as.
    package var plainAuthority: ProviderProfile { proof?.profile ?? profile }

    /// Whether the user was sent to a browser from which they have not come back.
    package var isInBrowser: Bool {
        if case .away(.browser, _) = stage { true } else { attempt != nil }
    }

    /// As whom we ask there.
    package var client: OAuthClient {
        OAuthClient(
            secret: registration?.secret ?? fields[OAuthField.clientSecret] ?? fields[OAuthField.clientKey],
            proofKey: proofKey)
    }

    /// All that may be asked before anybody goes anywhere.
    var ownFields: [StepField] { method.fields + (proof?.fields ?? []) }

    /// Takes what the client gave. Afterwards the stage says what comes next.
    /// - Throws: `validation` for a field that the method has not.
    package mutating func take(_ given: [String: String], at now: Moment) throws(AgentError) {
        lastTouched = now.boot
        if let accountChange { return try take(given, about: accountChange, at: now) }
        let fields = ownFields + (attempt == nil ? [] : [OAuthField.address])
        let known = Set(fields.map(\.name))
        if let stranger = given.keys.filter({ !known.contains($0) }).min() {
            throw AgentError(
                .validation, "\(method.label) has no field \(stranger).", details: fields.map(\.name))
        }
        for field in fields {
            guard let value = given[field.name] else { continue }
            // What surrounds a pasted address or code is none of it; of a secret every character counts.
            let isPasted = !field.secret || field.name == OAuthField.address.name
            let answer = isPasted ? value.withoutSpaceAround : value
            self.fields[field.name] = answer.isEmpty ? nil : Secret(answer)
        }
        decide(at: now)
    }

    private mutating func take(
        _ given: [String: String], about change: AccountChange, at now: Moment
    ) throws(AgentError) {
        guard let answer = given[AccountChange.field.name], given.count == 1 else {
            throw AgentError(
                .validation, "Only the question whether to replace the account is to be answered.",
                details: [AccountChange.field.name])
        }
        accountChange = nil
        guard AccountChange.isYes(answer) else {
            stage = .refused(change.refusal)
            return
        }
        mayReplaceAccount = true
        if held != nil { stage = .finishing } else { decide(at: now) }
    }

    /// What was held is a session's from here on.
    package mutating func useHeld() { held = nil }

    /// Asks whether the session may be given to another account.
    /// - Parameter held: what the provider has already given for it.
    package mutating func ask(
        about change: AccountChange, holding held: (grant: Grant, sentAt: Moment)? = nil, at now: Moment
    ) {
        lastTouched = now.boot
        accountChange = change
        self.held = held
        stage = .asking(Question(fields: [AccountChange.field], message: change.message))
    }

    /// The challenge is on its way: now the rest can be asked.
    package mutating func challengeSent(_ challenge: Challenge, message: String?, at now: Moment) {
        lastTouched = now.boot
        fields[challenge.field] = nil
        sent = SentChallenge(
            place: place(of: challenge), at: now, endsAt: challenge.lifetime.map { now.boot + $0 },
            againAt: now.boot + challenge.pause)
        decide(at: now, message: message)
    }

    /// Whether the person may try another answer to the challenge; then that is what comes next.
    package mutating func mayAnswerAgain(after error: AgentError, at now: Moment) -> Bool {
        guard let challenge = method.challenge, sent != nil,
            [ErrorKind.validation, .refused].contains(error.kind), refusals < Self.maxRefusals
        else { return false }
        refusals += 1
        lastTouched = now.boot
        let again = ProviderExchange(profile: profile).fieldsAfter(challenge, of: method)
        for field in again { fields[field.name] = nil }
        stage = .asking(
            Question(fields: again, message: error.providerMessage ?? error.message, error: error))
        return true
    }

    /// The person has gone elsewhere with what the server gave for that.
    package mutating func sendAway(_ journey: AwayReason, until end: BootInstant, at now: Moment) {
        lastTouched = now.boot
        stage = .away(journey, until: end)
    }

    /// The person is to bring an address back.
    package mutating func askForAddress(of attempt: AuthorizationAttempt, message: String? = nil, at now: Moment) {
        lastTouched = now.boot
        self.attempt = attempt
        fields[OAuthField.address.name] = nil
        stage = .asking(Question(fields: [OAuthField.address], message: message, url: attempt.url))
    }

    /// The authorization server has said yes.
    package mutating func authorized(_ grant: Grant, at now: Moment) {
        lastTouched = now.boot
        guard let proof else {
            self.grant = grant
            stage = .finishing
            return
        }
        fields[proof.field] = grant.idToken
        isProven = true
        decide(at: now)
    }

    /// Has the challenge sent once more.
    /// - Throws: `unsupported` where there is none, `rate_limited` before its pause is over.
    package mutating func resend(at now: Moment) throws(AgentError) {
        guard let challenge = method.challenge, let sent, accountChange == nil else {
            throw AgentError(.unsupported, "\(method.label) has sent nothing that could be sent again.")
        }
        guard now.boot >= sent.againAt else {
            throw AgentError(
                .rateLimited, "Another one can be sent in \(Int((sent.againAt - now.boot).seconds.rounded(.up))) s.",
                retryAfter: sent.againAt - now.boot)
        }
        lastTouched = now.boot
        stage = .challenging(challenge)
    }

    private static func nothingRemembered(_ profile: ProviderProfile) -> String {
        profile.renewal.kind == .none
            ? "Nothing is remembered: no sign-in of \(profile.title) can be made again without you."
            : "Nothing is remembered: sessions of \(profile.title) are renewed without it."
    }
}

extension AccountChange {
    package init?(from former: SessionStatus?, given login: SignInProgress) {
        var user = UserSummary()
        let field = login.method.fields.first { $0.kind == FieldKind.email }
        user.email = field.flatMap { login.fields[$0.name]?.reveal() }
        self.init(from: former, to: user, login)
    }

    package init?(from former: SessionStatus?, to user: UserSummary?, _ login: SignInProgress) {
        self.init(of: login.session, from: former, to: user, at: login.environment)
    }
}
