import AuthMachines
import AuthModel
import AuthWire

/// A provider with its accounts: rotation, reuse detection, grace.
///
/// Each sign-in is a separate account here, so that a token shows which sign-in it belongs to.
final class SimulatedProvider {
    struct Account {
        var session: Int
        /// The number of the refresh token that is good now.
        var current = 0
        /// When that became so.
        var rotatedAt: Duration
        var revoked = false
        /// Its refresh token was revoked, and nothing else.
        var isClosed = false
        /// The newest access token, and its end, counted from when it was issued.
        var newest = ""
        var newestEnd: Duration?
    }

    /// What is known of an access token. An object, so that a token is looked up only once.
    final class Issued {
        let account: Int
        /// Grows with each token.
        let number: Int
        /// As the provider stated it; `nil` if it stated none.
        var end: Duration?
        var life: Duration?
        var sentAt: Duration { didSet { sentAtSeconds = sentAt.seconds } }
        private(set) var sentAtSeconds: Double
        /// How often a renewal has returned the same token.
        var prolongations = 0

        init(account: Int, number: Int, life: Duration?, sentAt: Duration) {
            self.account = account
            self.number = number
            self.life = life
            self.sentAt = sentAt
            end = life.map { sentAt + $0 }
            sentAtSeconds = sentAt.seconds
        }
    }

    let rotation: Setting.Rotation
    /// See ``Setting/renewsBeforeEnd``.
    var renewsBeforeEnd: Duration?
    /// See ``Setting/revokesFamily``.
    var revokesFamily = true
    var behaviour = ProviderBehaviour.well
    /// Until then it asked clients to wait.
    var holdsOffUntil = Duration.zero
    private(set) var accounts: [Account] = []
    private(set) var issued: [String: Issued] = [:]
    private var refreshTokens: [String: (account: Int, number: Int)] = [:]
    private var lastToken = 0
    /// Access tokens that were revoked by themselves.
    private var revokedTokens: Set<String> = []

    init(rotation: Setting.Rotation) {
        self.rotation = rotation
    }

    // MARK: What it does

    func signIn(_ session: Int, life: Duration?, at now: Duration, wall: WallTime)
        -> (account: Int, tokens: TokenSet)
    {
        accounts.append(Account(session: session, rotatedAt: now))
        let account = accounts.count - 1
        let access = issue(account, life: life, sentAt: now, at: now)
        return (
            account,
            TokenSet(
                accessToken: Secret(access), refreshToken: refreshToken(account).map { Secret($0) }, issuedAt: wall,
                expiresAt: life.map { wall + $0 })
        )
    }

    func revoke(_ account: Int) {
        accounts[account].revoked = true
    }

    /// Carries a renewal out, as it arrives.
    func renew(
        _ tokens: TokenSet, statedLife: Duration?, sentAt: Duration, wallAtSending: WallTime, at now: Duration
    ) -> Result<Grant, ProviderFailure> {
        guard let (account, number) = family(of: tokens), accepts(tokens, at: now) else {
            if let (account, _) = family(of: tokens), case .rotating(_, .revokes) = rotation { revoke(account) }
            return .failure(.final(.refusedByProvider))
        }
        if isEarly(account, at: now) { return .failure(.final(.refusedByProvider)) }
        var grant = Grant(issuedAt: wallAtSending, expiresAt: statedLife.map { wallAtSending + $0 })
        if case .sliding = rotation {
            return .success(grant)
        }
        if case .rotating = rotation, number == accounts[account].current {
            accounts[account].current += 1
            accounts[account].rotatedAt = now
        }
        grant.accessToken = Secret(issue(account, life: statedLife, sentAt: sentAt, at: now))
        if case .rotating = rotation { grant.refreshToken = refreshToken(account).map { Secret($0) } }
        return .success(grant)
    }

    /// A token for a scope or an audience: it takes the refresh token as a renewal does.
    func obtain(
        _ tokens: TokenSet, as targets: Setting.TargetSchedule, life: Duration?, sentAt: Duration,
        wallAtSending: WallTime, at now: Duration
    ) -> Result<Grant, ProviderFailure> {
        switch rotation {
        case .sliding, .bearer, .none: return .failure(.refused(.refusedByProvider))
        case .fixed, .rotating: break
        }
        // Not agreed to, and the refresh token is not used up.
        if targets == .refuses { return .failure(.final(.refusedByProvider)) }
        var answer = renew(tokens, statedLife: life, sentAt: sentAt, wallAtSending: wallAtSending, at: now)
        if targets == .narrows, case .success(var grant) = answer {
            grant.scopes = []
            answer = .success(grant)
        }
        return answer
    }

    /// Revokes what it is given (RFC 7009): a refresh token that is still good ends the whole sign-in, or only itself.
    func revoke(_ tokens: TokenSet, at now: Duration) {
        if let refresh = tokens.refreshToken?.reveal(), isLive(refresh: refresh, at: now),
            let account = refreshTokens[refresh]?.account
        {
            if revokesFamily { revoke(account) } else { accounts[account].isClosed = true }
        }
        revokedTokens.insert(tokens.accessToken.reveal())
    }

