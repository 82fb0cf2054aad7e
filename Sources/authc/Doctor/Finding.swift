import AuthWire

/// The outcome of one check, and what the user can do about it.
struct Finding {
    /// What is checked. Each depends on those before it.
    enum Subject: String {
        case socket, agent, settings, rules, store, cluster, network, providers, clock, sessions, lingering
    }

    /// In the order in which they are shown.
    enum Level: String, CaseIterable {
        case problem
        /// A problem that sessions still work with.
        case warning
        /// Not a problem, but useful to know.
        case note
        case ok
    }

    let subject: Subject
    let level: Level
    let message: String
    let hint: String?
    /// The command's exit status, if this is the first problem.
    let status: ExitStatus
    /// What `--fix` does about it.
    var fix: DoctorFix?
    /// What a report for strangers may have of it: words of this program, and the parts that ``BugReport`` makes harmless.
    var report: Report = .nothing
    /// What it is about, if the same may be found about several.
    var item: Item?
    /// The message for a screen, if that is shorter.
    var brief: String?

    /// A session, a provider or a profile.
    struct Item {
        let name: String
        /// What was found, without names.
        let found: String
        /// What to try about several of them; `nil`: what to try about the first one.
        let hint: String?
        /// What shows the others.
        let list: String
    }

    enum Report {
        case nothing
        case words(String)
        /// Problems of settings and profiles, as authd writes them.
        case problems([String])
    }

    func reported(_ report: Report) -> Finding {
        var finding = self
        finding.report = report
        return finding
    }

    func about(_ name: String, _ found: String, hint: String? = nil, list: String) -> Finding {
        var finding = self
        finding.item = Item(name: name, found: found, hint: hint, list: list)
        return finding
    }

    func shortened(_ brief: String) -> Finding {
        var finding = self
        finding.brief = brief
        return finding
    }

    static func ok(_ subject: Subject, _ message: String) -> Finding {
        Finding(subject: subject, level: .ok, message: message, hint: nil, status: .done)
    }

    static func note(
        _ subject: Subject, _ message: String, hint: String? = nil, fix: DoctorFix? = nil
    ) -> Finding {
        Finding(subject: subject, level: .note, message: message, hint: hint, status: .done, fix: fix)
    }

    static func warning(
        _ subject: Subject, _ message: String, hint: String?, fix: DoctorFix? = nil
    ) -> Finding {
        Finding(subject: subject, level: .warning, message: message, hint: hint, status: .done, fix: fix)
    }

    static func problem(
        _ subject: Subject, _ status: ExitStatus, _ message: String, hint: String?, fix: DoctorFix? = nil
    ) -> Finding {
        Finding(subject: subject, level: .problem, message: message, hint: hint, status: status, fix: fix)
    }

    /// The hint has a command: that of the failure, or one that shows the log.
    /// - Parameter info: `nil`: the agent has not answered.
    static func problem(_ subject: Subject, _ failure: Failure, of info: AgentInfo? = nil) -> Finding {
        let hint =
            failure.hint.flatMap { $0.contains("`") ? $0 : nil }
            ?? [failure.hint, "the log of authd may show why: \(AgentAdvice.log(info))"].compactMap(\.self)
            .joined(separator: "; ")
        return problem(subject, failure.status, failure.message, hint: hint).reported(
            .words("exit status \(failure.status.rawValue)"))
    }

    var json: JSON {
        var object: JSONObject = [
            "check": .string(subject.rawValue), "level": .string(level.rawValue), "message": .string(message),
        ]
        object["hint"] = hint.map { .string(AdvisedCommands.text($0)) }
        object["fix"] = fix.map { .string($0.command) }
        return .object(object)
    }
}
