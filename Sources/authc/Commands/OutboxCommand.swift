import AuthWire
import CommandArguments

struct Outbox: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox", abstract: "Show, send or delete requests that wait to be sent (--queue).",
        subcommands: [ListEntries.self, ShowEntry.self, Flush.self, Drop.self], defaultSubcommand: ListEntries.self)

    struct ListEntries: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List the queue in the order of sending.")

        @OptionGroup var common: CommonOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let params = OutboxParams(session: try options.namedSession())
            let (list, json) = try options.connect().call(OutboxListGet(params))
            try OutboxText.show(list, json, options, none: "The queue is empty.")
            return .done
        }
    }

    struct ShowEntry: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show one entry of the queue, and why it was not sent.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The entry.", completion: .outbox)
        var id: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (list, json) = try options.connect().call(OutboxListGet(OutboxParams(id: id)))
            // The queue may have been sent by now.
            guard let entry = list.entries.first, let sent = json["entries"]?.arrayValue?.first else {
                throw Failure(
                    AgentError(
                        .notFound, "There is no entry \(id) in the outbox: `authc outbox list` shows what waits."))
            }
            if options.json { return try Output.jsonResult(sent) }
            try Output.result(OutboxText.card(entry, now: WallClock.now, screen: .current).joined(separator: "\n"))
            return .done
        }
    }

    struct Flush: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "flush", abstract: "Send the queue now. To retry an entry that was given up, name it.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "One entry only.", completion: .outbox)
        var id: String?

        /// Shows the entries that still wait. The exit status is that of the first one.
        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let params = OutboxParams(session: try options.namedSession(), id: id)
            let (list, json) = try options.connect().call(OutboxFlush(params))
            try OutboxText.show(list, json, options, none: "All entries were sent.")
            return list.entries.first.map { $0.error.map(ExitStatus.init) ?? .temporary } ?? .done
        }
    }

    struct Drop: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "drop", abstract: "Delete one entry, or all of them.")

        @OptionGroup var common: CommonOptions

        @Argument(help: "The entry.", completion: .outbox)
        var id: String?

        @Flag(help: "All entries of the session that is named, otherwise of every session.")
        var all = false

        func validate() throws(ValidationError) {
            guard (id == nil) == all else { throw ValidationError("Name an entry, or use --all.") }
        }

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let params = OutboxParams(session: try options.namedSession(), id: id)
            let (list, json) = try options.connect().call(OutboxDrop(params))
            if options.json { return try Output.jsonResult(json) }
            for entry in list.entries { Output.note(Visible.line("Dropped: \(entry.session) \(entry.request)")) }
            if list.entries.isEmpty { Output.note("The queue is empty.") }
            return .done
        }
    }
}
