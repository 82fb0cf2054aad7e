package import AuthModel

/// How often one request is tried, and how long is waited between tries: values in, values out.
package struct RetryPlan: Sendable {
    /// After the first and the second failure; each is spread by ``jitter``. The third is the last: more tries only delay the
    /// error.
    private static let pauses: [Duration] = [.seconds(1), .seconds(2)]
    /// So that callers that failed together do not come back together.
    private static let jitter = 0.75...1.25
    /// If a provider asks for a longer pause, the caller gets the error with its length.
    private static let longestPause = Duration.seconds(30)

    private let mayRepeat: Bool
    private var failures = 0

    /// - Parameter mayRepeat: the request does no harm when it is carried out twice.
    package init(mayRepeat: Bool) {
        self.mayRepeat = mayRepeat
    }

    /// What to wait before the next try; `nil`: that was the last.
    package mutating func pause(after failure: Failure, using random: inout SeededRandom) -> Duration? {
        failures += 1
        guard mayRepeat, failures <= Self.pauses.count else { return nil }
        let spread = Double.random(in: Self.jitter, using: &random)
        let usual = Duration.seconds(Self.pauses[failures - 1].seconds * spread)
        switch failure {
        case .transport(let error): return Self.mayPass(error) ? usual : nil
        case .status(let status, let retryAfter):
            guard status == 429 || (500...599).contains(status) else { return nil }
            guard let retryAfter else { return usual }
            // Later than asked for by the same spread, never earlier.
            let pause = retryAfter + .seconds(spread - Self.jitter.lowerBound)
            return retryAfter <= Self.longestPause ? pause : nil
        }
    }

    package enum Failure: Sendable {
        case transport(TransportError)
        case status(Int, retryAfter: Duration?)
    }

    /// No connection, or one that was lost: the next may hold. What cannot change within seconds is not tried again.
    private static func mayPass(_ error: TransportError) -> Bool {
        switch error {
        case .offline, .nameNotResolved, .connectionRefused, .timedOut, .connectionLost, .proxy: true
        case .certificate, .tls, .portal, .tooLarge, .redirected, .badURL, .cancelled: false
        }
    }
}