    /// An answer that left the token as it is and stated a new end has arrived: before that it was unknown.
    func prolong(_ tokens: TokenSet, _ grant: Grant, sentAt: Duration) {
        let access = tokens.accessToken.reveal()
        let end = grant.expiresAt.map { sentAt + ($0 - grant.issuedAt) }
        // A sooner end holds only when the store has answered; until then it goes by the former one.
        if let end, let former = issued[access]?.end, end < former { return }
        issued[access]?.life = grant.expiresAt.map { $0 - grant.issuedAt }
        issued[access]?.end = end
        issued[access]?.sentAt = sentAt
        issued[access]?.prolongations += 1
    }

    // MARK: What it knows

    /// Whether a renewal with these tokens would succeed.
    func accepts(_ tokens: TokenSet, at now: Duration) -> Bool {
        guard let (account, number) = family(of: tokens), !accounts[account].revoked, !accounts[account].isClosed else {
            return false
        }
        if rotation == .bearer { return isLive(access: tokens.accessToken.reveal(), at: now) }
        if rotation == .sliding, revokedTokens.contains(tokens.accessToken.reveal()) { return false }
        guard case .rotating(let grace, _) = rotation, number != accounts[account].current else { return true }
        return number == accounts[account].current - 1 && now - accounts[account].rotatedAt <= grace
    }

    /// Whether it accepts them now and not only later. An agent without the newest access token cannot know when that
    /// is.
    func acceptsNow(_ tokens: TokenSet, at now: Duration) -> Bool {
        guard renewsBeforeEnd != nil, let (account, _) = family(of: tokens) else { return accepts(tokens, at: now) }
        return accepts(tokens, at: now) && !isEarly(account, at: now)
            && accounts[account].newest == tokens.accessToken.reveal()
    }

    private func isEarly(_ account: Int, at now: Duration) -> Bool {
        guard let renewsBeforeEnd, let end = accounts[account].newestEnd else { return false }
        return now < end - renewsBeforeEnd
    }

    /// When the newest access token of these tokens' account ends, or has ended.
    func end(of tokens: TokenSet) -> Duration? { family(of: tokens).flatMap { accounts[$0.account].newestEnd } }

    func isLive(access token: String, at now: Duration) -> Bool {
        guard let facts = issued[token], !accounts[facts.account].revoked, !revokedTokens.contains(token) else {
            return false
        }
        return facts.end.map { now < $0 } ?? true
    }

    func isLive(refresh token: String, at now: Duration) -> Bool {
        guard let (account, number) = refreshTokens[token], !accounts[account].revoked, !accounts[account].isClosed
        else {
            return false
        }
        guard case .rotating(let grace, _) = rotation, number != accounts[account].current else { return true }
        return number == accounts[account].current - 1 && now - accounts[account].rotatedAt <= grace
    }

    /// Which of its account's refresh tokens it is.
    func number(of refreshToken: Secret?) -> Int? { refreshToken.flatMap { refreshTokens[$0.reveal()]?.number } }

    func account(of tokens: TokenSet) -> Int? { issued[tokens.accessToken.reveal()]?.account }

    /// Whether both are of the same sign-in, and the access token of `tokens` was issued earlier.
    func isOlder(_ tokens: TokenSet, than others: TokenSet) -> Bool {
        guard let first = issued[tokens.accessToken.reveal()], let second = issued[others.accessToken.reveal()] else {
            return false
        }
        return first.account == second.account && first.number < second.number
    }

    /// Whether these have ended, and the others are valid for longer than clocks and dates may be wrong.
    func isOutlived(_ tokens: TokenSet, by others: TokenSet, at now: Duration) -> Bool {
        guard let end = issued[tokens.accessToken.reveal()]?.end,
            let other = issued[others.accessToken.reveal()]?.end
        else { return false }
        return end <= now && other > now + .seconds(3)
    }

    private func family(of tokens: TokenSet) -> (account: Int, number: Int)? {
        guard let refresh = tokens.refreshToken else { return account(of: tokens).map { ($0, 0) } }
        return refreshTokens[refresh.reveal()]
    }

    private func refreshToken(_ account: Int) -> String? {
        switch rotation {
        case .sliding, .bearer, .none: return nil
        case .fixed, .rotating:
            let text = "r\(account).\(accounts[account].current)"
            refreshTokens[text] = (account, accounts[account].current)
            return text
        }
    }

    private func issue(_ account: Int, life: Duration?, sentAt: Duration, at now: Duration) -> String {
        lastToken += 1
        let text = "a\(account).\(lastToken)"
        accounts[account].newest = text
        accounts[account].newestEnd = life.map { now + $0 }
        issued[text] = Issued(account: account, number: lastToken, life: life, sentAt: sentAt)
        return text
    }
}

extension AgentError {
    static let refusedByProvider = AgentError(
        .refused, "The provider refuses.", cause: "invalid_grant", httpStatus: 400)
}
