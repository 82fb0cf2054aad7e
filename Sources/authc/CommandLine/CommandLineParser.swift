import ArgumentParser
import AuthWire

/// Parses every command line that ``HotPath`` does not handle.
enum CommandLineParser {
    /// The first word of a command line with which a shell's script asks for the values of an argument.
    private static let completion = "---completion"

    static func run() -> Int32 {
        if Array(CommandLine.arguments.dropFirst()) == [InstalledTexts.request] { return InstalledTexts.print() }
        let words = GlobalOptions.afterVerb(Array(CommandLine.arguments.dropFirst()))
        if let problem = VerbCheck.problem(words, Authc.self) {
            problem.report(asJSON: GlobalOptions.haveJSON(words))
            return problem.status.rawValue
        }
        if let command = VerbCheck.helpRequest(words, Authc.self) {
            return printHelp(Authc.helpMessage(for: command, columns: HelpText.unwrapped), words)
        }
        do {
            var command = try Authc.parseAsRoot(words)
            try command.run()
            return ExitStatus.done.rawValue
        } catch let code as ExitCode {
            return code.rawValue
        } catch {
            return report(error, words)
        }
    }

    /// Prints the values of a completion, the help that was requested, or a usage error. ArgumentParser has all these texts.
    /// - Parameter words: the command line.
    private static func report(_ error: any Error, _ words: [String]) -> Int32 {
        guard Authc.exitCode(for: error) != .success else {
            let text = Authc.fullMessage(for: error, columns: HelpText.unwrapped)
            if words.first == completion { return printText(text) }
            return isHelp(text) ? printHelp(text, words) : printVersion(text, words)
        }
        let isJSON = GlobalOptions.haveJSON(words)
        UsageProblem(error, words).failure(asJSON: isJSON).report(asJSON: isJSON)
        return ExitStatus.usage.rawValue
    }

    /// The parser ignores everything else on a line with `--version`. A mistake there is an error, as on any other
    /// line.
    private static func printVersion(_ text: String, _ words: [String]) -> Int32 {
        let rest = words.filter { $0 != "--version" }
        if let problem = VerbCheck.problem(rest, Authc.self) {
            problem.report(asJSON: GlobalOptions.haveJSON(words))
            return problem.status.rawValue
        }
        do {
            _ = try Authc.parseAsRoot(rest)
        } catch {
            let isIncomplete = Authc.message(for: error).hasPrefix("Missing ")
            if Authc.exitCode(for: error) != .success, !isIncomplete { return report(error, words) }
        }
        return printHelp(text, words)
    }

    private static func isHelp(_ text: String) -> Bool { text.contains("USAGE: ") }

    /// - Parameter text: help that is not wrapped, or the version.
    private static func printHelp(_ text: String, _ words: [String]) -> Int32 {
        guard isHelp(text) else { return printText(text) }
        let help = HelpText.wrapped(HelpText.marked(text), columns: HelpWidth.current)
        return printText(help + Examples.text(of: VerbCheck.path(words, Authc.self)))
    }

    private static func printText(_ text: String) -> Int32 {
        do throws(Failure) {
            // Even for a pager, which may be on the same terminal.
            try Output.result(Screen.current.shown(text))
            return ExitStatus.done.rawValue
        } catch {
            error.report(asJSON: false)
            return error.status.rawValue
        }
    }
}

struct Authc: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "authc",
        abstract: "Sign in once, and use the sessions that authd keeps.",
        discussion: """
            The session is taken from -s, then $AUTHD_SESSION, then the settings' rule for the current folder, then the \
            default.
            Results go to stdout, messages to stderr. Exit status: 0 done, 3 not signed in, 4 keyring locked \
            or unavailable, 64 usage, 65 refused data, 69 no agent, 70 internal, 75 temporary, 76 bad reply, \
            77 refused by policy or the user, 78 bad settings or profile.
            Manual pages: authc(1), authd(1), authd.toml(5), authd-profile(5), authd-policy(5), authd-protocol(7), \
            authd-recipes(7).
            """,
        version: Release.version,
        subcommands: [
            TrialCommand.self, LoginCommand.self, Register.self, Logout.self, Password.self, Status.self, List.self,
            Use.self, Token.self, Exec.self, Env.self, Helper.self, Mcp.self, Proxy.self,
            HTTPCommand.self, Whoami.self, Refresh.self, Validate.self, WatchCommand.self, Wait.self, Prompt.self,
            ShellInit.self, Provider.self, Network.self, AgentCommands.self,
            Doctor.self, Stats.self, LogCommand.self, Policy.self, Reload.self, Version.self, Request.self, Call.self,
            Outbox.self, Lock.self, Unlock.self, Store.self, Cluster.self, Export.self, Import.self, Trust.self,
            Approve.self,
            Config.self, Completion.self, Redirect.self, TerminalCommand.self,
        ])
}
