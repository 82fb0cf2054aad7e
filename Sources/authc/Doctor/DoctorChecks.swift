import AuthWire

/// Turns the agent's status into findings.
enum DoctorChecks {
    static func agent(_ info: AgentInfo) -> Finding {
        let who = "authd \(info.version), process \(info.pid)"
        let restart = RestartAdvice.commands(ofOther: info)
        guard info.protocolVersion == Release.protocolNumber else {
            return .problem(
                .agent, .internalError,
                "\(who) uses protocol \(info.protocolVersion), this authc uses \(Release.protocolNumber)",
                hint: "install both from one release, then run \(restart)")
        }
        guard info.version == Release.version else {
            return .warning(
                .agent, "\(who), and authc \(Release.version)",
                hint: "restart the agent to use the update: \(restart)")
        }
        guard !info.restartPending else {
            return .warning(
                .agent, "\(who): the program was upgraded, and this agent still runs the old one",
                hint: RestartAdvice.upgrade(info))
        }
        if info.lock != nil {
            return .problem(.agent, .denied, "\(who): it is locked, and returns no token", hint: "`authc unlock`")
        }
        return .ok(.agent, who)
    }

    /// The problem if the agent gives this program limited access: it does not name its process then.
    /// - Parameter json: the result of `agent.info`.
    static func limited(_ json: JSON) -> Finding? {
        guard json["pid"] == nil, let version = json["version"]?.stringValue else { return nil }
        return .problem(
            .agent, .denied, "authd \(version) gives this program limited access, as to one in a sandbox",
            hint: "run it outside of sandboxes, with the main socket; the message of `authc token` has the reason")
    }

    /// Why the kernel does not limit the agent to its files, or what to know if it does; none if the agent is too old to say.
    static func files(_ info: AgentInfo) -> [Finding] {
        let reason: String
        switch info.landlock {
        case nil: return []
        case .on:
            return info.landlockNotes.map {
                .warning(.agent, $0, hint: "use a folder that has only files of authd: `authc config edit`")
            }
        case .off: reason = "AUTHD_LANDLOCK is off"
        case .noManager: reason = "hooks and terminals would be limited, too, because no service manager starts them"
        case .unsupported: reason = "this kernel does not have Landlock"
        case .failed:
            return [
                .warning(
                    .agent, "authd is not limited to its files, because Landlock failed",
                    hint: "the log of authd shows why: \(AgentAdvice.log(info))")
            ]
        }
        return [.note(.agent, "authd is not limited to its files: \(reason)")]
    }

    /// - Parameter reload: what a reload would do.
    static func settings(_ reload: ReloadResult, of info: AgentInfo) -> [Finding] {
        // An older agent has only the message.
        let isOlder = reload.changes.isEmpty && reload.restartNeeded.isEmpty
        let message = reload.message.flatMap { isOlder && $0 != ReloadResult.unchanged ? $0 : nil }
        let changes = reload.changes + [message].compactMap(\.self)
        var findings: [Finding] = []
        if !changes.isEmpty {
            findings.append(
                .note(
                    .settings, "changed since authd read them: \(changes.joined(separator: "; "))",
                    hint: "`authc reload` applies the change"))
        }
        if !reload.restartNeeded.isEmpty {
            findings.append(
                .note(
                    .settings, "changed since authd started: \(reload.restartNeeded.joined(separator: ", "))",
                    hint: "restart authd to apply the change: \(RestartAdvice.commands(info))"))
        }
        return findings.isEmpty ? [.ok(.settings, "authd uses the current settings and profiles")] : findings
    }

    /// - Parameter files: what was found about the modes of files.
    /// - Returns: `nil` if those findings say everything.
    static func settings(broken error: AgentError, _ files: [Finding]) -> Finding? {
        let known = files.compactMap(\.fix).compactMap { fix in
            if case .protectFile(let path) = fix { DoctorFiles.refusal(of: path) } else { nil }
        }
        let problems = error.details.filter { problem in !known.contains { problem.hasPrefix($0) } }
        guard !problems.isEmpty || error.details.isEmpty else { return nil }
        return .problem(
            .settings, .badSettings, problems.isEmpty ? error.message : problems.joined(separator: "\n"),
            hint: "fix it, then run `authc reload`; until then authd uses the former settings, but may fail to restart"
        ).reported(.problems(problems))
    }

    static func rules(_ policy: PolicyInfo) -> [Finding] {
        var findings = policy.problems.map {
            Finding.problem(
                .rules, .badSettings, $0, hint: "correct this file; `authc policy apply` replaces an applied copy")
        }
        if policy.unapplied {
            findings.append(
                .note(
                    .rules, "\(policy.userFile ?? "policy.toml") has changes that are not in use",
                    hint: "`authc policy apply` shows and applies them"))
        }
        let own = policy.rules.count { !$0.rule.hasPrefix("default.") }
        if own > 0 || policy.enforced {
            let effect = policy.enforced ? "enforced" : "recorded only"
            findings.append(.ok(.rules, "\(own) besides the built-in ones, \(effect)"))
        }
        return findings
    }
}
