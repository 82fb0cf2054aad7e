import AuthWire

/// Makes a provider's text safe to show: bounded, on one line, without control characters or marks that change the direction
/// of text.
package enum ProviderText {
    /// Unicode scalars of one message: several sentences, but not a page.
    static let longest = 500

    /// Messages of a list: a form has fewer fields.
    static let maxDetails = 32

    /// `nil` if nothing visible is left.
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

    /// Characters that are invisible, or that each font shows in its own way.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        VisibleText.isHidden(scalar) || scalar.properties.generalCategory == .privateUse
    }
}
