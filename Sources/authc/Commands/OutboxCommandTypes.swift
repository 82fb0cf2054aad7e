import ArgumentParser
import AuthWire

struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The calls that were made with --queue and wait to be sent.",
        subcommands: [ListEntries.self, Flush.self, Drop.self], defaultSubcommand: ListEntries.self)

    struct ListEntries: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List them, in the order in which they are sent.")

        @OptionGroup var common: CommonOptions

        func run() throws {
            try common.run { options throws(Failure) in try OutboxCommands.list(options) }
        }
    }

    struct Flush: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Try them now; one that was given up too, where it is named.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "One of them.")
        var id: String?

        func run() throws {
            try common.run { options throws(Failure) in try OutboxCommands.flush(options, id: id) }
        }
    }

    struct Drop: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Throw one away, or all of them.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "Which one.")
        var id: String?

        @Flag(help: "All of the chosen session, or of every session where none was named.")
        var all = false

        func validate() throws {
            guard (id == nil) == all else { throw ValidationError("Name an entry, or give --all.") }
        }

        func run() throws {
            try common.run { options throws(Failure) in try OutboxCommands.drop(options, id: id) }
        }
    }
}
