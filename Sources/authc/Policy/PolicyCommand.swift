import AuthWire
import CommandArguments

struct Policy: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show, test and apply the rules about who may use the agent.",
        discussion: "The rules are in \(PolicyPaths.root) and in your policy.toml, see authd-policy(5).",
        subcommands: [Show.self, Test.self, Replay.self, Apply.self])

    struct Show: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "List the rules in use, in the order in which they are compared.")

        @OptionGroup var common: GeneralOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let (policy, json) = try options.connect().call(PolicyShow())
            if options.json { return try Output.jsonResult(json) }
            try Output.text(policy.rules.map(PolicyText.rule).joined(separator: "\n"))
            for line in PolicyText.notes(policy) { Output.note(Visible.line(line)) }
            return .done
        }
    }

    struct Replay: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "replay", abstract: "List the recorded requests that changed rules would treat differently.",
            discussion: "It compares your policy.toml, or another file, with the entries of `authc log`.")

        @OptionGroup var common: GeneralOptions

        @Argument(help: "A file with rules; - is standard input.", completion: .file)
        var file: String?

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            var text: String?
            if let file { text = try FileText.read(file, atMost: PolicyText.longestFile) }
            let (replayed, json) = try options.connect().call(PolicyReplay(text: text))
            if options.json { return try Output.jsonResult(json) }
            guard !replayed.changes.isEmpty else {
                Output.note("None of \(replayed.entries) recorded requests would have a different result.")
                return .done
            }
            try Output.text(replayed.changes.map(PolicyText.difference).joined(separator: "\n"))
            return .done
        }
    }
}
