/// What has to hold in every schedule (Docs/architecture.md, "What always holds"; Docs/decisions/simulation.md).
package enum Rule: String, Sendable, CaseIterable {
    case oneFlight = "1: one renewal of a session at a time"
    case storeFirst = "2: a renewed token is stored, or refused by the store, before anyone is told"
    case endedToken = "3a: a token known to have ended is never given out"
    case goodToken = "3b: a good token is given out, whatever fails"
    case verdict = "4: only a final answer, and a second look at the store, lead to sign_in_required"
    case lostSession = "4b: a session that the provider honours is never lost"
    case deletion = "5: only sign-out deletes"
    case liveness = "6: when the last fault is over, sessions are active within 6 minutes, and stay so"
    case generation = "7: nothing of an earlier sign-in comes back"
    case answers = "8: each caller is answered once, and in time"
    case stored = "9: what is in memory gets into the store"
    case thrift = "10: calls of a session in an hour have a bound"
    case spread = "12: a provider gets at most ten renewals in any second"
    case hold = "13: a provider that wants to be left alone is left alone"
    case portal = "11: nothing is sent into a captive portal"
    case notices = "14: a person is told of what needs them, and of nothing else"
}

/// A rule that was broken, and where.
package struct Violation: Error, Sendable, Equatable, CustomStringConvertible {
    package let rule: Rule
    /// Since the beginning of the schedule.
    package let at: Duration
    package let what: String

    package var description: String { "at \(at): \(what) [\(rule.rawValue)]" }
}
