import AuthWire

/// What each session needs.
extension DoctorChecks {
    static func sessions(_ sessions: [SessionStatus]) -> [Finding] {
        let findings = sessions.compactMap(session)
        let active = sessions.filter { $0.state == .active }.map(\.session.text)
        if sessions.isEmpty { return [.note(.sessions, "no session is signed in", hint: "`authc login`")] }
        let ok = Finding.ok(.sessions, "active: " + active.joined(separator: ", "))
        return (active.isEmpty ? [] : [ok.shortened("active: " + FindingGroups.names(active))]) + findings
    }

    /// A store that cannot be read does not name its sessions. What to do about that is in the finding about the store.
    /// - Returns: `nil` if there is no such finding, or for another failure.
    static func unknownSessions(_ failure: Failure, _ findings: [Finding]) -> Finding? {
        guard let kind = failure.agentError?.kind, [.keyringLocked, .keyringUnavailable].contains(kind),
            findings.contains(where: { $0.subject == .store && $0.level == .problem })
        else { return nil }
        return .note(.sessions, "not known until the store can be read")
    }

    /// What was found about a session, without its name.
    private static func found(_ status: SessionStatus) -> String {
        if status.state != .active { return StatusCard.stateText(status) }
        return status.unsaved ? "the newest tokens are in memory only" : "the last renewal failed"
    }

    private static func session(_ status: SessionStatus) -> Finding? {
        finding(status)?.about(
            status.session.text, found(status), hint: hintForSeveral(status), list: "`authc list` shows all")
    }

    private static func refresh(_ status: SessionStatus) -> String {
        "`\(CommandText.authc(["refresh", "-s", status.session.text]))` retries now"
    }

    /// Leaves out what differs between sessions.
    private static func hintForSeveral(_ status: SessionStatus) -> String? {
        switch status.state {
        case .stale: refresh(status)
        case .active where status.unsaved: stored(status)
        case .active: refresh(status)
        default: nil
        }
    }

    private static func stored(_ status: SessionStatus) -> String {
        let command = CommandText.authc(["status", "-s", status.session.text])
        return "authd writes them as soon as it can; `\(command)` shows whether it has"
    }

    private static func finding(_ status: SessionStatus) -> Finding? {
        let name = status.session.text
        let words = "\(name): \(found(status))"
        switch status.state {
        case .signInRequired:
            return .problem(
                .sessions, .notSignedIn, words,
                hint: "`\(CommandText.login(status.provider, session: status.session))`")
        case .stale:
            let reason = status.message ?? status.lastError
            return .problem(
                .sessions, .temporary, words,
                hint: (reason.map { $0 + "\n" } ?? "") + refresh(status) + ", and authd by itself later")
        case .keyringLocked:
            let isSealed = status.store?.isSealed ?? false
            return .problem(
                .sessions, .keyring, words,
                hint: isSealed ? "`authc store unlock`" : keyringUnlock)
        case .signedOut, .signingIn: return .note(.sessions, words)
        case .active where status.unsaved:
            return .warning(
                .sessions, "\(name): its newest tokens are in memory only",
                hint: "\(status.storeError ?? "the store cannot be written now"); \(stored(status))")
        case .active:
            return status.lastError.map {
                .warning(
                    .sessions, "\(name): the last renewal failed: \($0)",
                    hint: "the token is still valid; \(refresh(status)), and authd by itself later")
            }
        }
    }
}
