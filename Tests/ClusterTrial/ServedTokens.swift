package import StandInBackends

/// What clients got from their agents: judged as it arrives, and counted.
package struct ServedTokens: Sendable {
    /// A response with a token.
    package struct Response: Sendable {
        package let token: String
        /// The address of the agent's host.
        package let host: String
        package let askedAt: ContinuousClock.Instant
        package let answeredAt: ContinuousClock.Instant

        package init(
            token: String, host: String, askedAt: ContinuousClock.Instant, answeredAt: ContinuousClock.Instant
        ) {
            (self.token, self.host, self.askedAt, self.answeredAt) = (token, host, askedAt, answeredAt)
        }
    }

    /// A token that was served long after its end.
    package struct LateToken: Sendable, Equatable {
        package let words: String
        package let issuedAt: ContinuousClock.Instant
        package let endedAt: ContinuousClock.Instant
        package let askedAt: ContinuousClock.Instant

        /// An election since the token was issued excuses it, but only up to the delay that an election can cause.
        package func isFault(_ leaders: LeaderTerms) -> Bool {
            askedAt - endedAt > ServedTokens.longestLateness || !leaders.mayHaveChanged(from: issuedAt, to: askedAt)
        }
    }

    private struct Known: Sendable {
        let token: String
        let standing: OAuthStanding
        /// By host.
        var firstServed: [String: ContinuousClock.Instant] = [:]
    }

    /// An agent knows that its session has ended so long after the provider has told it.
    static let ending = Duration.seconds(1)
    /// A token is served so long after its end at most: the provider's response was on its way for as long.
    static let lateness = Duration.seconds(1)
    /// The longest time after its end for which a token is served if etcd has begun its lease again: the life of that
    /// lease, which is the token's, and the time limit for a response of the provider, 30 s
    /// (`LeaseMachine.requestLimit`).
    static let longestLateness = ClusterWorld.tokenLife + .seconds(30)
    /// The longest wait without `timeout_ms` (`NetworkWait.usualLimit`), and what a busy machine adds.
    package static let longestWait = Duration.seconds(65)
    /// Tokens that are remembered; several times those that are alive.
    private static let memory = 64
    /// Arrivals that are remembered: those of a day.
    private static let mostArrivals = 40_000

    /// The newest is the last.
    private var known: [Known] = []
    package private(set) var served = 0
    package private(set) var failures: [String: Int] = [:]
    package private(set) var longestWait = Duration.zero
    /// Served after the provider had revoked them, by agents that it had not told.
    package private(set) var revoked = 0
    package private(set) var longestRevoked = Duration.zero
    /// Served after their end.
    package private(set) var late = 0
    package private(set) var latest = Duration.zero
    /// The longest time that an agent served a token after another one had served a newer one, without a fault.
    package private(set) var longestLag = Duration.zero
    /// The time from the provider's issue of a token to its first response by each agent that had not requested it,
    /// without a fault. It includes the write to etcd, and the pause until a client asks.
    package private(set) var arrivals: [Duration] = []
    package private(set) var faults: [String] = []
    /// Tokens that were served after their end. A new leader of etcd begins each lease again, and then they are no fault.
    package private(set) var lateFaults: [LateToken] = []

    package init() {}

    /// - Parameters:
    ///   - standing: what the provider says about the token, asked after the response.
    ///   - refusals: the provider's refusals, the newest last.
    ///   - isWell: since when there is no fault, and nothing left of one; `nil`: there is.
    package mutating func add(
        _ response: Response, _ standing: OAuthStanding?, refusals: [OAuthRenewal], interruptions: [Interruption],
        wellSince: ContinuousClock.Instant?
    ) {
        served += 1
        waited(response.host, response.askedAt, response.answeredAt, interruptions)
        guard let standing else { return faults.append("\(response.host) served a token that was never issued") }
        let asked = response.askedAt
        if let revokedAt = standing.revokedAt, revokedAt < asked {
            revoked += 1
            longestRevoked = max(longestRevoked, asked - revokedAt)
            let notified = refusals.last { $0.client == response.host && $0.at >= revokedAt }?.at
            if let notified, notified + Self.ending < asked {
                faults.append("\(response.host) served a token \((asked - notified).inWords) after it knew of its end")
            }
        } else if standing.endsAt < asked {
            late += 1
            latest = max(latest, asked - standing.endsAt)
            if standing.endsAt + Self.lateness < asked {
                lateFaults.append(
                    LateToken(
                        words: "\(response.host) served a token \((asked - standing.endsAt).inWords) after its end",
                        issuedAt: standing.issuedAt, endedAt: standing.endsAt, askedAt: asked))
            }
        }
        remember(response, standing, wellSince)
        if let wellSince, wellSince < asked { measureLag(response, standing) }
    }

    /// A request without a token.
    package mutating func fail(
        _ reason: String, host: String, askedAt: ContinuousClock.Instant, answeredAt: ContinuousClock.Instant,
        interruptions: [Interruption]
    ) {
        failures[reason, default: 0] += 1
        waited(host, askedAt, answeredAt, interruptions)
    }

    /// When a client of another host first got a token.
    package func firstServed(_ token: String, exceptBy host: String?) -> ContinuousClock.Instant? {
        known.first { $0.token == token }?.firstServed.filter { $0.key != host }.values.min()
    }

    /// The time in which its agent was stopped does not count.
    private mutating func waited(
        _ host: String, _ askedAt: ContinuousClock.Instant, _ answeredAt: ContinuousClock.Instant,
        _ interruptions: [Interruption]
    ) {
        var wait = answeredAt - askedAt
        for pause in interruptions where pause.kind == .agentPaused && pause.host == host {
            wait -= max(.zero, min(pause.ended ?? answeredAt, answeredAt) - max(pause.began, askedAt))
        }
        longestWait = max(longestWait, wait)
        if wait > Self.longestWait { faults.append("a client of \(host) waited \(wait.inWords)") }
    }

    private mutating func remember(
        _ response: Response, _ standing: OAuthStanding, _ wellSince: ContinuousClock.Instant?
    ) {
        if let index = known.lastIndex(where: { $0.token == response.token }) {
            guard known[index].firstServed[response.host] == nil else { return }
            known[index].firstServed[response.host] = response.answeredAt
            if let wellSince, wellSince < standing.issuedAt, arrivals.count < Self.mostArrivals {
                arrivals.append(response.answeredAt - standing.issuedAt)
            }
            return
        }
        let new = Known(
            token: response.token, standing: standing, firstServed: [response.host: response.answeredAt])
        let place = known.lastIndex { $0.standing.issuedAt < standing.issuedAt }.map { $0 + 1 } ?? 0
        known.insert(new, at: place)
        if known.count > Self.memory { known.removeFirst() }
    }

    private mutating func measureLag(_ response: Response, _ standing: OAuthStanding) {
        let newer = known.lazy.filter { $0.standing.issuedAt > standing.issuedAt }
        guard let first = newer.compactMap({ $0.firstServed.values.min() }).min(), first < response.askedAt else {
            return
        }
        longestLag = max(longestLag, response.askedAt - first)
    }
}
