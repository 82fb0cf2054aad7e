import ArgumentParser
import AuthWire

/// A command line that the parser refuses: what is wrong with it, what the user may have meant, and the command that
/// describes the options.
struct UsageProblem {
    private let message: String
    /// How the parser describes the option or argument that the message is about.
    private let description: String?
    /// The command, without the program's name.
    private let path: [String]

    /// - Parameters:
    ///   - error: the parser's.
    ///   - words: the command line, without the program's name.
    init(_ error: any Error, _ words: [String]) {
        let label = "Help:  "
        let lines = Authc.fullMessage(for: error).split(separator: "\n")
        description = lines.first { $0.hasPrefix(label) }.map { String($0.dropFirst(label.count)) }
        message = Authc.message(for: error)
        path = VerbCheck.path(words, Authc.self)
    }

    func failure(asJSON: Bool) -> Failure {
        let meant = unknownOption.flatMap(option) ?? unexpectedArgument.flatMap(session)
        // The parser's message may suggest an option that is hardly similar.
        let problem = unknownOption.map { "Unknown option '\($0)'" } ?? message
        let help = "`\(CommandText.authc(path + ["--help"]))` describes the command"
        return .usage(
            asJSON ? problem : ([problem] + [description].compactMap(\.self)).joined(separator: "\n"),
            hint: (meant.map { "did you mean \($0)? " } ?? "") + help)
    }

    private var unknownOption: String? { quoted(after: "Unknown option '--").map { "--" + $0 } }

    private var unexpectedArgument: String? { quoted(after: "Unexpected argument '") }

    private func quoted(after start: String) -> String? {
        guard message.hasPrefix(start) else { return nil }
        return message.dropFirst(start.count).split(separator: "'", omittingEmptySubsequences: false).first.map(
            String.init)
    }

    // MARK: What was meant

    /// The command line with the option that is similar to an unknown one, or that option alone.
    private func option(_ unknown: String) -> String? {
        guard let near = Suggestion.nearest(to: String(unknown.dropFirst(2)), among: options) else { return nil }
        let option = "--" + near
        let words = TypedCommand.words.map { word in
            word == unknown || word.hasPrefix(unknown + "=") ? option + word.dropFirst(unknown.count) : word
        }
        return command(words) ?? option
    }

    /// The command line with `-s` before an unexpected argument. `use` and `login` accept a name without `-s`.
    private func session(_ name: String) -> String? {
        let words = TypedCommand.words
        guard (try? SessionName(name)) != nil, let place = words.lastIndex(of: name),
            !words.contains(where: { $0.hasPrefix("-s") || $0.hasPrefix("--session") })
        else { return nil }
        return command(words[..<place] + ["-s", name] + words[(place + 1)...])
    }

    /// - Returns: `nil` if the parser would refuse it too, or if it is not the whole command line.
    private func command(_ words: [String]) -> String? {
        guard TypedCommand.isWhole else { return nil }
        do {
            _ = try Authc.parseAsRoot(GlobalOptions.afterVerb(words))
        } catch {
            return nil
        }
        return "`\(CommandText.authc(words))`"
    }

    /// The long names of the command's options, without their dashes.
    private var options: [String] {
        let command = path.reduce(Authc.self as any ParsableCommand.Type) { command, name in
            command.configuration.subcommands.first { VerbCheck.name($0) == name } ?? command
        }
        let help = Authc.helpMessage(for: command, includeHidden: true, columns: HelpText.unwrapped)
        return help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            let label = line.dropFirst(2)
            let names = label[..<(label.firstRange(of: "  ")?.lowerBound ?? label.endIndex)]
            return names.split { " ,/".contains($0) }.filter { $0.hasPrefix("--") }.map { String($0.dropFirst(2)) }
        }
    }
}
