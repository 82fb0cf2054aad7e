import AuthMachines
import AuthModel
package import AuthWire
import Synchronization

/// Counts the requests for tokens, usable from any thread.
package final class TokenRequestStatistics: Sendable {
    /// Providers can invent causes: beyond this many, and unless they are words, they are counted as `other`.
    private static let maxCauses = 32
    private static let longestCause = 64
    private static let otherCause = "other"

    private let counts = Mutex<[String: TokenRequestCounts]>([:])

    /// Sorted by provider.
    package var all: [TokenRequestCounts] {
        counts.withLock { $0.values.sorted { $0.provider < $1.provider } }
    }

    func record(_ provider: String, _ result: Result<Grant, ProviderFailure>, duration: Duration) {
        counts.withLock { counts in
            var count = counts[provider] ?? TokenRequestCounts(provider: provider)
            if case .failure(let failure) = result {
                let cause = failure.error.cause ?? failure.error.kind?.rawValue ?? Self.otherCause
                let isNamed = Self.isWord(cause) && (count.failed[cause] != nil || count.failed.count < Self.maxCauses)
                count.failed[isNamed ? cause : Self.otherCause, default: 0] += 1
            } else {
                count.succeeded += 1
            }
            for bound in TokenRequestCounts.bounds where duration <= .milliseconds(bound) {
                count.within["\(bound)", default: 0] += 1
            }
            count.duration += duration
            counts[provider] = count
        }
    }

    private static func isWord(_ cause: String) -> Bool {
        let (letters, digits) = (UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"))
        return (1...longestCause).contains(cause.utf8.count)
            && cause.utf8.allSatisfy { letters.contains($0 | 0x20) || digits.contains($0) || "_.-".utf8.contains($0) }
    }
}
