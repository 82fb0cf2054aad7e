import AuthWire

/// A first word that is no command, before anybody looks at the options after it.
enum VerbCheck {
    /// - Parameters:
    ///   - words: the command line, without the program's name.
    ///   - commands: what there is.
    /// - Returns: what is wrong, if something is.
    static func problem(_ words: [String], commands: [String]) -> Failure? {
        guard let word = words.first, !word.isEmpty, !word.hasPrefix("-"), !commands.contains(word) else { return nil }
        let near = Suggestion.nearest(to: word, among: commands)
        return .usage(
            "there is no command '\(word)'",
            hint: near.map { "did you mean `authc \($0)`?" } ?? "`authc --help` lists all")
    }
}
