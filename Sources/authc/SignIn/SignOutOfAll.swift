import AuthConnection
import AuthWire

/// Signs out of every session. It goes on after a failure; the exit status is that of the first one.
struct SignOutOfAll {
    let options: Options
    let revokes: Bool
    /// The user does not have to be asked.
    let isAgreed: Bool

    private var agent: Agent?
    private var signedOut: Set<SessionName> = []
    private var results: [JSON] = []
    private var errors: [JSON] = []
    private var outcome = ExitStatus.done

    init(options: Options, revokes: Bool, isAgreed: Bool) {
        self.options = options
        self.revokes = revokes
        self.isAgreed = isAgreed
    }

    mutating func run() throws(Failure) -> ExitStatus {
        let agent = try options.connect()
        self.agent = agent
        let sessions = try Self.sessions(agent)
        if sessions.isEmpty, !options.json { Output.note("There are no sessions.") }
        var changed: Set<SessionName> = []
        if !sessions.isEmpty, !isAgreed {
            try confirm(sessions)
            changed = Self.changed(sessions, try Self.sessions(agent))
        }
        // The default session last: otherwise the agent would advise to choose another one among those about to end.
        let inOrder = sessions.filter { !$0.isDefault } + sessions.filter(\.isDefault)
        for session in inOrder where try !signOut(of: session, hasChanged: changed.contains(session.session)) { break }
        if options.json {
            var result: JSONObject = ["sessions": .array(results)]
            if !errors.isEmpty { result["errors"] = .array(errors) }
            try Output.json(.object(result))
        }
        return outcome
    }

    /// - Returns: whether the agent can still be reached.
    private mutating func signOut(of session: SessionStatus, hasChanged: Bool) throws(Failure) -> Bool {
        do throws(Failure) {
            guard !hasChanged else { throw Self.changedFailure }
            let agent = if let agent { agent } else { try options.connect() }
            self.agent = agent
            let (status, json) = try agent.call(SessionLogout(session: session.session, revoke: revokes))
            signedOut.insert(session.session)
            if options.json { results.append(json) } else { Logout.report(status) }
        } catch {
            let isUnknown = error.agentError?.kind == .unknownSession
            // It has ended with the sign-in that it shared.
            if isUnknown, let owner = session.sharedSession, signedOut.contains(owner) { return true }
            record(isUnknown && session.state == .signingIn ? Self.signingIn(error) : error, session.session)
            if ["no_agent", "closed"].contains(error.kind) { return false }
            // A late answer may still arrive, or the connection cannot be used any more.
            if error.agentError == nil, !hasChanged { agent = nil }
        }
        return true
    }

    private mutating func record(_ failure: Failure, _ session: SessionName) {
        if outcome == .done { outcome = failure.status }
        guard options.json else { return Output.note("authc: \(Visible.line(session.text)): " + failure.text) }
        var error: JSONObject = ["session": .string(session.text)]
        error["error"] = failure.json["error"]
        errors.append(.object(error))
    }

    /// - Throws: if the user does not agree, or cannot be asked.
    private func confirm(_ sessions: [SessionStatus]) throws(Failure) {
        guard options.canPrompt else {
            let count = sessions.count == 1 ? "1 session" : "\(sessions.count) sessions"
            throw .usage("--all signs out of \(count), and there is no terminal", hint: "use --yes to agree")
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

    private static func sessions(_ agent: Agent) throws(Failure) -> [SessionStatus] {
        try agent.call(SessionListGet()).value.sessions
    }

    /// The sessions that are another sign-in now than the one that the user agreed to end.
    private static func changed(_ shown: [SessionStatus], _ now: [SessionStatus]) -> Set<SessionName> {
        let known = Dictionary(shown.map { ($0.session, $0) }) { first, _ in first }
        let changed = now.filter { status in
            known[status.session].map { $0.signedInAt != status.signedInAt || $0.user != status.user } ?? false
        }
        return Set(changed.map(\.session))
    }

    private static let changedFailure = Failure(
        status: ExitStatus(.conflict), kind: ErrorKind.conflict.rawValue,
        message: "its sign-in or user changed during the question, so it was not signed out",
        hint: "run `authc logout --all` again")

    private static func signingIn(_ failure: Failure) -> Failure {
        Failure(
            status: failure.status, kind: failure.kind, message: "a sign-in is in progress",
            hint: "wait until it ends, or cancel it; then try again")
    }
}
