/// The command line that the user has typed, for a hint that changes a part of it.
enum TypedCommand {
    /// Without the program's name, and without the command that `exec` starts.
    static var words: [String] { Array(CommandLine.arguments.dropFirst().prefix { $0 != "--" }) }

    /// Whether that is the whole command line.
    static var isWhole: Bool { !CommandLine.arguments.contains("--") }
}
