/// The help of a command. Its lines are not wrapped.
package struct CommandHelp {
    /// Where descriptions of options, arguments and commands begin.
    private static let descriptionColumn = 26
    /// With more options and arguments than this, a synopsis shows only the required ones and those without a name.
    private static let mostInSynopsis = 12

    private let command: CommandDescription
    private let arguments: [ArgumentDescription]

    package init(_ command: CommandDescription, includingHidden: Bool = false) {
        self.command = command
        arguments = command.arguments.filter { includingHidden || !$0.isHidden }
    }

    package var text: String {
        let discussion = command.discussion.isEmpty ? "" : "\n\n" + command.discussion
        let overview = command.abstract + discussion
        let sections = [
            section("ARGUMENTS", arguments.filter(\.isPositional).map(entry)),
            section("OPTIONS", options),
            section("SUBCOMMANDS", command.subcommands.map(Self.entry)),
        ]
        return (overview.isEmpty ? "" : "OVERVIEW: \(overview)\n\n") + "USAGE: \(command.usage ?? synopsis)\n\n"
            + sections.filter { !$0.isEmpty }.joined(separator: "\n") + reference
    }

    /// How to get the help of a subcommand.
    private var reference: String {
        guard !command.subcommands.isEmpty else { return "" }
        let words = command.path.prefix(1) + ["help"] + command.path.dropFirst()
        return "\n  See '\(words.joined(separator: " ")) <subcommand>' for detailed help."
    }

    private var synopsis: String {
        var parts = command.path
        let needed = arguments.filter { $0.isPositional || !$0.isOptional }
        if arguments.count <= Self.mostInSynopsis {
            parts += arguments.map(\.synopsis)
        } else if needed.isEmpty || needed.count > Self.mostInSynopsis {
            parts.append("<options>")
        } else {
            parts += ["[<options>]"] + needed.map(\.synopsis)
        }
        if !command.subcommands.isEmpty { parts.append("<subcommand>") }
        return parts.joined(separator: " ")
    }

    // MARK: Sections

    private typealias Entry = (label: String, description: String)

    /// A flag that can be turned off is one entry with both names.
    private var options: [Entry] {
        let named = (arguments + command.standardArguments).filter { !$0.isPositional }
        var entries: [Entry] = []
        for (index, argument) in named.enumerated() {
            if index > 0, named[index - 1].number == argument.number {
                entries[entries.count - 1].label += "/" + argument.label
            } else {
                entries.append(entry(argument))
            }
        }
        return entries
    }

    private func entry(_ argument: ArgumentDescription) -> Entry {
        let preset = argument.defaultText.isEmpty ? "" : "(default: \(argument.defaultText))"
        return (argument.label, [argument.abstract, preset].filter { !$0.isEmpty }.joined(separator: " "))
    }

    private static func entry(_ subcommand: CommandDescription.Subcommand) -> Entry {
        (subcommand.isDefault ? subcommand.name + " (default)" : subcommand.name, subcommand.abstract)
    }

    private func section(_ title: String, _ entries: [Entry]) -> String {
        entries.isEmpty ? "" : "\(title):\n" + entries.map { Self.lines($0) + "\n" }.joined()
    }

    private static func lines(_ entry: Entry) -> String {
        let label = "  " + entry.label
        guard !entry.description.isEmpty else { return label }
        let margin = String(repeating: " ", count: descriptionColumn)
        let description = entry.description.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : margin + $0 }.joined(separator: "\n")
        return label.count < descriptionColumn ? label + description.dropFirst(label.count) : label + "\n" + description
    }
}
