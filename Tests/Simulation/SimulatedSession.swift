import AuthMachines
import AuthModel
import AuthWire

/// One session inside the simulated agent: its machine, and what the checker has to know of it.
final class SimulatedSession {
    var machine: SessionMachine
    /// The provider's account of the sign-in that is in force.
    var account: Int
    var snapshot: SessionSnapshot?
    /// Since when it is shown as stale.
    var staleSince: Duration?
    /// The deadline the machine has set last.
    var wakeUp: BootInstant?
    /// The same, until it has rung.
    var alarm: Duration?
    /// Callers that wait, since when, in the order in which they came.
    var callers: [(id: CallerID, since: Duration)] = []
    /// Those of them that requested the session's own token.
    var tokenCallers: Set<CallerID> = []
    var signOutAsked = false
    /// Callers that sign out and revoke the tokens at the provider.
    var revokers: Set<CallerID> = []
    /// The process that it is in.
    let process: Int
    /// By a token for a scope or an audience: the refresh token that came with it.
    var issuedWith: [String: Secret] = [:]
    /// What each token for a scope or an audience is for.
    var targets: [String: TokenTarget] = [:]
    /// The last one that a caller got, by what it is for.
    var targetedTokens: [TokenTarget: String] = [:]
    /// Refresh tokens that the store has, or has refused.
    var settledRefreshTokens: Set<String> = []
    /// The provider gave a final answer in this process, and the store was read after that.
    var sawFinal = false
    var readAgain = false
    /// Tokens that a program got a 401 with, when they were old enough for that to count.
    var rejected: Set<String> = []
    /// Tokens that a program got a 401 with, except those that were certainly too young for that to count.
    var reported: Set<String> = []
    /// Final refusals of renewals while the access token was valid, by that token.
    var earlyRefusals: [String: Int] = [:]
    /// How many of those a caller's request may have caused, by that token.
    private(set) var forced: [String: Int] = [:]
    /// Tokens that were read in this process.
    var readings: [String: Reading] = [:]
    /// Tokens that an answer has left as they are, and since when they are valid by that.
    var measured: [String: WallTime] = [:]
    /// Tokens that the store has, or has refused.
    var settled: Set<String> = []
    /// The store has accepted a write in this process.
    var storeAccepted = false
    /// What the next process would be handed: the newest that there is.
    var newest: SessionRecord?
    /// The token before the one in use, for late callers.
    var formerToken: String?

    /// What the checker knows of a token that was read from the store.
    struct Reading {
        let facts: SimulatedProvider.Issued
        /// Since when it is valid, as it was read; `nil` if a response has dated it since.
        var validSince: WallTime?
        /// The clock has once agreed with its dates.
        var isKnown = false
        /// The clock was set after its dates were computed: when it ends at the latest.
        var doubtfulUntil: Duration?
        /// The number for the token when this was judged: a prolonged one is judged again.
        var prolongations: Int

        init(facts: SimulatedProvider.Issued, validSince: WallTime? = nil) {
            self.facts = facts
            self.validSince = validSince
            prolongations = facts.prolongations
        }
    }

    init(machine: SessionMachine, account: Int, process: Int) {
        self.machine = machine
        self.account = account
        self.process = process
    }

    /// Counts a renewal that a caller requests now.
    func noteForced() { forced[machine.record.tokens.accessToken.reveal(), default: 0] += 1 }

    /// If the token has changed while callers wait, what they requested counts for the new one, too.
    func passOnForced(from former: Secret) {
        let token = machine.record.tokens.accessToken
        guard token != former, !callers.isEmpty, let count = forced[former.reveal()] else { return }
        forced[token.reveal(), default: 0] += count
    }

    func callersWait(since moment: Duration) {
        callers = callers.map { ($0.id, max($0.since, moment)) }
    }
}
