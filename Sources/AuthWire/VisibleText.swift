/// Makes text from elsewhere safe to show. The one place that says which characters are not shown as they are.
package enum VisibleText {
    /// On one line: a character that a terminal acts on, or that a reader cannot see, is written as `\u{200b}`.
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

    /// Controls, separators of lines, and all that is shown as nothing: Unicode's categories Cc, Cf, Zl and Zp, and
    /// Default_Ignorable_Code_Point, which adds tags, variation selectors and fillers (UAX #44). They act on a terminal,
    /// turn the direction of text, or make two different names look the same.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.value < 0x7F { return scalar.value < 0x20 }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return true
        default: return scalar.properties.isDefaultIgnorableCodePoint
        }
    }
}
