import AuthWire
import CommandArguments

/// A command line that the parser refuses: what is wrong with it, what the user may have meant, and the command that
/// describes the options.
struct UsageProblem {
    private let error: UsageError
    /// The command that the line names, after those that lead to it.
    private let commands: [any ParsableCommand.Type]

    /// - Parameters:
    ///   - error: the parser's.
    ///   - words: the command line, without the program's name.
    init(_ error: UsageError, _ words: [String]) {
        (self.error, commands) = (error, VerbCheck.commands(words, Authc.self))
    }

    func failure(asJSON: Bool) -> Failure {
        let path = commands.dropFirst().map { $0.configuration.commandName }
        let help = "`\(CommandText.authc(path + ["--help"]))` describes the command"
        return .usage(
            asJSON ? message : ([message] + [error.explanation].compactMap(\.self)).joined(separator: "\n"),
            hint: (meant.map { "did you mean \($0)? " } ?? "") + help)
    }

    /// The parser may suggest an option that is hardly similar, so ``meant`` replaces its suggestion.
    private var message: String {
        guard case .unknownOption(.long(let name), _) = error else { return error.message }
        return UsageError.unknownOption(.long(name), nearest: nil).message
    }

    // MARK: What was meant

    private var meant: String? {
        switch error {
        case .unknownOption(.long(let name), _): option(name)
        case .unexpectedArguments(let words) where words.count == 1: words.first.flatMap(session)
        default: nil
        }
    }

    /// The command line with the option that is similar to an unknown one, or that option alone.
    private func option(_ name: String) -> String? {
        guard let near = Suggestion.nearest(to: name, among: options) else { return nil }
        let (unknown, option) = ("--" + name, "--" + near)
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

    /// - Returns: `nil` if it would only print the version, if the parser would refuse it too, or if it is not the whole
    ///   command line.
    private func command(_ words: [String]) -> String? {
        guard TypedCommand.isWhole else { return nil }
        switch try? CommandParser.parse(GlobalOptions.afterVerb(words), root: Authc.self) {
        case .command, .help: return "`\(CommandText.authc(words))`"
        default: return nil
        }
    }

    /// The long names of the command's options, without their hyphens.
    private var options: [String] {
        CommandDescription(commands).allArguments.flatMap(\.names).compactMap { name in
            if case .long(let text) = name { text } else { nil }
        }
    }
}
