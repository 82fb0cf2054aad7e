import AuthWire

/// A provider's own words, made harmless to show: bounded, on one line, without control characters or marks that turn
/// the direction of what follows.
package enum ProviderText {
    /// Of one message, in Unicode scalars: several sentences, and no page.
    static let longest = 500

    /// Of a list of messages: a form has fewer fields.
    static let maxDetails = 32

    /// `nil` when nothing visible is left.
    package static func clean(_ text: String) -> String? {
        var cleaned = ""
        var count = 0
        var gap = false
        for scalar in text.unicodeScalars {
            if isInvisible(scalar) || scalar.properties.isWhitespace {
                gap = !cleaned.isEmpty
                continue
            }
            if gap { cleaned.unicodeScalars.append(" ") }
            gap = false
            count += 1
            guard count <= longest else { return cleaned + "…" }
            cleaned.unicodeScalars.append(scalar)
        }
        return cleaned.isEmpty ? nil : cleaned
    }

    /// What is not shown as it is, and what each font shows in its own way.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        VisibleText.isHidden(scalar) || scalar.properties.generalCategory == .privateUse
    }
}
