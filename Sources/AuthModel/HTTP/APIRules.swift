/// What a profile says about all calls of its API.
package struct APIRules: Sendable, Equatable {
    /// How long an answer counts as fresh; zero: nothing is kept; `nil`: as the answer itself says (RFC 9111 §4.2).
    package var cache: Duration?
    /// Whether a call waits for a network instead of failing.
    package var waitsForConnectivity: Bool

    package init(cache: Duration? = nil, waitsForConnectivity: Bool = false) {
        self.cache = cache
        self.waitsForConnectivity = waitsForConnectivity
    }
}
