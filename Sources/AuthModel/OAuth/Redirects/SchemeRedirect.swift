/// A redirect to a private URI scheme, which the desktop passes to a program (RFC 8252 §7.1).
package struct SchemeRedirect: Sendable, Equatable {
    package let scheme: String
    /// The whole address, as it is registered at the provider.
    package let uri: String

    /// The longest domain name (RFC 1035 §2.3.4).
    private static let longestScheme = 253
    private static let longest = 1024
    /// IANA schemes that look like a reversed domain and are something else.
    private static let others = [
        "iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs", "soap.beep", "soap.beeps", "z39.50", "z39.50r", "z39.50s",
    ]

    /// `nil` if it is malformed, or if its scheme is not a reversed domain (RFC 8252 §7.1), as with `http` or `mailto`.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest, let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = String(text[..<colon])
        let path = String(text[text.index(after: colon)...])
        // A browser may remove `.` and `..` from a path, but the address must return as it was registered.
        guard Self.isReversedDomain(scheme), !Self.others.contains(scheme), path.hasPrefix("/"),
            PercentEncoding.isPath(path)
        else { return nil }
        self.scheme = scheme
        uri = text
    }

    /// Lower case, as browsers write schemes (RFC 3986 §3.1); at least two labels, and the first one is a top-level domain.
    private static func isReversedDomain(_ scheme: String) -> Bool {
        let labels = scheme.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, scheme.utf8.count <= longestScheme, labels[0].count >= 2,
            labels[0].allSatisfy(\.isLowercase)
        else { return false }
        return labels.allSatisfy { label in
            label.first.map { $0.isLowercase || $0.isDigit } ?? false
                && label.allSatisfy { $0.isLowercase || $0.isDigit || $0 == UInt8(ascii: "-") }
        }
    }
}
