package import AuthWire

/// A profile's rules for all calls of its API.
package struct APIRules: Sendable, Equatable {
    /// How long a response is fresh; zero: not cached; `nil`: as the response says (RFC 9111 §4.2).
    package var cache: Duration?
    /// Where responses contain the address of the next page, unless the endpoint has its own `pages`. Empty: in `Link`
    /// fields.
    package var next: [JSONPointer] = []
    /// Whether a call waits for a network instead of failing.
    package var waitsForConnectivity: Bool

    package init(cache: Duration? = nil, waitsForConnectivity: Bool = false) {
        self.cache = cache
        self.waitsForConnectivity = waitsForConnectivity
    }
}
