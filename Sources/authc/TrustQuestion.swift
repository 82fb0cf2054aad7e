import AuthClient
import AuthWire

/// `authc trust`: shows where a session's tokens would go from now on, and asks.
enum TrustQuestion {
    static func run(_ options: Options, agreed: Bool) throws(Failure) -> ExitStatus {
        let session = try options.chosenSession()
        let agent = try options.connect()
        let (found, json) = try agent.call(SessionTrust(session: session))
        guard !found.origins.isEmpty else {
            if options.json {
                try Output.json(json)
            } else {
                Output.note("Nothing has changed: there is nothing to agree to.")
            }
            return .done
        }
        if !agreed {
            guard options.canPrompt else {
                throw .usage(
                    "the profile of \(found.status.provider) names another place, and nobody can be asked: "
                        + found.origins.joined(separator: ", "),
                    hint: "--yes agrees without a question")
            }
            guard try confirm(found, options) else { throw .cancelled("nothing was changed") }
        }
        // Of the session that was shown, whatever the default is by now.
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
                "The profile \(status.provider) sends the tokens of session \(status.session) to another place:"))
        for origin in found.former { Output.note(Visible.line("  before: \(origin)")) }
        for origin in found.origins { Output.note(Visible.line("  now:    \(origin)")) }
        Output.note("Whoever answers there can act as you until the session ends.")
        let answer = try TerminalInput.ask("Send them there? [y/N] ", isSecret: false)
        return ["y", "yes"].contains(answer?.lowercased() ?? "")
    }
}
