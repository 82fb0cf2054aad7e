/// What a shell offers for a value.
package enum CompletionKind: Sendable {
    case list([String])
    /// Files and folders.
    case file
    /// The program is asked: it gets the words of the line, the index of the word at the cursor, and that word up to
    /// the cursor.
    case custom(@Sendable (_ words: [String], _ index: Int, _ prefix: String) -> [String])
}

/// A shell that has a completion script.
package enum CompletionShell: String, CaseIterable, Sendable {
    case zsh, bash, fish
}
