/// Makes text from other sources safe to show. Only this type decides which characters are escaped.
package enum VisibleText {
    /// Writes a character that a terminal acts on, or that a reader cannot see, as `\u{200b}`.
    package static func line(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var result = ""
        for scalar in text.unicodeScalars {
            if isHidden(scalar) {
                result += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Control characters, line separators and invisible characters: Unicode's categories Cc, Cf, Zl and Zp, and
    /// Default_Ignorable_Code_Point, which adds tags, variation selectors and fillers (UAX #44). They act on a terminal,
    /// change the direction of text, or make two names look the same.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
