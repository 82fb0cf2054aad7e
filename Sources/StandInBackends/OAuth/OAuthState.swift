import Crypto
import Foundation
import Synchronization

/// The state of an authorization server: what it has issued, and its faults.
final class OAuthState: Sendable {
    /// A grant and all tokens from it, which end together (RFC 9700 §4.14.2).
    struct Family: Sendable {
        var user: OAuthStandIn.User?
        var refreshToken: String?
        /// When its tokens became invalid; `nil`: they are valid.
        var overSince: ContinuousClock.Instant?
        var isOver: Bool { overSince != nil }
        /// The thumbprint of the key that its tokens are bound to (RFC 9449 §6).
        var thumbprint: String?
    }

    struct Device: Sendable {
        enum Answer: Sendable { case none, yes, no }
        var userCode: String
        var endsAt: Double
        var interval: Double
        var lastAsked: Double?
        var answer = Answer.none
    }

    struct Code: Sendable {
        let redirectURI: String
        let challenge: String
        let nonce: String?
        let user: OAuthStandIn.User
        let endsAt: Double
        /// The thumbprint of the key for its tokens (RFC 9449 §10).
        let thumbprint: String?
        /// The family from this code, after its use.
        var family: Int?
    }

    private struct State {
        var issuer = ""
        var user: OAuthStandIn.User
        var lifetime: Double
        /// The lifetime of refresh tokens, if responses report it.
        var refreshLifetime: Double?
        var grace: Double
        var families: [Int: Family] = [:]
        var accessTokens: [String: AccessToken] = [:]
        /// Used ones stay, to detect reuse.
        var refreshTokens: [String: RefreshToken] = [:]
        var devices: [String: Device] = [:]
        var codes: [String: Code] = [:]
        var pushed: [String: [String: String]] = [:]
        var faults: [OAuthStandIn.Fault: Int] = [:]
        var lastNumber = 0
        /// The ids of proofs and assertions, which may be used once.
        var used: Set<String> = []
        var clientKey: String?
        var client: Client?
        var nonces = ["of-the-server-1", "of-the-api-1"]
    }

    let configuration: OAuthStandIn.Configuration
    let secrets = SecretLog()
    let counts = ObservedValue(OAuthStandIn.Counts())
    let renewals = ObservedValue<[OAuthRenewal]>([])
    let holdsRegistrations = ObservedValue(false)
    /// Whether the last authorization request met the provider's conditions for a refresh token.
    let issuesRefreshTokens = ObservedValue(true)
    private let clock = ServerClock()
    private let state: Mutex<State>

    init(_ configuration: OAuthStandIn.Configuration) {
        self.configuration = configuration
        clock.advance(by: configuration.clockAhead.inSeconds)
        state = Mutex(
            State(
                user: configuration.user, lifetime: configuration.tokenLifetime.inSeconds,
                grace: configuration.grace.inSeconds, clientKey: configuration.clientKey))
    }

    var issuer: String { state.withLock { $0.issuer } }
    var now: Double { clock.now }

    func use(issuer: String) { state.withLock { $0.issuer = issuer } }
    struct Client: Sendable {
        let id: String
        let secret: String?
        let token: String
    }

    var client: Client? {
        guard configuration.registersClients else {
            return Client(id: configuration.clientID, secret: configuration.clientSecret, token: "")
        }
        return state.withLock { $0.client }
    }

    func register(withSecret: Bool) -> Client {
        let client = Client(
            id: Self.token("client"), secret: withSecret ? Self.token("secret") : nil, token: Self.token("rat"))
        for secret in [client.secret, client.token].compactMap(\.self) { secrets.note(.token, secret) }
        state.withLock { $0.client = client }
        note { $0.registrations += 1 }
        return client
    }

    func forgetClient() { state.withLock { $0.client = nil } }

    /// PEM.
    var clientKey: String? { state.withLock { $0.clientKey } }
    func use(clientKey: String) { state.withLock { $0.clientKey = clientKey } }
    func use(_ user: OAuthStandIn.User) { state.withLock { $0.user = user } }
    var refreshLifetime: Double? { state.withLock { $0.refreshLifetime } }
    func setRefreshLifetime(_ length: Duration?) { state.withLock { $0.refreshLifetime = length?.inSeconds } }
    func setGrace(_ length: Duration) { state.withLock { $0.grace = length.inSeconds } }
    func setTokenLifetime(_ length: Duration) { state.withLock { $0.lifetime = length.inSeconds } }
    func inject(_ fault: OAuthStandIn.Fault, times: Int) { state.withLock { $0.faults[fault] = times } }
    func clearFaults() { state.withLock { $0.faults = [:] } }

    /// Whether the fault applies now. Counts it.
    func applies(_ fault: OAuthStandIn.Fault) -> Bool {
        state.withLock { state in
            guard let left = state.faults[fault], left > 0 else { return false }
            state.faults[fault] = left == .max ? left : left - 1
            return true
        }
    }

    func endSessions() {
        state.withLock { state in
            for number in state.families.keys { Self.end(number, &state) }
        }
    }

    func expireTokens() {
        state.withLock { state in
            for token in state.accessTokens.keys { state.accessTokens[token]?.endsAt = now }
        }
    }

