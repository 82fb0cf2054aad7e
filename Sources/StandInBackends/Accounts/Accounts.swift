import Foundation

/// One backend's accounts, tokens and codes.
///
/// Invariant: a token is valid from its issue to its end, unless it was revoked, or replaced longer than `grace` ago.
actor Accounts {
    struct Issued: Sendable {
        let token: String
        let id: String
        let account: String
        let issuedAt: Double
        let endsAt: Double
        /// When a newer token replaced it, in Unix seconds.
        var replacedAt: Double?
    }

    private struct Code {
        let text: String
        let endsAt: Double
    }

    /// How long an e-mailed code is valid, and how many wrong ones end it.
    static let codeSeconds = 600.0
    static let maxFailedTries = 5

    private let backend: Backend
    private let mint: TokenMint
    private let secrets: SecretLog
    private let clock: ServerClock
    private let grace: Double
    private let endsFamilyOnReuse: Bool
    private let renewals: ObservedValue<[TokenRenewal]>
    private var lifetime: Double
    private var accounts: [String: Account] = [:]
    private var tokens: [String: Issued] = [:]
    private var codes: [String: Code] = [:]
    private var failedTries: [String: Int] = [:]

    init(
        backend: Backend, seed: SeedUser, lifetime: Double, grace: Double, endsFamilyOnReuse: Bool, secrets: SecretLog,
        clock: ServerClock, renewals: ObservedValue<[TokenRenewal]>
    ) async {
        self.backend = backend
        self.lifetime = lifetime
        self.grace = grace
        self.endsFamilyOnReuse = endsFamilyOnReuse
        self.renewals = renewals
        self.secrets = secrets
        self.clock = clock
        mint = await TokenMint(issuer: "urn:stand-in:\(backend.rawValue)")
        let account = Account(email: seed.email, password: seed.password, name: seed.name)
        accounts[account.id] = account
        secrets.note(.password, seed.password)
    }

    func setLifetime(seconds: Double) {
        lifetime = seconds
    }

    /// Unix seconds of this backend's clock.
    nonisolated var now: Double { clock.now }

    func revokeAll() {
        tokens = [:]
    }
}

// MARK: - Accounts

extension Accounts {
    func account(_ id: String) -> Account? { accounts[id] }

    func account(email: String) -> Account? {
        accounts.values.first { $0.email == email.lowercased() }
    }

    var allAccounts: [Account] {
        accounts.values.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
    }

    /// - Throws: 400 for an invalid address, 409 for one that has an account.
    @discardableResult
    func add(_ account: Account) throws(Refusal) -> Account {
        var account = account
        account.email = account.email.lowercased()
        guard Self.isAddress(account.email) else {
            throw .badRequest("Validation failed", details: ["email is not an e-mail address"])
        }
        guard self.account(email: account.email) == nil else { throw .conflict("User already exists") }
        accounts[account.id] = account
        if let password = account.password { secrets.note(.password, password) }
        return account
    }

    @discardableResult
    func change(_ id: String, _ change: @Sendable (inout Account) -> Void) throws(Refusal) -> Account {
        guard var account = accounts[id] else { throw .notFound("User not found") }
        change(&account)
        account.updatedAt = Date()
        accounts[id] = account
        if let password = account.password { secrets.note(.password, password) }
        return account
    }

    func remove(_ id: String) throws(Refusal) {
        guard accounts.removeValue(forKey: id) != nil else { throw .notFound("User not found") }
        tokens = tokens.filter { $0.value.account != id }
    }

    /// - Throws: the same 401 for an unknown address as for a wrong password.
    func signIn(email: String, password: String) throws(Refusal) -> Account {
        secrets.note(.password, password)
        guard let account = account(email: email), let known = account.password, known == password else {
            throw .wrongCredentials
        }
        return try change(account.id) { $0.lastLoginAt = Date() }
    }

    static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && !parts[0].isEmpty && parts[1].contains(".")
            && !parts[1].hasPrefix(".") && !parts[1].hasSuffix(".") && !text.contains(" ")
    }
}

// MARK: - Tokens

