/// How soon hosts know what another host has done, while nothing fails.
package struct HostTimes: Sendable {
    /// When a host knew of it.
    package struct Arrival: Sendable, Equatable {
        /// The host's address.
        package let host: String
        /// The token that it served; `nil` for a sign-out.
        package let token: String?
        /// `nil`: it did not know of it within ``limit``.
        package let at: ContinuousClock.Instant?

        package init(host: String, token: String? = nil, at: ContinuousClock.Instant?) {
            (self.host, self.token, self.at) = (host, token, at)
        }
    }

    /// The median and the largest of times.
    package struct Spread: Sendable, Equatable {
        package let median: Duration
        /// 99 of 100 or more are not longer.
        package let p99: Duration
        package let longest: Duration

        /// `nil` without times.
        package init?(_ times: [Duration]) {
            let all = times.sorted()
            guard let last = all.last else { return nil }
            (median, p99, longest) = (all[all.count / 2], all[(all.count * 99 + 99) / 100 - 1], last)
        }
    }

    /// A rule: within this time after the host that renewed or signed out has responded, each other host knows of it,
    /// however busy the machine is. Without a working watch, a host finds out with its next check, up to 30 s later.
    package static let limit = Duration.seconds(5)
    /// A goal: within this time after its write, a new token is at each other host.
    static let tokenGoal = Duration.milliseconds(100)
    /// A goal: within this time after the request to sign out, the session is gone on each other host.
    static let signOutGoal = Duration.seconds(1)

    /// From the provider's issue of a token, which is before its write, to the response of each other host with it.
    package private(set) var tokens: [Duration] = []
    /// From the response of the host that has renewed, which is after the write.
    package private(set) var tokensAfterWrite: [Duration] = []
    /// From the request to sign out, which is before the deletion, to each other host's response that it is signed out.
    package private(set) var signOuts: [Duration] = []
    package private(set) var faults: [String] = []

    package init() {}

    /// A host has renewed.
    /// - Parameters:
    ///   - token: the new one. A host that serves another token has that from a later renewal, and is not counted.
    ///   - done: when it responded.
    package mutating func noteRenewal(
        of token: String, by host: String, issued: ContinuousClock.Instant, done: ContinuousClock.Instant,
        _ arrivals: [Arrival]
    ) {
        for arrival in arrivals where arrival.at == nil || arrival.token == token {
            guard let at = arrival.at else {
                fail("\(arrival.host) did not serve the new token of \(host) within \(Self.limit.inWords)")
                continue
            }
            tokens.append(at - issued)
            // The watch may be faster than the response to the write.
            tokensAfterWrite.append(max(.zero, at - done))
        }
    }

    package mutating func noteSignOut(by host: String, requested: ContinuousClock.Instant, _ arrivals: [Arrival]) {
        for arrival in arrivals {
            guard let at = arrival.at else {
                fail("\(arrival.host) did not know of the sign-out on \(host) within \(Self.limit.inWords)")
                continue
            }
            signOuts.append(at - requested)
        }
    }

    package mutating func fail(_ words: String) { faults.append("while nothing fails: " + words) }

    /// How many tokens were at another host within ``tokenGoal`` of their issue, and so of their write.
    var soonTokens: Int { tokens.count { $0 <= Self.tokenGoal } }
    var soonSignOuts: Int { signOuts.count { $0 <= Self.signOutGoal } }
}

extension HostTimes: CustomStringConvertible {
    /// Two lines.
    package var description: String {
        """
        new tokens at the other agents, while nothing fails: \(tokens.count), \(soonTokens) of them within \
        \(Self.tokenGoal.inWords) of their issue; \(Self.words(tokens)) after the issue, \(Self.words(tokensAfterWrite)) \
        after the response of the agent that has renewed
        sign-outs at the other agents, while nothing fails: \(signOuts.count), \(soonSignOuts) of them within \
        \(Self.signOutGoal.inWords); \(Self.words(signOuts)) after the request
        """
    }

    private static func words(_ times: [Duration]) -> String {
        guard let spread = Spread(times) else { return "none" }
        return "median \(spread.median.inWords), p99 \(spread.p99.inWords), longest \(spread.longest.inWords)"
    }
}
