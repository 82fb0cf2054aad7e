/// What a command line asks for.
package enum ParsedLine {
    /// A command with its values.
    case command(any ParsableCommand)
    case help(String)
    case version(String)
    /// The values that a completion script asks for, one on each line.
    case completions(String)
}

/// Reads a command line: the words that name a command, then its options and arguments.
package struct CommandParser {
    /// The commands from the root to the one that the line names.
    private var path: [any ParsableCommand.Type]
    private let words: [String]

    /// - Parameters:
    ///   - words: the line, without the program's name.
    ///   - root: the command with all others below it.
    ///   - shell: the shell whose script asks for values, if it is the script of an earlier version.
    package static func parse(
        _ words: [String], root: any ParsableCommand.Type, shell: CompletionShell? = nil
    ) throws(UsageError) -> ParsedLine {
        if words.first == CompletionRequest.firstWord {
            return .completions(try CompletionRequest(words, root).values(for: shell))
        }
        var parser = CommandParser(path: [root], words: words)
        return try parser.parse(LineElement.elements(of: words))
    }

    private init(path: [any ParsableCommand.Type], words: [String]) { (self.path, self.words) = (path, words) }

    private var configuration: CommandConfiguration { path[path.count - 1].configuration }

    private mutating func parse(_ elements: [LineElement]) throws(UsageError) -> ParsedLine {
        var rest = elements[...]
        while true {
            if let word = rest.first?.value, let next = Self.subcommand(word, of: path) {
                path.append(next)
                rest = rest.dropFirst()
            } else if let next = configuration.defaultSubcommand {
                if let requested = requested(alone: rest) { return requested }
                path.append(next)
            } else {
                break
            }
        }
        guard configuration.subcommands.isEmpty else {
            try refuse(Array(rest), [])
            return requested(in: rest) ?? .help(CommandHelp(CommandDescription(path)).text)
        }
        return try parseCommand(Array(rest))
    }

    /// - Parameter path: the commands so far.
    static func subcommand(_ name: String, of path: [any ParsableCommand.Type]) -> (any ParsableCommand.Type)? {
        let known = path.last?.configuration.subcommands ?? []
        if let next = known.first(where: { $0.configuration.commandName == name }) { return next }
        let isHelp = path.count == 1 && !known.isEmpty && name == HelpCommand.configuration.commandName
        return isHelp ? HelpCommand.self : nil
    }

    private func parseCommand(_ elements: [LineElement]) throws(UsageError) -> ParsedLine {
        let declared = DeclaredCommand(path[path.count - 1])
        let (values, rest) = try LineParser.parse(declared.arguments, elements, of: words)
        // A line with such a mistake may still ask for help.
        do throws(UsageError) { try declared.set(values) } catch {
            guard let requested = requested(in: elements[...]) else { throw error }
            return requested
        }
        do throws(UsageError) { try declared.validate() } catch {
            guard let requested = requested(in: rest[...]) else { throw error }
            return requested
        }
        if let requested = requested(in: rest[...]) { return requested }
        try refuse(rest, declared.arguments)
        guard let help = declared.command as? HelpCommand else { return .command(declared.command) }
        return .help(Self.help(for: help.subcommands, path[0]))
    }

    /// Throws an error for words that are left over, unless the line asks for help or the version.
    private func refuse(_ rest: [LineElement], _ arguments: [ArgumentDescription]) throws(UsageError) {
        if requested(in: rest[...]) != nil { return }
        if let name = rest.lazy.compactMap(\.name).first {
            throw .unknownOption(name, nearest: name.nearest(in: arguments))
        }
        let words = rest.compactMap(\.value)
        if !words.isEmpty { throw .unexpectedArguments(words) }
    }

    // MARK: Help and version

    /// The help or the version, if the line asks for it.
    private func requested(in elements: ArraySlice<LineElement>) -> ParsedLine? {
        let names = Set(elements.compactMap(\.name))
        // The command for help has its own flag.
        if path.last != HelpCommand.self {
            if !names.isDisjoint(with: StandardNames.help) { return .help(CommandHelp(CommandDescription(path)).text) }
            if names.contains(StandardNames.hiddenHelp) {
                return .help(CommandHelp(CommandDescription(path), includingHidden: true).text)
            }
        }
        guard names.contains(StandardNames.version) else { return nil }
        return path.last { !$0.configuration.version.isEmpty }.map { .version($0.configuration.version) }
    }

    /// The same, if nothing else is left on the line.
    private func requested(alone elements: ArraySlice<LineElement>) -> ParsedLine? {
        guard let word = elements.first?.position.word, elements.allSatisfy({ $0.position.word == word }) else {
            return nil
        }
        return requested(in: elements)
    }

    /// The help of the command that the words name. Words after it are ignored.
    private static func help(for words: [String], _ root: any ParsableCommand.Type) -> String {
        var path: [any ParsableCommand.Type] = [root]
        for word in words {
            guard let next = subcommand(word, of: path) else { break }
            path.append(next)
        }
        return CommandHelp(CommandDescription(path)).text
    }
}
