/// One word of a command that a user may type or paste.
package enum ShellWord {
    /// The word as a POSIX shell reads it back, in quotes if it needs them.
    package static func quoted(_ text: String) -> String {
        let isPlain =
            !text.isEmpty && text.utf8.allSatisfy { $0.isLowercase || $0.isUppercase || $0.isDigit || isMark($0) }
        return isPlain ? text : "'" + text.replacing("'", with: "'\\''") + "'"
    }

    /// No shell gives these a meaning inside of a word.
    private static func isMark(_ byte: UInt8) -> Bool { "._-:/@%+,=".utf8.contains(byte) }
}
