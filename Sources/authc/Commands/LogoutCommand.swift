import ArgumentParser
import AuthClient
import AuthWire

struct Logout: AgentCommand {
    static let configuration = CommandConfiguration(abstract: "Sign out: revoke the tokens and delete the session.")

    @OptionGroup var common: AskingCommonOptions

    @Flag(inversion: .prefixedNo, help: "Revoke the tokens at the provider.")
    var revoke = true

    @Flag(help: "Sign out of every session.")
    var all = false

    @Flag(help: "With --all: do not ask.")
    var yes = false

    func validate() throws {
        guard !all || common.session == nil else { throw ValidationError("Use --session or --all, not both.") }
        guard all || !yes else { throw ValidationError("--yes belongs to --all.") }
    }

    func run(_ options: Options) throws(Failure) -> ExitStatus {
        if all { return try signOutOfAll(options) }
        let (status, json) = try signOut(of: options.chosenSession(), try options.connect())
        if options.json { try Output.json(json) } else { report(status) }
        return .done
    }

    private func signOut(
        of session: SessionName?, _ agent: Agent
    ) throws(Failure) -> (status: SessionStatus, json: JSON) {
        let (status, json) = try agent.call(SessionLogout(session: session, revoke: revoke))
        return (status, json)
    }

    private func report(_ status: SessionStatus) {
        Output.note(Visible.line("Signed out: \(status.session) at \(status.provider)."))
        if let message = status.message { Output.note(Visible.lines(message)) }
    }

    /// Goes on after a failure. The exit status is that of the first one.
    private func signOutOfAll(_ options: Options) throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        let sessions = try agent.call(SessionListGet()).value.sessions
        if sessions.isEmpty, !options.json { Output.note("There are no sessions.") }
        if !sessions.isEmpty { try confirm(sessions, options) }
        var (done, failed, outcome): ([JSON], [JSON], ExitStatus) = ([], [], .done)
        for session in sessions {
            do throws(Failure) {
                let (status, json) = try signOut(of: session.session, agent)
                done.append(json)
                if !options.json { report(status) }
            } catch {
                // A session that shared the sign-in of another one has ended with it.
                if error.agentError?.kind == .unknownSession { continue }
                // Without the agent there is nothing left to try.
                guard error.agentError != nil else { throw error }
                if options.json { failed.append(error.json) } else { error.report(asJSON: false) }
                if outcome == .done { outcome = error.status }
            }
        }
        if options.json {
            var result: JSONObject = ["sessions": .array(done)]
            if !failed.isEmpty { result["errors"] = .array(failed) }
            try Output.json(.object(result))
        }
        return outcome
    }

    /// - Throws: if the user does not agree, or cannot be asked.
    private func confirm(_ sessions: [SessionStatus], _ options: Options) throws(Failure) {
        guard !yes else { return }
        guard options.canPrompt else {
            throw .usage(
                "--all signs out of \(sessions.count) sessions, and there is no terminal", hint: "use --yes to agree")
        }
        let screen = Screen.current
        for session in sessions {
            let account = StatusCard.who(session)
            let text = "\(session.session)  \(session.provider)" + (account.isEmpty ? "" : "  \(account)")
            Output.note("  " + Layout.shortened(Visible.line(text), to: screen.width - 2, isUnicode: screen.isUnicode))
        }
        let count = sessions.count == 1 ? "this session" : "these \(sessions.count) sessions"
        let answer = try TerminalInput.ask("Sign out of \(count)? [y/N] ", isSecret: false)
        guard ["y", "yes"].contains(answer?.lowercased() ?? "") else { throw .cancelled("nothing was changed") }
    }
}
