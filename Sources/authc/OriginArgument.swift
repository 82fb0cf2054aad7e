import AuthWire

/// An address that a token is for, as the user writes it.
enum OriginArgument {
    /// - Throws: if it has no scheme, with the same command and the address that was probably meant.
    static func check(_ text: String) throws(Failure) {
        guard !text.contains("://") else { return }
        let meant = "https://" + text
        let words = TypedCommand.words.map { $0 == text ? meant : $0 }
        throw .usage(
            "'\(Visible.line(text))' is not an http or https URL",
            hint: TypedCommand.isWhole ? "did you mean `\(CommandText.authc(words))`?" : "did you mean \(meant)?")
    }
}

/// The command line that the user has typed, for a hint that changes a part of it.
enum TypedCommand {
    /// Without the program's name, and without the command that `exec` starts.
    static var words: [String] { Array(CommandLine.arguments.dropFirst().prefix { $0 != "--" }) }

    static var isWhole: Bool { !CommandLine.arguments.contains("--") }
}
