import AuthClient
import AuthWire

/// `list`, `logout`, `whoami` and `wait`.
enum SessionCommands {
    static func list(_ options: Options) throws(Failure) -> ExitStatus {
        let (list, json) = try options.connect().call(SessionListGet())
        if options.json {
            try Output.json(json)
        } else if list.sessions.isEmpty {
            Output.note("There are no sessions. Sign in: `authc login PROVIDER`")
        } else {
            try Output.result(SessionTableText(sessions: list.sessions, now: WallClock.now, screen: .current).text)
        }
        return .done
    }

    static func logout(_ options: Options, revoke: Bool) throws(Failure) -> ExitStatus {
        let params = SessionLogout(session: try options.chosenSession(), revoke: revoke)
        let (status, json) = try options.connect().call(params)
        if options.json {
            try Output.json(json)
        } else {
            Output.note(Visible.line("Signed out: \(status.session) at \(status.provider)."))
            if let message = status.message { Output.note(Visible.lines(message)) }
        }
        return .done
    }

    /// In milliseconds. The age of a younger user is not reported.
    private static let reportableAge = 3_600_000

    /// - Parameter changes: are made first.
    static func whoami(_ options: Options, fresh: Bool, changes: CallArguments) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        let fields = try changes.fields()
        let agent = try options.connect()
        let (result, json) =
            fields.isEmpty
            ? try agent.call(UserGet(session: session, fresh: fresh))
            : try agent.call(UserUpdate(session: session, fields: fields))
        if options.json { return try Output.jsonResult(json) }
        guard let name = result.user.email ?? result.user.name ?? result.user.id else {
            guard fields.isEmpty else {
                Output.note("Changed. The provider does not report who this is.")
                return .done
            }
            throw Failure(
                status: .badReply, kind: ErrorKind.badReply.rawValue,
                message: "the provider does not report who this is",
                hint: "`authc whoami --json` shows all that it reports")
        }
        try Output.result(Visible.line(name))
        if let age = result.ageMs, age >= reportableAge {
            Output.note("from \(Span.text(.milliseconds(age))) ago; --fresh asks the provider")
        }
        return .done
    }

    /// Without `--timeout`, waits without limit: if the agent ends its own wait, this one starts again.
    static func wait(_ options: Options, until goal: WaitGoal) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        let agent = try options.connect()
        let params = SessionWait(session: session, until: goal, timeout: options.timeout)
        let time = options.timeout.map { $0 + Agent.grace } ?? Limits.longestDuration
        while true {
            do throws(Failure) {
                let (status, json) = try agent.call(params, within: time)
                try StatusReport.show(status, json, options)
                return .done
            } catch {
                if goal == .signedOut, let agentError = error.agentError, agentError.kind == .notSignedIn,
                    agentError.cause == nil
                {
                    if options.json { try Output.json(.null) } else { Output.note("The session is signed out.") }
                    return .done
                }
                guard options.timeout == nil, error.agentError?.kind == .timeout else { throw error }
            }
        }
    }
}
