/// A provider that replaces each refresh token, and ends a session if a replaced token is used again; or one whose refresh
/// tokens stay. Each sign-in creates one account.
///
/// A refresh token is `rACCOUNT.NUMBER`.
struct RotatingProvider {
    private struct Account {
        var current = 1
        var replacedAt = Duration.zero
        var hasEnded = false
    }

    enum Outcome: Equatable {
        case granted(access: String, refresh: String)
        case refused
    }

    /// How long it accepts a refresh token after it was replaced.
    let grace: Duration
    let rotates: Bool
    private var accounts: [Account] = []
    private var issued = 0

    init(grace: Duration, rotates: Bool) {
        self.grace = grace
        self.rotates = rotates
    }

    static func parts(of refresh: String) -> (account: Int, number: Int)? {
        let parts = refresh.dropFirst().split(separator: ".").compactMap { Int($0) }
        return parts.count == 2 ? (parts[0], parts[1]) : nil
    }

    mutating func signIn() -> (account: Int, access: String, refresh: String) {
        accounts.append(Account())
        return (accounts.count - 1, access(), "r\(accounts.count - 1).1")
    }

    mutating func renew(_ refresh: String, at now: Duration) -> Outcome {
        guard let (account, number) = Self.parts(of: refresh), accounts.indices.contains(account) else {
            return .refused
        }
        guard accepts(refresh, at: now) else {
            accounts[account].hasEnded = true
            return .refused
        }
        if rotates, number == accounts[account].current {
            accounts[account].current += 1
            accounts[account].replacedAt = now
        }
        return .granted(access: access(), refresh: "r\(account).\(accounts[account].current)")
    }

    /// An injected fault: the session ends without a reason.
    mutating func end(_ refresh: String) {
        if let account = Self.parts(of: refresh)?.account { accounts[account].hasEnded = true }
    }

    func hasEnded(_ account: Int) -> Bool { accounts[account].hasEnded }

    /// Whether a later token has replaced it, even if it is still accepted.
    func hasReplaced(_ refresh: String) -> Bool {
        guard let (account, number) = Self.parts(of: refresh), accounts.indices.contains(account) else { return false }
        return number != accounts[account].current
    }

    func accepts(_ refresh: String, at now: Duration) -> Bool {
        guard let (account, number) = Self.parts(of: refresh), accounts.indices.contains(account),
            !accounts[account].hasEnded
        else { return false }
        let known = accounts[account]
        return number == known.current || number == known.current - 1 && now - known.replacedAt <= grace
    }

    private mutating func access() -> String {
        issued += 1
        return "a\(issued)"
    }
}
