import AuthConnection
import AuthWire

/// `authc trust`: shows the new origins for a session's tokens, and asks.
enum TrustQuestion {
    static func run(_ options: Options, agreed: Bool) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        let agent = try options.connect()
        let (found, json) = try agent.call(SessionTrust(session: session))
        guard !found.origins.isEmpty else {
            if options.json {
                try Output.json(json)
            } else {
                Output.note("The origins have not changed.")
            }
            return .done
        }
        if !agreed {
            guard options.canPrompt else {
                throw .usage(
                    "the profile of \(found.status.provider) names other origins, and there is no terminal: "
                        + found.origins.joined(separator: ", "),
                    hint: "use --yes to agree")
            }
            guard try confirm(found, options) else { throw .cancelled("nothing was changed") }
        }
        // The session that was shown, even if the default has changed.
        let params = SessionTrust(session: found.status.session, origins: found.origins)
        let (result, answer) = try agent.call(params)
        guard !options.json else {
            try Output.json(answer)
            return .done
        }
        try StatusReport.show(result.status, answer, options)
        return .done
    }

    private static func confirm(_ found: TrustResult, _ options: Options) throws(Failure) -> Bool {
        let status = found.status
        Output.note(
            Visible.line(
                "The profile \(status.provider) sends the tokens of session \(status.session) to other origins:"))
        for origin in found.former { Output.note(Visible.line("  before: \(origin)")) }
        for origin in found.origins { Output.note(Visible.line("  now:    \(origin)")) }
        Output.note("These servers can act as you until the session ends.")
        let answer = try TerminalInput.ask("Send the tokens to the new origins? [y/N] ", isSecret: false)
        return ["y", "yes"].contains(answer?.lowercased() ?? "")
    }
}
