import ArgumentParser
import AuthWire

struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Requests that were made with --queue and wait to be sent.",
        subcommands: [ListEntries.self, Flush.self, Drop.self], defaultSubcommand: ListEntries.self)

    struct ListEntries: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the queue in the order of sending.")

        @OptionGroup var common: CommonOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus { try OutboxCommands.list(options) }
    }

    struct Flush: AgentCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send the queue now. To retry an entry that was given up, name it.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "One entry only.")
        var id: String?

        func run(_ options: Options) throws(Failure) -> ExitStatus { try OutboxCommands.flush(options, id: id) }
    }

    struct Drop: AgentCommand {
        static let configuration = CommandConfiguration(abstract: "Delete one entry, or all of them.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "The entry.")
        var id: String?

        @Flag(help: "All entries of the session that is named, otherwise of every session.")
        var all = false

        func validate() throws {
            guard (id == nil) == all else { throw ValidationError("Name an entry, or use --all.") }
        }

        func run(_ options: Options) throws(Failure) -> ExitStatus { try OutboxCommands.drop(options, id: id) }
    }
}
