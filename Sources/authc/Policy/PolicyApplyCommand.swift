import AuthWire
import CommandArguments

extension Policy {
    struct Apply: AgentCommand {
        static let configuration = CommandConfiguration(
            commandName: "apply", abstract: "Show the changes in your policy.toml, ask, and have the agent use it.",
            discussion: "Until then the agent uses the rules that you applied last, even after a restart or reload.")

        @OptionGroup var common: AskingOptions

        func run(_ options: Options) throws(Failure) -> ExitStatus {
            let agent = try options.connect()
            let (found, json) = try agent.call(PolicyApply())
            guard found.text != found.former || found.isBroken else {
                if options.json { return try Output.jsonResult(json) }
                Output.note("There is nothing to apply: the agent uses these rules.")
                return .done
            }
            // Only the user may agree.
            guard options.canPrompt else {
                throw .usage("rules are applied on a terminal only", hint: "run `authc policy apply` on a terminal")
            }
            if found.isBroken {
                Output.note("The rules that you applied before cannot be read: these replace them.")
            }
            for line in TextDifference(from: found.former, to: found.text).lines { Output.note(Visible.line(line)) }
            if found.locksOut {
                Output.note(
                    "With these rules you could not apply another change from here, or not unlock the agent. authd-policy(5) "
                        + "says how to undo that.")
            }
            let answer = try TerminalInput.ask("Use these rules? [y/N] ", isSecret: false)
            guard ["y", "yes"].contains(answer?.lowercased() ?? "") else { throw .cancelled("nothing was changed") }
            let (_, applied) = try agent.call(PolicyApply(accepted: found.text))
            if options.json { return try Output.jsonResult(applied) }
            Output.note("The rules are in use.")
            return .done
        }
    }
}