extension Accounts {
    /// Issues a token. With `whole`, it ends on a whole second, as a JWT's `exp` usually does.
    func issue(to account: Account, whole: Bool = true) async throws(Refusal) -> Issued {
        let now = clock.now
        let issuedAt = whole ? now.rounded(.down) : now
        let ends = issuedAt + lifetime
        let id = UUID().uuidString.lowercased()
        let token: String
        do {
            token = try await mint.sign(
                subject: account.id, id: id, issued: Int(issuedAt), expires: Int(ends.rounded(.up)))
        } catch {
            throw Refusal(status: 500, message: "The token could not be signed", code: "INTERNAL")
        }
        let issued = Issued(token: token, id: id, account: account.id, issuedAt: issuedAt, endsAt: ends)
        tokens[id] = issued
        secrets.note(.token, token)
        return issued
    }

    /// Replaces `old`, which stays valid for the grace period.
    func replace(_ old: Issued, whole: Bool = true) async throws(Refusal) -> Issued {
        guard let account = accounts[old.account] else { throw .unauthorized("User not found") }
        let new = try await issue(to: account, whole: whole)
        // The first replacement counts: a second one does not extend the old token's life.
        if tokens[old.id]?.replacedAt == nil { tokens[old.id]?.replacedAt = clock.now }
        renewals.update { $0.append(TokenRenewal(former: old.token, token: new.token, at: .now)) }
        return new
    }

    /// As ``authenticate(_:)``. If a replaced token is used again, the account may lose all of its tokens.
    func authenticateForRenewal(_ token: String) async throws(Refusal) -> (account: Account, token: Issued) {
        do {
            return try await authenticate(token)
        } catch {
            if endsFamilyOnReuse, let claims = await mint.read(token), tokens[claims.jti]?.replacedAt != nil {
                tokens = tokens.filter { $0.value.account != claims.sub }
            }
            throw error
        }
    }

    /// - Throws: 401 with the reason.
    func authenticate(_ token: String) async throws(Refusal) -> (account: Account, token: Issued) {
        secrets.note(.token, token)
        guard let claims = await mint.read(token) else { throw .unauthorized("Invalid token") }
        guard let issued = tokens[claims.jti] else { throw .unauthorized("Token has been revoked") }
        let now = clock.now
        guard now < issued.endsAt else { throw .unauthorized("Token has expired") }
        if let replaced = issued.replacedAt, now > replaced + grace {
            throw .unauthorized("Token has been replaced")
        }
        guard let account = accounts[issued.account] else { throw .unauthorized("User not found") }
        return (account, issued)
    }

    /// A random secret, such as a refresh token that no call accepts.
    func opaque() -> String {
        var random = SystemRandomNumberGenerator()
        let text = (0..<32).map { _ in String(UInt8.random(in: 0...255, using: &random), radix: 36) }.joined()
        secrets.note(.token, text)
        return text
    }
}

// MARK: - Codes

extension Accounts {
    /// Sends a six-digit code for one purpose, which replaces the former one. Every third begins with a zero, to detect clients
    /// that treat it as a number.
    func sendCode(to email: String, purpose: String) {
        var random = SystemRandomNumberGenerator()
        let number = Int.random(in: 0..<1_000_000, using: &random)
        let leading = secrets.mail.count % 3 == 0
        let digits = String(leading ? number % 100_000 : number)
        let text = String(repeating: "0", count: 6 - digits.count) + digits
        let key = "\(purpose) \(email.lowercased())"
        codes[key] = Code(text: text, endsAt: clock.now + Self.codeSeconds)
        failedTries[key] = nil
        secrets.noteMail(.init(backend: backend, email: email.lowercased(), purpose: purpose, code: text))
    }

    /// - Throws: 400 for a wrong, used or ended code.
    func redeemCode(_ code: String, email: String, purpose: String) throws(Refusal) {
        let key = "\(purpose) \(email.lowercased())"
        guard let known = codes[key], clock.now < known.endsAt else {
            throw .badRequest("Verification code has expired")
        }
        guard known.text == code else {
            failedTries[key, default: 0] += 1
            if failedTries[key, default: 0] >= Self.maxFailedTries { codes[key] = nil }
            throw .badRequest("Invalid verification code")
        }
        codes[key] = nil
    }
}

extension Accounts {
    /// The account of the call's valid token.
    nonisolated func caller(_ call: Call) async throws(Refusal) -> Account {
        try await authenticate(call.bearer()).account
    }
}
