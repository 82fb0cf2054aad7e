/// An address of a scheme of our own, which the desktop hands to a program (RFC 8252 §7.1).
package struct SchemeRedirect: Sendable, Equatable {
    package let scheme: String
    /// All of it, as it is registered at the provider.
    package let uri: String

    /// A name of the domain system is not longer, backwards either (RFC 1035 §2.3.4).
    private static let longestScheme = 253
    private static let longest = 1024
    /// Those of the IANA's list of schemes that look like a domain turned round and mean something else.
    private static let others = [
        "iris.beep", "iris.lwz", "iris.xpc", "iris.xpcs", "soap.beep", "soap.beeps", "z39.50", "z39.50r", "z39.50s",
    ]

    /// `nil` for what is no such address, or one whose scheme may be somebody else's: it has to be a domain turned round
    /// (RFC 8252 §7.1), which `http`, `file`, `mailto` and their like are not.
    package init?(_ text: String) {
        guard text.utf8.count <= Self.longest, let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = String(text[..<colon])
        let path = String(text[text.index(after: colon)...])
        // A browser may write `.` and `..` in a path away, and has to give back what was registered.
        guard Self.isReversedDomain(scheme), !Self.others.contains(scheme), path.hasPrefix("/"),
            PercentEncoding.isPath(path)
        else { return nil }
        self.scheme = scheme
        uri = text
    }

    /// In small letters, as browsers write schemes (RFC 3986 §3.1), and of at least two labels, the first of which is a
    /// top-level domain.
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
