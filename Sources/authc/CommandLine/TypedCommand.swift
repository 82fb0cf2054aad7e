import AuthWire

/// The command line that the user has typed, for a hint that repeats it or changes a part of it.
enum TypedCommand {
    /// Without the program's name, and without the command that `exec` starts.
    static var words: [String] { Array(CommandLine.arguments.dropFirst().prefix { $0 != "--" }) }

    /// Whether that is the whole command line.
    static var isWhole: Bool { !CommandLine.arguments.contains("--") }

    /// The command to try again. The shell's redirections are not known, so the options that read secrets from them are
    /// left out: authc then asks for those secrets.
    /// - Parameter words: what the user chose instead of typing it.
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
