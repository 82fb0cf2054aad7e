import AuthWire

/// The command line that the user has typed, for a hint that repeats it or changes a part of it.
enum TypedCommand {
    /// Without the program's name, and without the command that `exec` starts.
    static var words: [String] { Array(CommandLine.arguments.dropFirst().prefix { $0 != "--" }) }

    /// Whether that is the whole command line.
    static var isWhole: Bool { !CommandLine.arguments.contains("--") }

    /// The command to try again. The redirections of the shell that secrets were read from are not known, so those
    /// secrets are asked for.
    /// - Parameter words: what was chosen and not typed.
    static func again(with words: [String] = []) -> String {
        var typed: [String] = []
        var isDescriptor = false
        for word in CommandLine.arguments.dropFirst() {
            if !isDescriptor, word != "--password-stdin", word != "--secret-fd", !word.hasPrefix("--secret-fd=") {
                typed.append(word)
            }
            isDescriptor = !isDescriptor && word == "--secret-fd"
        }
        return CommandText.authc(typed + words)
    }
}
