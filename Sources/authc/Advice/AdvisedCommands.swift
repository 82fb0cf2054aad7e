import AuthConnection
import AuthWire
import CommandArguments
import Glibc

/// Adds the `--socket` of the command line to the commands in messages, so that they call the same agent.
///
/// A variable such as `$AUTHD_SOCKET` applies to the next command as well; an option has to be repeated.
enum AdvisedCommands {
    /// In two parts: AdviceTests would read it as a command.
    private static let program = "authc" + " "
    private static let option = "--socket"

    /// The option as it was given; `nil` if the command line names no socket, or none that can be used.
    private static let given: String? = {
        guard let path = value(in: TypedCommand.words),
            (try? SocketPath.resolve(flag: path, environment: environmentValue, userID: getuid())) != nil
        else { return nil }
        return "\(option) \(Visible.line(ShellWord.quoted(path)))"
    }()

    /// The last one counts, as in the parser.
    private static func value(in words: [String]) -> String? {
        guard let place = words.lastIndex(where: { $0 == option || $0.hasPrefix(option + "=") }) else { return nil }
        guard words[place] == option else { return String(words[place].dropFirst(option.count + 1)) }
        return words.indices.contains(place + 1) ? words[place + 1] : nil
    }

    /// - Parameter text: a message with commands between backquotes.
    static func text(_ text: String) -> String {
        guard given != nil, text.contains("`" + program), !text.contains(BrowserLender.otherMachine) else {
            return text
        }
        var parts = text.split(separator: "`", omittingEmptySubsequences: false).map(String.init)
        // The word after a command for another machine says so.
        for index in parts.indices.dropFirst().dropLast() where !parts[index + 1].hasPrefix(" there") {
            parts[index] = command(parts[index])
        }
        return parts.joined(separator: "`")
    }

    /// - Parameter command: a command on a line alone, without backquotes.
    static func command(_ command: String) -> String {
        guard let given, command.hasPrefix(program) else { return command }
        let words = command.split(separator: " ").dropFirst().map(String.init)
        // A command that repeats what was typed has the option already.
        guard words.first != "help", !words.contains(where: { $0 == "--help" || $0.hasPrefix(option) }), calls(words)
        else { return command }
        // Before the verb, where no `--` can precede it.
        return program + given + " " + command.dropFirst(program.count)
    }

    /// Whether the command calls this agent: its help has the option, and it is not for another host.
    private static func calls(_ words: [String]) -> Bool {
        let commands = VerbCheck.commands(GlobalOptions.afterVerb(words), Authc.self)
        guard commands.dropFirst().map({ $0.configuration.commandName }) != ["cluster", "admit"] else { return false }
        return CommandDescription(commands).allArguments.contains { argument in
            !argument.isHidden && argument.names.contains { $0.text == option }
        }
    }
}
