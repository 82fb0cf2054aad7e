/// A command's name, its place among the others, and what help says about it.
package struct CommandConfiguration: Sendable {
    package let commandName: String
    package let abstract: String
    package let discussion: String
    /// The synopsis. `nil` stands for one that follows from the options and arguments.
    let usage: String?
    /// If not empty, this command and all below it accept `--version`.
    let version: String
    /// Whether help and completion scripts show the command.
    package let shouldDisplay: Bool
    package let subcommands: [any ParsableCommand.Type]
    /// The subcommand that runs if the line names none.
    package let defaultSubcommand: (any ParsableCommand.Type)?

    package init(
        commandName: String, abstract: String = "", usage: String? = nil, discussion: String = "", version: String = "",
        shouldDisplay: Bool = true, subcommands: [any ParsableCommand.Type] = [],
        defaultSubcommand: (any ParsableCommand.Type)? = nil
    ) {
        (self.commandName, self.abstract, self.usage) = (commandName, abstract, usage)
        (self.discussion, self.version, self.shouldDisplay) = (discussion, version, shouldDisplay)
        (self.subcommands, self.defaultSubcommand) = (subcommands, defaultSubcommand)
    }
}

/// A type whose properties are options, flags and arguments: a command, or what several commands share.
///
/// The properties have values once the line is parsed. Before that, only those with a default have one.
package protocol ParsableArguments: SendableMetatype {
    init()
    /// Checks the values together, once all are set.
    func validate() throws(ValidationError)
}

extension ParsableArguments {
    package func validate() throws(ValidationError) {}
}

/// A command. One with subcommands has no options or arguments: a line that names only it asks for its help.
package protocol ParsableCommand: ParsableArguments {
    static var configuration: CommandConfiguration { get }
}

/// What is wrong with a value, or with several values together.
package struct ValidationError: Error, Equatable {
    package let message: String

    package init(_ message: String) { self.message = message }
}
