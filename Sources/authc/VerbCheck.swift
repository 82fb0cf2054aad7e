import AuthWire

/// Checks the first word of the command line before its options are parsed.
enum VerbCheck {
    /// - Parameters:
    ///   - words: the command line, without the program's name.
    ///   - commands: all commands.
    /// - Returns: the error, if the word is not a command.
    static func problem(_ words: [String], commands: [String]) -> Failure? {
        guard let word = words.first, !word.isEmpty, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
        let near = Suggestion.nearest(to: word, among: commands)
        return .usage(
            "there is no command '\(word)'",
            hint: near.map { "did you mean `authc \($0)`?" } ?? "`authc --help` lists all commands")
    }
}
