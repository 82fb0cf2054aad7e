import ArgumentParser
import AuthWire

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
            guard let next = known.first(where: { name($0) == word }) else {
                return problem(path + [word], path, known.map(name) + (path.isEmpty ? [help] : []))
            }
            path.append(word)
            command = next
        }
        return nil
    }

    /// The command that the words name, without what follows it.
    static func path(_ words: [String], _ root: any ParsableCommand.Type) -> [String] {
        var (path, command) = ([String](), root)
        for word in words.drop(while: { $0 == help }) {
            guard let next = command.configuration.subcommands.first(where: { name($0) == word }) else { break }
            path.append(word)
            command = next
        }
        return path
    }

    /// The command whose help is requested with nothing else; `nil` for any other command line. The parser would create the
    /// same text twice.
    static func helpRequest(_ words: [String], _ root: any ParsableCommand.Type) -> (any ParsableCommand.Type)? {
        let isFirst = words.first == help
        guard isFirst || words.last == "--help" || words.last == "-h" else { return nil }
        var command = root
        for word in isFirst ? words.dropFirst() : words.dropLast() {
            guard let next = command.configuration.subcommands.first(where: { name($0) == word }) else { return nil }
            command = next
        }
        return command
    }

    /// The name of a command, as ArgumentParser makes it.
    static func name(_ command: any ParsableCommand.Type) -> String {
        command.configuration.commandName ?? "\(command)".lowercased()
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