    // MARK: Devices

    func newDevice() -> (code: String, device: Device) {
        let code = Self.token("dc")
        secrets.note(.code, code)
        let device = state.withLock { state in
            let device = Device(
                userCode: Self.userCode(), endsAt: now + configuration.deviceLifetime.inSeconds,
                interval: configuration.deviceInterval.inSeconds)
            state.devices[code] = device
            return device
        }
        return (code, device)
    }

    func decide(userCode: String, approve: Bool) throws(Refusal) {
        let found = state.withLock { state in
            guard let code = state.devices.first(where: { $0.value.userCode == userCode })?.key else { return false }
            state.devices[code]?.answer = approve ? .yes : .no
            return true
        }
        guard found else { throw .notFound("No such code: \(userCode)") }
    }

    /// One poll (RFC 8628 §3.5): the family, or why there is none.
    func poll(_ code: String) throws(Refusal) -> Int {
        let outcome = state.withLock { state -> Result<Int, Refusal> in
            guard var device = state.devices[code] else { return .failure(.oauth("invalid_grant")) }
            let soonest = (device.lastAsked ?? -.infinity) + device.interval
            let isTooSoon = now < soonest - 0.05
            device.lastAsked = now
            if isTooSoon { device.interval += 5 }
            state.devices[code] = device
            if now >= device.endsAt { return .failure(.oauth("expired_token")) }
            if isTooSoon { return .failure(.oauth("slow_down")) }
            switch device.answer {
            case .none: return .failure(.oauth("authorization_pending"))
            case .no: return .failure(.oauth("access_denied"))
            case .yes:
                state.devices[code] = nil
                return .success(Self.newFamily(&state, user: state.user))
            }
        }
        if case .failure(let refusal) = outcome, refusal.code == "slow_down" { note { $0.deviceSlowDowns += 1 } }
        return try outcome.get()
    }

    // MARK: Codes

    func push(_ fields: [String: String]) -> String {
        let name = "urn:ietf:params:oauth:request_uri:" + Self.token("par")
        state.withLock { $0.pushed[name] = fields }
        note { $0.pushes += 1 }
        return name
    }

    func pushed(_ name: String, isLast: Bool) -> [String: String]? {
        state.withLock { isLast ? $0.pushed.removeValue(forKey: name) : $0.pushed[name] }
    }

    func newCode(redirectURI: String, challenge: String, nonce: String?, thumbprint: String?) -> String {
        let code = Self.token("code")
        secrets.note(.code, code)
        state.withLock { state in
            state.codes[code] = Code(
                redirectURI: redirectURI, challenge: challenge, nonce: nonce, user: state.user, endsAt: now + 60,
                thumbprint: thumbprint)
        }
        return code
    }

    /// The family from a code. Reuse of the code ends the family (RFC 6749 §4.1.2).
    func redeem(
        _ code: String, redirectURI: String, verifier: String, thumbprint: String?
    ) throws(Refusal) -> (family: Int, nonce: String?) {
        let digest = Data(SHA256.hash(data: Data(verifier.utf8))).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let (family, isReplay, nonce) = state.withLock { state -> (Int?, Bool, String?) in
            guard var known = state.codes[code] else { return (nil, false, nil) }
            if let family = known.family {
                Self.end(family, &state)
                return (nil, true, nil)
            }
            guard known.redirectURI == redirectURI, known.challenge == digest, now < known.endsAt,
                known.thumbprint == thumbprint
            else { return (nil, false, nil) }
            let family = Self.newFamily(&state, user: known.user)
            known.family = family
            state.codes[code] = known
            return (family, false, known.nonce)
        }
        if isReplay { note { $0.codeReplays += 1 } }
        guard let family else { throw .oauth("invalid_grant") }
        return (family, nonce)
    }

    // MARK: Tokens

    func serviceFamily() -> Int { state.withLock { Self.newFamily(&$0, user: nil) } }

    /// Issues an access token, and a refresh token that replaces the former one.
    func issue(_ family: Int, withRefreshToken: Bool) -> (access: String, refresh: String?, lifetime: Double) {
        let access = Self.token("at")
        let refresh = withRefreshToken ? Self.token("rt") : nil
        for secret in [access, refresh].compactMap(\.self) { secrets.note(.token, secret) }
        return state.withLock { state in
            state.accessTokens[access] = AccessToken(
                family: family, endsAt: now + state.lifetime, issuedAt: .now, lifetime: state.lifetime)
            if let refresh {
                if let former = state.families[family]?.refreshToken, state.refreshTokens[former]?.replacedAt == nil {
                    state.refreshTokens[former]?.replacedAt = now
                }
                state.refreshTokens[refresh] = RefreshToken(family: family)
                state.families[family]?.refreshToken = refresh
            }
            return (access, refresh, state.lifetime)
        }
    }

