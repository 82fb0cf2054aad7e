import AuthWire
import CommandArguments

struct Provider: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "provider", abstract: "List, add and check providers.",
        subcommands: [
            ListThem.self, Show.self, Check.self, ProviderAdd.self, ProviderNew.self, Forget.self,
            ClientMetadataCommand.self,
        ])

    struct ListThem: AgentCommand {
        static let configuration = CommandConfiguration(commandName: "list", abstract: "List all providers.")

        @OptionGroup var common: GeneralOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (list, json) = try options.connect().call(ProviderListGet())
            if options.json { return try Output.jsonResult(json) }
            let screen = Screen.current
            let names = list.providers.map { Layout.width(Visible.line($0.name)) }.max() ?? 0
            let lines = list.providers.map { provider in
                let about =
                    "\(provider.title); \(provider.methods.joined(separator: ", ")); "
                    + "\(provider.environments.joined(separator: ", ")); \(provider.source)"
                return ProviderCommands.hanging(
                    Visible.line(provider.name), Visible.line(about), label: names + 2, screen)
            }
            if !lines.isEmpty { try Output.result(lines.joined(separator: "\n")) }
            return .done
        }
    }

    struct Show: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show a provider's environments and ways to sign in.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The provider.", completion: .providers)
        var name: String

        @Flag(help: "List the endpoints of its API with their arguments.")
        var endpoints = false

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            endpoints ? try EndpointList.show(name, options) : try ProviderCommands.show(name, options)
        }
    }

    struct Check: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "check", abstract: "Check a profile. The exit status is 78 if it has an error.",
            discussion: """
                The agent checks the profile, so it must be running. Without an agent, `authd --check` checks the \
                installed profiles.
                With `--against URL` the profile's requests are also sent to the server with that base URL, without \
                credentials, and each line says how it answered, or why a request was not sent. The exit status is \
                76 if an answer is not one that the profile expects. For an OAuth profile the URL is the issuer's.
                """)

        @OptionGroup var common: GeneralOptions

        /// The text is sent in one line of the protocol. Escaping may double it.
        static let longestProfile = Limits.lineBytes / 2 - 4096

        @Option(
            help: ArgumentHelp("Try the profile at this server, without credentials.", valueName: "URL"),
            completion: .nothing)
        var against: String?

        @Argument(help: "The profile's file; - is stdin.", completion: .file)
        var file: String

        /// Sends the file's text to the agent, which reads profiles.
        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let text = try FileText.read(file, atMost: Self.longestProfile)
            if let against { return try run(text, against: against, options) }
            let params = ProviderCheckRun(text: text, file: file)
            let (check, json) = try connect(options).call(params)
            if options.json {
                try Output.json(json)
            } else if check.problems.isEmpty {
                for note in check.notes { Output.note(Visible.line("\(note.description)")) }
                Output.note("\(Visible.line(file)): no problems found")
            } else {
                try report(check.problems)
            }
            return check.problems.isEmpty ? .done : .badSettings
        }

        private func connect(_ options: Options) throws(Failure) -> Agent {
            do throws(Failure) {
                return try options.connect()
            } catch {
                var failure = error
                guard failure.kind == "no_agent" else { throw failure }
                let more = "the agent checks profiles; without it, `authd --check` checks the installed ones"
                failure.hint = [failure.hint, more].compactMap(\.self).joined(separator: "\n  ")
                throw failure
            }
        }

        private func run(_ text: String, against url: String, _ options: Options) throws(Failure) -> ExitStatus {
            let (trial, json) = try connect(options).call(ProviderTry(text: text, file: file, url: url))
            if options.json {
                try Output.json(json)
            } else if trial.problems.isEmpty {
                let lines = trial.requests.map { tried in
                    let status = tried.httpStatus.map { " \($0)" } ?? ""
                    let mark = tried.isSkipped ? ".." : tried.isExpected ? "ok" : "--"
                    return "\(mark)  \(tried.request)\(status): \(tried.message)"
                }
                if lines.isEmpty {
                    Output.note("The profile has no request that can be sent without credentials.")
                } else {
                    try Output.result(lines.map { Visible.line($0) }.joined(separator: "\n"))
                }
            } else {
                try report(trial.problems)
            }
            guard trial.problems.isEmpty else { return .badSettings }
            return trial.requests.allSatisfy(\.isExpected) ? .done : .badReply
        }

        private func report(_ problems: [ProfileProblem]) throws(Failure) {
            try Output.text(problems.map { Visible.line($0.description) }.joined(separator: "\n"))
        }
    }

    struct Forget: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Delete authd's registration as a client; the next sign-in registers again.",
            discussion: """
                For a profile with `registration = true`. The provider is requested to delete the client too (RFC 7592), \
                unless a session still uses it.
                """)

        @OptionGroup var common: GeneralOptions

        @Argument(help: "The provider.", completion: .providers)
        var name: String

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (result, json) = try options.connect().call(
                ProviderForget(ProviderParams(provider: name)))
            if options.json { return try Output.jsonResult(json) }
            if result.isForgotten {
                let deleted = result.isDeleted ? ", and the provider deleted it too" : ""
                Output.note(Visible.line("The registration at \(name) was deleted here\(deleted)."))
            }
            if let message = result.message { Output.note(Visible.lines(message)) }
            return .done
        }
    }
}
