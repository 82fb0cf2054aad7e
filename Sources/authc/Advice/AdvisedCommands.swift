import ArgumentParser
import AuthClient
import AuthWire
import Glibc

/// Commands in messages, so that they call the agent that this command was to call.
///
/// A variable such as `$AUTHD_SOCKET` applies to the next command as well; an option has to be repeated.
enum AdvisedCommands {
    private static let program = "authc" + " "
    private static let option = "--socket"

    /// The option as it was given; `nil` if the command line names no socket, or none that can be used.
    private static let given: String? = {
        guard let path = value(in: TypedCommand.words),
            (try? SocketPath.resolve(flag: path, environment: environmentValue, userID: getuid())) != nil
        else { return nil }
        return "\(option) \(Visible.line(ShellWord.quoted(path)))"
    }()

    /// The last one is used, as the parser does.
    private static func value(in words: [String]) -> String? {
        if let place = words.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) {
            guard words[place] == option else { return String(words[place].dropFirst(option.count + 1)) }
            return words.indices.contains(place + 1) ? words[place + 1] : nil
        }
        return nil
    }

    /// A message. Its commands are between backquotes.
    static func text(_ text: String) -> String {
        guard given != nil, text.contains("`" + program), !text.contains(BrowserLender.otherMachine) else {
            return text
        }
        var parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        // A command of another machine is followed by a word that says so.
        for index in parts.indices.dropFirst().dropLast() where !parts[index + 1].hasPrefix(" there") {
            parts[index] = command(parts[index])
        }
        return parts.joined(separator: "`")
    }

    /// A command alone.
    static func command(_ command: String) -> String {
        guard let given, command.hasPrefix(program) else { return command }
        let words = command.split(separator: " ").dropFirst().map(String.init)
        // A command that is repeated as it was typed has the option already.
        guard words.first != "help", !words.contains(where: { $0 == "--help" || $0.hasPrefix(option) }), calls(words)
        else { return command }
        // Before the verb, where no `--` can precede it.
        return program + given + " " + command.dropFirst(program.count)
    }

    /// Whether the command calls this agent: its help has the option, and it is not for another host.
    private static func calls(_ words: [String]) -> Bool {
        let path = VerbCheck.path(GlobalOptions.afterVerb(words), Authc.self)
        guard path != ["cluster", "admit"] else { return false }
        let command = path.reduce(Authc.self as any ParsableCommand.Type) { command, name in
            command.configuration.subcommands.first { VerbCheck.name($0) == name } ?? command
        }
        let help = Authc.helpMessage(for: command, columns: HelpText.unwrapped)
        return help.split(separator: "\n").contains { $0.hasPrefix("  " + option) }
    }
}
