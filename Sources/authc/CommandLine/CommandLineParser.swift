import AuthConnection
import AuthWire
import CommandArguments

/// Parses every command line that ``HotPath`` does not handle.
enum CommandLineParser {
    static func run() -> Int32 {
        let arguments = Array(CommandLine.arguments.dropFirst())
        switch arguments {
        case [InstalledTexts.request]: return InstalledTexts.print()
        case [CompletionList.request]: return CompletionList.print()
        default: break
        }
        let words = GlobalOptions.afterVerb(arguments)
        if let problem = VerbCheck.problem(words, Authc.self) { return report(problem, words) }
        do throws(UsageError) {
            return run(try parse(words), words)
        } catch {
            return report(error, words)
        }
    }

    private static func parse(_ words: [String]) throws(UsageError) -> ParsedLine {
        let shell = environmentValue(CompletionScript.shellVariable).flatMap { CompletionShell(rawValue: $0) }
        return try CommandParser.parse(words, root: Authc.self, shell: shell)
    }

    /// Runs the command, or prints what the line asks for.
    /// - Parameter words: the command line.
    private static func run(_ line: ParsedLine, _ words: [String]) -> Int32 {
        switch line {
        case .command(let command as any AgentCommand): return command.run()
        case .command: return report(.internalError("the command does nothing"), words)
        case .help(let text): return printHelp(text, words)
        case .version(let text): return printVersion(text, words)
        case .completions(let text): return printText(text)
        }
    }

    private static func report(_ failure: Failure, _ words: [String]) -> Int32 {
        failure.report(asJSON: GlobalOptions.haveJSON(words))
        return failure.status.rawValue
    }

    private static func report(_ error: UsageError, _ words: [String]) -> Int32 {
        report(UsageProblem(error, words).failure(asJSON: GlobalOptions.haveJSON(words)), words)
    }

    /// The parser ignores everything else on a line with `--version`. A mistake there is an error, as on any other
    /// line.
    private static func printVersion(_ text: String, _ words: [String]) -> Int32 {
        let rest = words.filter { $0 != "--version" }
        if let problem = VerbCheck.problem(rest, Authc.self) { return report(problem, words) }
        do throws(UsageError) {
            _ = try parse(rest)
        } catch {
            if !error.isIncomplete { return report(error, words) }
        }
        return printText(text)
    }

    /// - Parameter text: help that is not wrapped.
    private static func printHelp(_ text: String, _ words: [String]) -> Int32 {
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
        version: "authc \(Release.version)",
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
