/// The completion script for fish.
enum FishScript {
    static func text(_ root: ScriptCommand) -> String {
        FishFunctions.text(prefix: root.prefix, commandCases: cases(root))
            + "\ncomplete -c '\(root.name)' -f\n" + completions(root).joined(separator: "\n")
    }

    /// Reads the options and arguments of a command, then those of the command below it that the line names.
    private static func cases(_ command: ScriptCommand) -> String {
        let hasRest = command.positionals.contains(where: \.isRepeating)
        let options = offered(command).compactMap(specification).map { "'\(escaped($0))'" }
        let read =
            "    \(command.prefix)_parse_subcommand \(hasRest ? "-r " : "")\(command.positionals.count) "
            + options.joined(separator: " ")
        let below =
            command.subcommands.isEmpty
            ? ""
            : "\n    switch $unparsed_tokens[1]\n"
                + command.subcommands.map(cases).joined(separator: "\n") + "\n    end"
        return ("case '\(command.name)'\n" + read + below).indented(by: 4)
    }

    /// What fish completes.
    private static func offered(_ command: ScriptCommand) -> [ArgumentDescription] {
        command.arguments.filter { !$0.isHidden && ($0.completion != nil || !$0.names.isEmpty) }
    }

    /// An option as fish's `argparse` reads it.
    private static func specification(_ argument: ArgumentDescription) -> String? {
        let short = argument.names.first(where: \.isShort)?.bareText
        let long = argument.names.first { !$0.isShort }?.bareText
        let names = [short, long].compactMap(\.self)
        guard !names.isEmpty else { return nil }
        return names.joined(separator: "/") + (argument.isOption ? argument.isRepeating ? "=+" : "=" : "")
    }

    /// A line for each option, argument and subcommand.
    private static func completions(_ command: ScriptCommand) -> [String] {
        let start = "complete -c '\(command.path.first ?? "")' -n '\(command.prefix)_should_offer_completions_for_"
        let path = "\"\(command.path.joined(separator: " "))\""
        var (lines, place, hasRest) = ([String](), 0, false)
        for argument in offered(command) {
            let values = self.values(of: argument, command)
            guard argument.isPositional else {
                let once = argument.isRepeating ? [] : argument.names.map { " " + $0.bareText }.sorted()
                let parts = names(of: argument) + values
                lines.append("\(start)flags_or_options \(path)\(once.joined())' \(parts.joined(separator: " "))")
                continue
            }
            // All words after the first repeating one belong to it.
            guard !hasRest else { continue }
            (place, hasRest) = (place + 1, argument.isRepeating)
            let comparison = hasRest ? "-ge" : "-eq"
            lines.append("\(start)positional \(path) \(comparison) \(place)' \(values.joined(separator: " "))")
        }
        lines += command.subcommands.map { subcommand in
            "\(start)positional \(path) -eq \(place + 1)' -fa '\(subcommand.name)' -d '\(escaped(subcommand.abstract))'"
        }
        return lines + command.subcommands.flatMap(completions)
    }

    private static func names(of argument: ArgumentDescription) -> [String] {
        let names = argument.names.map { "\($0.isShort ? "-s" : "-l") '\(escaped($0.bareText))'" }
        return names + (argument.abstract.isEmpty ? [] : ["-d '\(escaped(argument.abstract))'"])
    }

    /// The options of `complete` for the values.
    private static func values(of argument: ArgumentDescription, _ command: ScriptCommand) -> [String] {
        let needed = argument.isPositional ? "" : "r"
        switch argument.completion {
        case nil: return argument.isFlag ? [] : ["-\(needed)fka ''"]
        case .file: return ["-\(needed)F"]
        case .list(let words): return ["-\(needed)fka '\(words.joined(separator: " "))'"]
        case .custom:
            let request = command.request(for: argument)
            return [
                "-\(needed)fka '(\(command.prefix)_custom_completion \(request) "
                    + "(count (\(command.prefix)_tokens -pc)) (\(command.prefix)_cursor))'"
            ]
        }
    }

    private static func escaped(_ text: String) -> String { text.escaped(["\\": #"\\"#, "'": #"\'"#]) }
}