    /// The family of a valid refresh token. Reuse after the grace period ends the whole family.
    /// - Parameter thumbprint: of the key of the request's proof, which must be the token's.
    func use(refreshToken: String, thumbprint: String?) throws(OAuthRenewal.Refusal) -> (family: Int, isRepeated: Bool)
    {
        let outcome = state.withLock { state -> Result<(family: Int, isRepeated: Bool), OAuthRenewal.Refusal> in
            guard let known = state.refreshTokens[refreshToken], let family = state.families[known.family],
                family.thumbprint == nil || family.thumbprint == thumbprint
            else { return .failure(.unknown) }
            if family.isOver { return .failure(.ended) }
            guard isAccepted(refreshToken, known, of: family, grace: state.grace) else {
                Self.end(known.family, &state)
                return .failure(.reused)
            }
            return .success((known.family, family.refreshToken != refreshToken))
        }
        if case .failure(.reused) = outcome { note { $0.reuses += 1 } }
        return try outcome.get()
    }

    /// The first replacement counts: a second one does not extend the token's life.
    private func isAccepted(_ text: String, _ token: RefreshToken, of family: Family, grace: Double) -> Bool {
        family.refreshToken == text || token.replacedAt.map { now < $0 + grace } ?? false
    }

    func record(_ renewal: OAuthRenewal) { renewals.update { $0.append(renewal) } }

    /// `nil`: it was never issued.
    func standing(ofAccessToken text: String) -> OAuthStanding? {
        state.withLock { state in
            guard let token = state.accessTokens[text] else { return nil }
            let ends = [token.revokedAt, state.families[token.family]?.overSince].compactMap(\.self)
            return OAuthStanding(
                issuedAt: token.issuedAt, endsAt: token.issuedAt + .seconds(token.lifetime), revokedAt: ends.min())
        }
    }

    private static func end(_ family: Int, _ state: inout State) {
        if state.families[family]?.overSince == nil { state.families[family]?.overSince = .now }
    }

    func user(of accessToken: String) throws(Refusal) -> OAuthStandIn.User {
        let user = state.withLock { state -> OAuthStandIn.User? in
            guard let token = state.accessTokens[accessToken], token.endsAt > now, token.revokedAt == nil,
                let family = state.families[token.family], !family.isOver
            else { return nil }
            return family.user
        }
        guard let user else { throw .oauth("invalid_token", status: 401) }
        return user
    }

    /// The thumbprint of the key that an access token is bound to.
    func thumbprint(ofAccessToken token: String) -> String? {
        state.withLock { state in state.accessTokens[token].flatMap { state.families[$0.family]?.thumbprint } }
    }

    func bind(_ family: Int, to thumbprint: String?) {
        state.withLock { $0.families[family]?.thumbprint = thumbprint }
    }

    // MARK: Proofs

    /// Whether an id is new. Records it.
    func isNew(_ id: String) -> Bool { state.withLock { $0.used.insert(id).inserted } }

    func nonce(forAPI isOfAPI: Bool) -> String { state.withLock { $0.nonces[isOfAPI ? 1 : 0] } }

    func changeNonces() { state.withLock { $0.nonces = $0.nonces.map { $0 + "+" } } }

    func giveRefreshToken() -> String {
        let family = state.withLock { Self.newFamily(&$0, user: $0.user) }
        return issue(family, withRefreshToken: true).refresh ?? ""
    }

    func family(of accessToken: String) throws(Refusal) -> Int {
        let access = state.withLock { $0.accessTokens[accessToken] }
        guard let access, isGood(accessToken) else { throw .oauth("invalid_request") }
        return access.family
    }

    func user(ofFamily family: Int) -> OAuthStandIn.User? { state.withLock { $0.families[family]?.user } }

    func revoke(_ token: String) {
        state.withLock { state in
            if let known = state.refreshTokens[token] { Self.end(known.family, &state) }
            state.accessTokens[token]?.revokedAt = .now
        }
    }

    func isGood(_ token: String) -> Bool {
        state.withLock { state in
            if let access = state.accessTokens[token] {
                return access.endsAt > now && access.revokedAt == nil && state.families[access.family]?.isOver == false
            }
            guard let known = state.refreshTokens[token], let family = state.families[known.family] else {
                return false
            }
            return !family.isOver && isAccepted(token, known, of: family, grace: state.grace)
        }
    }

    func note(_ change: (inout OAuthStandIn.Counts) -> Void) { counts.update(change) }

    private static func newFamily(_ state: inout State, user: OAuthStandIn.User?) -> Int {
        state.lastNumber += 1
        state.families[state.lastNumber] = Family(user: user)
        return state.lastNumber
    }

    private static func token(_ kind: String) -> String {
        kind + "-" + (0..<4).map { _ in String(UInt64.random(in: .min ... .max), radix: 36) }.joined()
    }

    /// Without vowels, so that it does not form words (RFC 8628 §6.1).
    private static func userCode() -> String {
        let letters = (0..<8).map { _ in String("BCDFGHJKLMNPQRSTVWXZ".randomElement() ?? "B") }.joined()
        return letters.prefix(4) + "-" + letters.suffix(4)
    }
}

extension Refusal {
    /// RFC 6749 §5.2.
    static func oauth(_ code: String, status: Int = 400, _ words: String? = nil) -> Refusal {
        Refusal(status: status, message: words ?? "Refused: \(code)", code: code)
    }
}
