/// A provider's own words, made harmless to show: bounded, on one line, without control characters or marks that turn
/// the direction of what follows.
enum ProviderText {
    /// Of one message, in Unicode scalars: several sentences, and no page.
    static let longest = 500

    /// Of a list of messages: a form has fewer fields.
    static let mostDetails = 32

    /// `nil` when nothing visible is left.
    static func clean(_ text: String) -> String? {
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

    /// Control, format and separator characters: an escape sequence or a right-to-left mark in a terminal is no word.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate: true
        // Joiners make letters and emoji; the other format characters only hide or turn.
        case .format: scalar.value != 0x200D && scalar.value != 0x200C
        default: false
        }
    }
}
