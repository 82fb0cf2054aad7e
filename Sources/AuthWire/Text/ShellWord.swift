/// One word of a command that a user may type or paste.
package enum ShellWord {
    /// The word as a POSIX shell reads it back, in quotes if it needs them.
    package static func quoted(_ text: String) -> String {
        let isPlain = !text.isEmpty && text.utf8.allSatisfy(isPlain)
        guard !isPlain else { return text }
        // Scalars: a quote with a combining mark is another character, but a shell still sees the quote.
        let inside = text.unicodeScalars.reduce(into: "") { result, scalar in
            if scalar == "'" { result += #"'\''"# } else { result.unicodeScalars.append(scalar) }
        }
        return "'\(inside)'"
    }

    /// No shell gives these a meaning inside of a word.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "._-:/@%+,=".utf8.contains(byte)
        }
    }
}
