/// A command, as help and completion scripts see it.
package struct CommandDescription {
    struct Subcommand {
        let name: String
        let abstract: String
        let isDefault: Bool
    }

    /// The name of the program, then those of the commands that lead to this one.
    let path: [String]
    let abstract: String
    let discussion: String
    let usage: String?
    /// What its properties declare.
    let arguments: [ArgumentDescription]
    /// What every command also accepts: `--version`, if the program has one, and `--help`.
    let standardArguments: [ArgumentDescription]
    /// Those that help shows.
    let subcommands: [Subcommand]

    /// - Parameter path: the types of the commands from the program's first one to this one; not empty.
    package init(_ path: [any ParsableCommand.Type]) {
        self.init(path, arguments: path.last.map { DeclaredCommand($0).arguments } ?? [])
    }

    init(_ path: [any ParsableCommand.Type], arguments: [ArgumentDescription]) {
        let all = path.map { $0.configuration }
        let last = all.last ?? CommandConfiguration(commandName: "")
        self.path = all.map(\.commandName)
        self.arguments = arguments
        (abstract, discussion, usage) = (last.abstract, last.discussion, last.usage)
        let hasVersion = all.contains { !$0.version.isEmpty }
        standardArguments =
            (hasVersion ? [Self.flag("Show the version.", [StandardNames.version])] : [])
            + (path.last == HelpCommand.self ? [] : [Self.flag("Show help information.", StandardNames.help)])
        subcommands = last.subcommands.filter { $0.configuration.shouldDisplay }.map { type in
            Subcommand(
                name: type.configuration.commandName, abstract: type.configuration.abstract,
                isDefault: type == last.defaultSubcommand)
        }
    }

    /// Those of its properties, including hidden ones, then the standard ones.
    package var allArguments: [ArgumentDescription] { arguments + standardArguments }

    private static func flag(_ abstract: String, _ names: [ArgumentName]) -> ArgumentDescription {
        let declaration = ArgumentDeclaration(form: .flag([]), help: ArgumentHelp(abstract), isOptional: true)
        // No property has this number.
        return ArgumentDescription(declared: declaration, property: "", number: -names.count).with(.flag(true), names)
    }
}

/// The names that every command accepts without declaring them.
enum StandardNames {
    static let help: [ArgumentName] = [.short("h"), .long("help")]
    static let hiddenHelp = ArgumentName.long("help-hidden")
    static let version = ArgumentName.long("version")
}

/// `help COMMAND`, which every program with subcommands has. The parser makes the text.
struct HelpCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "help", abstract: "Show subcommand help information.")

    @Argument(uncompleted: "") var subcommands: [String]

    @Flag(name: [.short, .long], help: .hidden) var help = false
}
