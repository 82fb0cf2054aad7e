/// Identifies one sign-in. Another sign-in to the same session has another ID, whatever the clock says.
package struct SignInID: Sendable, Hashable, CustomStringConvertible {
    package let text: String

    /// Far above what is generated here.
    private static let maxBytes = 64

    /// - Returns: `nil` if it is not a letter followed by letters, digits and hyphens, 64 bytes at most.
    package init?(_ text: String) {
        guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first),
            text.utf8.count <= Self.maxBytes, text.utf8.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    /// The ID of a sign-in from before IDs existed: it follows from the date.
    package init(signedInAt date: WallTime) {
        // A store may round dates by less than a millisecond.
        let milliseconds = (date.unixSeconds * 1000).rounded()
        text = "at\(Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max))"
    }

    /// A new ID from the system's random source.
    package static func random() -> SignInID {
        var source = SystemRandomNumberGenerator()
        return SignInID(parts: source.next(), source.next())
    }

    private init(parts high: UInt64, _ low: UInt64) {
        text = "s" + [high, low].map { String($0, radix: 36) }.joined(separator: "-")
    }

    package var description: String { text }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
