/// What has to hold in every schedule (Docs/architecture.md, "What always holds"; Docs/decisions/simulation.md).
package enum Rule: String, Sendable, CaseIterable {
    case oneFlight = "1: one renewal of a session at a time"
    case storeFirst = "2: a renewed token is stored, or refused by the store, before it is returned or published"
    case endedToken = "3a: a token known to have ended is never returned"
    case goodToken = "3b: a good token is returned, whatever fails"
    case verdict = "4: only a final refusal, after the store was read again, leads to sign_in_required"
    case lostSession = "4b: a session that the provider accepts is never lost"
    case early = "34: a refusal ends no session whose access token is valid, and is repeated once before its end"
    case deletion = "5: only sign-out deletes"
    case liveness = "6: when the last fault is over, sessions are active within 6 minutes, and stay so"
    case generation = "7: no result of an earlier sign-in is used"
    case answers = "8: each caller is answered once, and in time"
    case stored = "9: what is in memory is written to the store"
    case thrift = "10: the calls of a session in an hour are limited"
    case spread = "12: a provider gets at most ten renewals in any second"
    case hold = "13: a provider that asked clients to wait gets no request before"
    case portal = "11: nothing is sent into a captive portal"
    case notices = "14: the user is notified of what requires action, and of nothing else"
    case proof = "23: a refresh token that the store holds is spent after the store has accepted a write in this run"
    case revoked = "24: after a sign-out that reached the provider, no token of it is live there"
    case lastChance = "25: a token that renews itself is renewed before its end, if 45 s are left for that"

    // Writes that wait (Docs/decisions/outbox.md).
    case oneWrite = "15: one write of a session is in progress at a time"
    case writeOrder = "16: a write is sent when those before it have their end on the disk"
    case lostWrite = "17: a write ends only with a final answer, or because the user drops it"
    case repeatedWrite = "18: a write with a final answer is not sent again"
    case writeHold = "19: nothing is sent without a network, or before Retry-After is over"
    case writeAnswers = "20: the caller of a write gets one reply, in time and correct"
    case writeLiveness = "21: when the last fault is over, what waits is sent within 6 minutes"
    case writeThrift = "22: the tries of a write in an hour are limited"

    // Sign-ins (Docs/decisions/simulation.md).
    case signInEnd = "26: a sign-in ends once, and does nothing after that"
    case signInInstall =
        "27: nothing is installed after the end of a sign-in, and nothing twice; one that succeeds has installed its tokens"
    case signInTokens = "28: tokens of a sign-in are installed or revoked, never both"
    case signInLeftovers = "29: a sign-in that has ended leaves no placeholder and no listener behind"
    case signInReplies =
        "30: each caller of a sign-in gets one reply, a late one the last step; one that no caller knows ends"
    case signInTimeout = "31: a sign-in that its user abandons ends"
    case signInAccount = "32: another account gets a session only if the user agrees"
    case signInRequests =
        "33: a sign-in has one request in progress, ten in a row without its user, and polls no sooner than it may"

    // Hosts that share a session (Docs/decisions/cluster.md).
    case clusterAlone = "35: at most one renewal that needs etcd is in progress in a cluster"
    case clusterReuse = "36: a used refresh token is sent again only if the next one was lost on its way to etcd"
    case clusterLost = "37: a session that the provider accepts is lost on no host"
    case clusterConvergence =
        "38: two seconds after the last fault each host has what etcd has, and in the end etcd has what each host has"
    case clusterLiveness =
        "39: when the last fault is over, the session is active on each host, no caller waits, and no hold is left"
    case clusterSignOut = "40: a sign-out on one host is one on all"
    case clusterSignOutTime = "41: a sign-out is on each connected host within a second"
    case clusterDelivery =
        "42: without a fault, other hosts return the tokens of a renewal to their callers 100 ms after the write"
    case clusterClocks = "43: each host knows when its token ends, however wrong its clock is and whenever that is set"
    case clusterOrder = "44: tokens in etcd are not replaced with older ones"

    /// The simulation that checks it.
    var simulation: any SimulationKind.Type {
        switch self {
        case .oneWrite, .writeOrder, .lostWrite, .repeatedWrite, .writeHold, .writeAnswers, .writeLiveness,
            .writeThrift:
            OutboxSimulation.self
        case .signInEnd, .signInInstall, .signInTokens, .signInLeftovers, .signInReplies, .signInTimeout,
            .signInAccount, .signInRequests:
            SignInSimulation.self
        case .clusterAlone, .clusterReuse, .clusterLost, .clusterConvergence, .clusterLiveness, .clusterSignOut,
            .clusterSignOutTime, .clusterDelivery, .clusterClocks, .clusterOrder:
            ClusterSimulation.self
        default: SessionSimulation.self
        }
    }

    /// The command that plays one seed of that simulation again.
    var command: String {
        simulation == ClusterSimulation.self ? "simulate-clusters COUNT=1" : "simulate SEEDS=1"
    }
}

/// A rule that was broken, and where.
package struct Violation: Error, Sendable, Equatable, CustomStringConvertible {
    package let rule: Rule
    /// Since the beginning of the schedule.
    package let at: Duration
    package let what: String

    package var description: String { "at \(at): \(what) [\(rule.rawValue)]" }
}
