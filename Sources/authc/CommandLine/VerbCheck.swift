import AuthWire
import CommandArguments

/// Checks the words that name a command before its options are parsed.
enum VerbCheck {
    /// - Parameters:
    ///   - words: the command line, without the program's name.
    ///   - root: all commands.
    /// - Returns: the error, if the words are not a command.
    static func problem(_ words: [String], _ root: any ParsableCommand.Type) -> Failure? {
        var path: [String] = words.first == help ? [help] : []
        var command = root
        for word in words.dropFirst(path.count) {
            let known = command.configuration.subcommands
            // What follows is its own.
            guard !known.isEmpty, !word.isEmpty, !word.hasPrefix("-") else { return nil }
            guard let next = known.first(where: { $0.configuration.commandName == word }) else {
                let names = known.map { $0.configuration.commandName }
                return problem(path + [word], path, names + (path.isEmpty ? [help] : []))
            }
            path.append(word)
            command = next
        }
        return nil
    }

    /// The command that the words name, without what follows it.
    static func path(_ words: [String], _ root: any ParsableCommand.Type) -> [String] {
        commands(words, root).dropFirst().map { $0.configuration.commandName }
    }

    /// The types of these commands, after the root.
    static func commands(_ words: [String], _ root: any ParsableCommand.Type) -> [any ParsableCommand.Type] {
        var commands = [root]
        var known = root.configuration.subcommands
        for word in words.drop(while: { $0 == help }) {
            guard let next = known.first(where: { $0.configuration.commandName == word }) else { break }
            commands.append(next)
            known = next.configuration.subcommands
        }
        return commands
    }

    private static let help = "help"

    private static func problem(_ words: [String], _ path: [String], _ known: [String]) -> Failure {
        let near = words.last.flatMap { Suggestion.nearest(to: $0, among: known) }
        // The first word only asks for help.
        let skipped = path.first == help ? 1 : 0
        let all = (["authc"] + path.dropFirst(skipped) + ["--help"]).joined(separator: " ")
        return .usage(
            "there is no command '\(Visible.line(words.dropFirst(skipped).joined(separator: " ")))'",
            hint: near.map { "did you mean `\((["authc"] + path + [$0]).joined(separator: " "))`?" }
                ?? "`\(all)` lists all commands")
    }
}
