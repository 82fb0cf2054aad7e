/// What the completion scripts know about the commands of a program that are not hidden, and `help`.
///
/// A script has a row for each option, argument and subcommand of a command: names, kind and abstract, with `|` between
/// them. An argument has neither names nor an abstract. The kind is `-` for a flag, `>` for a command, and `=` or `+`
/// for one or several values. After `=` and `+`, `/` stands for files, `@` for values that the program is asked for,
/// and other text is a list of values.
struct CompletionTable {
    struct Row {
        let names: [String]
        let kind: String
        let abstract: String
    }

    struct Command {
        /// The names of the commands that lead to it, and its name. That of the program is left out.
        let path: String
        var rows: [Row]

        func text(withAbstracts: Bool) -> String {
            rows.map { row in
                row.names.joined(separator: " ") + "|" + row.kind + (withAbstracts ? "|" + row.abstract : "")
            }.joined(separator: "\n")
        }
    }

    let program: String
    /// The program, then its commands.
    private(set) var commands: [Command] = []

    /// - Parameter leading: one name of each option that the program also accepts before the command.
    init(root: any ParsableCommand.Type, leading: [String]) {
        program = root.configuration.commandName
        add([root], [HelpCommand.self])
        commands[0].rows = rows(leading: leading) + commands[0].rows
    }

    private mutating func add(_ path: [any ParsableCommand.Type], _ more: [any ParsableCommand.Type] = []) {
        let description = CommandDescription(path)
        let below = ((path.last?.configuration.subcommands ?? []) + more).filter { $0.configuration.shouldDisplay }
        let rows = below.map { command in
            let configuration = command.configuration
            return Row(names: [configuration.commandName], kind: ">", abstract: configuration.abstract)
        }
        let name = description.path.dropFirst().joined(separator: " ")
        commands.append(Command(path: name, rows: Self.rows(description.allArguments) + rows))
        for command in below { add(path + [command]) }
    }

    private static func rows(_ arguments: [ArgumentDescription]) -> [Row] {
        var (rows, hasRest) = ([Row](), false)
        for argument in arguments {
            // A hidden argument counts, too.
            guard argument.isPositional ? !hasRest : !argument.isHidden else { continue }
            // All words after the first repeating argument belong to it.
            hasRest = hasRest || argument.isPositional && argument.isRepeating
            let names = argument.names.filter(\.isShort) + argument.names.filter { !$0.isShort }
            let abstract = argument.isPositional ? "" : argument.abstract
            rows.append(Row(names: names.map(\.text), kind: kind(argument), abstract: abstract))
        }
        return rows
    }

    private static func kind(_ argument: ArgumentDescription) -> String {
        guard !argument.isFlag else { return "-" }
        let kind = argument.isRepeating ? "+" : "="
        guard !argument.isHidden else { return kind }
        return switch argument.completion {
        case nil: kind
        case .file: kind + "/"
        case .list(let values): kind + values.joined(separator: " ")
        case .custom: kind + "@"
        }
    }

    /// Before the command, such an option is completed as for the first command that has it.
    private func rows(leading: [String]) -> [Row] {
        let known = commands.dropFirst().filter { !$0.path.contains(" ") }.flatMap { command in
            command.rows.map { row in
                let isAsked = row.kind.hasSuffix("@")
                return Row(names: row.names, kind: row.kind + (isAsked ? command.path : ""), abstract: row.abstract)
            }
        }
        return leading.compactMap { name in known.first { $0.names.contains(name) } }
    }
}

// MARK: Text

extension CompletionTable {
    /// The cases of a `case` command in bash and zsh.
    func cases(withAbstracts: Bool) -> String {
        commands.map { command in
            "    \(Self.quoted(command.path))) rows=\(Self.quoted(command.text(withAbstracts: withAbstracts))) ;;\n"
        }.joined()
    }

    private static func quoted(_ text: String) -> String { "'" + text.escaped(["'": #"'\''"#]) + "'" }
}

extension String {
    /// The text of a script, in which `§` stands for the program's name, and `¶` for the rows of its commands.
    func filled(_ program: String, rows: String) -> String { escaped(["§": program, "¶": rows]) }

    /// With the characters that `escapes` contains replaced.
    func escaped(_ escapes: [Character: String]) -> String {
        reduce(into: "") { result, character in
            if let escape = escapes[character] { result += escape } else { result.append(character) }
        }
    }
}
