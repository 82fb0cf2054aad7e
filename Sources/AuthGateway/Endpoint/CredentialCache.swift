package import AuthModel

/// The credentials of one role and one sign-in, and the exchange that gets them.
///
/// Invariant: at most one exchange is in progress, and everyone who asks meanwhile gets its result.
package struct CredentialCache: Sendable {
    package enum Decision: Sendable, Equatable {
        case use(AWSCredentials)
        case refuse(FrontProblem)
        /// The caller exchanges a token, and reports the result with ``end(_:now:)``.
        case exchange
        /// For the exchange in progress.
        case wait
    }

    private var credentials: (value: AWSCredentials, renewAt: BootInstant, end: BootInstant)?
    private var failure: (problem: FrontProblem, until: BootInstant)?
    package private(set) var isExchanging = false

    package init() {}

    /// Somebody wants credentials.
    package mutating func request(now: Moment) -> Decision {
        if let credentials, now.boot < credentials.renewAt { return .use(credentials.value) }
        if isExchanging { return .wait }
        if let failure, now.boot < failure.until { return usable(now).map(Decision.use) ?? .refuse(failure.problem) }
        isExchanging = true
        return .exchange
    }

    /// - Returns: what the caller and everyone who waits get. Credentials that are still valid serve while no others
    ///   can be had.
    package mutating func end(
        _ result: Result<AWSCredentials, FrontProblem>, now: Moment
    ) -> Result<AWSCredentials, FrontProblem> {
        isExchanging = false
        switch result {
        case .success(let value):
            let end = now.deadline(for: value.end)
            let margin = min(EndpointLimits.longestMargin, (end - now.boot) / 4)
            // With a clock that is wrong they seem to have ended: then, too, not every request is an exchange.
            let renewAt = max(end - margin, now.boot + EndpointLimits.failurePause)
            credentials = (value, renewAt, end - EndpointLimits.leastCredentialTime)
            failure = nil
            return result
        case .failure(let problem):
            failure = (problem, now.boot + EndpointLimits.failurePause)
            return usable(now).map(Result.success) ?? result
        }
    }

    private func usable(_ now: Moment) -> AWSCredentials? {
        credentials.flatMap { now.boot < $0.end ? $0.value : nil }
    }
}
