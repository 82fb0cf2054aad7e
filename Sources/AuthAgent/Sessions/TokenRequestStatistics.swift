import AuthMachines
import AuthModel
package import AuthWire
import Synchronization

/// Counts the requests for tokens, usable from any thread.
package final class TokenRequestStatistics: Sendable {
    /// Causes may come from providers: further ones are counted together.
    private static let maxCauses = 32
    private static let otherCause = "other"

    private let counts = Mutex<[String: TokenRequestCounts]>([:])

    /// Sorted by provider.
    package var all: [TokenRequestCounts] {
        counts.withLock { $0.values.sorted { $0.provider < $1.provider } }
    }

    func record(_ provider: String, _ result: Result<Grant, ProviderFailure>, took: Duration) {
        counts.withLock { counts in
            var count = counts[provider] ?? TokenRequestCounts(provider: provider)
            if case .failure(let failure) = result {
                let cause = failure.error.cause ?? failure.error.kind?.rawValue ?? Self.otherCause
                let isKnown = count.failed[cause] != nil || count.failed.count < Self.maxCauses
                count.failed[isKnown ? cause : Self.otherCause, default: 0] += 1
            } else {
                count.succeeded += 1
            }
            for bound in TokenRequestCounts.bounds where took <= .milliseconds(bound) {
                count.within["\(bound)", default: 0] += 1
            }
            count.took += took
            counts[provider] = count
        }
    }
}
