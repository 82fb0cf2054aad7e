/// Where the browser is redirected after authorization (RFC 8252 §7).
package enum RedirectTarget: Sendable, Equatable {
    /// A page that the agent serves on this machine.
    case loopback(LoopbackRedirect)
    /// A program that the desktop starts.
    case scheme(SchemeRedirect)

    /// The expected form, for error messages.
    package static let expected =
        "an address of this machine, such as http://127.0.0.1/callback, with a port or https, or an address whose "
        + "scheme is a reversed domain, such as com.example.app:/callback"

    package init?(_ text: String) {
        if let redirect = LoopbackRedirect(text) {
            self = .loopback(redirect)
        } else if let redirect = SchemeRedirect(text) {
            self = .scheme(redirect)
        } else {
            return nil
        }
    }

    /// The address as it is registered: without a port if any free port is used.
    package var uri: String {
        switch self {
        case .loopback(let redirect): redirect.uri(port: nil)
        case .scheme(let redirect): redirect.uri
        }
    }

    /// Whether it is `other`, or `other` with a port if `other` has none.
    func isOne(of other: RedirectTarget) -> Bool {
        switch (self, other) {
        case (.loopback(let mine), .loopback(let theirs)):
            mine.isSecure == theirs.isSecure && mine.host == theirs.host && mine.path == theirs.path
                && mine.port != nil && (theirs.port == nil || theirs.port == mine.port)
        default: self == other
        }
    }

    package var isAtAnyPort: Bool {
        if case .loopback(let redirect) = self { redirect.port == nil } else { false }
    }

    package var isSecurePage: Bool {
        if case .loopback(let redirect) = self { redirect.isSecure } else { false }
    }
}
