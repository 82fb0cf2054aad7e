import AuthConnection
import AuthWire

/// `doctor`: checks everything that a session depends on.
struct DoctorReport {
    /// A healthy agent answers all this from memory.
    private static let defaultTimeout = Duration.seconds(5)
    /// For a program that a fix runs. polkit may ask the user meanwhile.
    private static let fixTimeout = Duration.seconds(60)

    /// The addresses of so many providers are looked up.
    private static let mostAddresses = 4

    private(set) var findings: [Finding] = []
    private var info: AgentInfo?
    private var network: NetworkStatus?
    private var statuses: [SessionStatus] = []

    /// - Parameters:
    ///   - fixing: whether to do what ``DoctorFix`` may do, and look again.
    ///   - forOthers: prints a report to attach to a bug report instead.
    static func run(_ options: Options, fixing: Bool, forOthers: Bool) throws(Failure) -> ExitStatus {
        var options = options
        options.timeout = options.timeout ?? defaultTimeout
        var report = DoctorReport()
        report.examine(options)
        if fixing, report.fix() {
            report = DoctorReport()
            report.examine(options)
        }
        if forOthers {
            let text = BugReport(
                findings: report.findings, info: report.info, network: report.network, sessions: report.statuses
            ).text
            try options.json ? Output.json(["report": .string(text)]) : Output.result(text)
        } else {
            try options.json ? Output.json(report.json) : report.show(offersFix: !fixing)
        }
        return report.status
    }

    /// - Returns: whether anything was done.
    private func fix() -> Bool {
        let fixes = findings.compactMap(\.fix)
        for fix in fixes {
            do throws(Failure) {
                try fix.perform(until: .after(Self.fixTimeout))
                Output.note("fixed: \(Visible.line(fix.command))")
            } catch {
                Output.note("not fixed: \(error.explanation)")
            }
        }
        if fixes.isEmpty { Output.note("Nothing can be fixed automatically.") }
        return !fixes.isEmpty
    }

    private mutating func examine(_ options: Options) {
        do throws(Failure) {
            findings.append(
                DoctorEnvironment.socket(
                    try options.socketPath(), from: options.socketSource, isDefault: options.hasDefaultSocket))
        } catch {
            var error = error
            if error.status == .usage { error.hint = DoctorEnvironment.otherSocket(options.socketSource) }
            findings.append(.problem(.socket, error))
        }
        let files = (try? SettingsFile(named: nil)).map(DoctorFiles.findings) ?? []
        defer {
            findings += files
            findings += [DoctorEnvironment.lingering()].compactMap(\.self)
        }
        guard status != .usage, status != .noAgent else { return }
        var subject = Finding.Subject.agent
        do throws(Failure) {
            let agent = try options.connect()
            let json = try agent.json(of: AgentInfoGet())
            if let limited = DoctorChecks.limited(json) {
                findings.append(limited)
                return
            }
            let info = try agent.decode(json, of: AgentInfoGet())
            self.info = info
            findings += [DoctorChecks.agent(info)] + DoctorChecks.files(info)
            if let file = try? SettingsFile(named: nil) { findings.append(DoctorProfiles.settings(file)) }
            let reload = try settings(agent, info, files)
            findings += try DoctorProfiles.findings(agent)
            let hasOther = reload?.restartNeeded.contains("store") ?? false
            let store = DoctorChecks.store(info.store, of: info, isOther: hasOther)
            findings += try rules(agent) + [store] + cluster(agent, info)
            subject = .network
            let network = try agent.call(NetworkStatusGet()).value
            self.network = network
            findings.append(DoctorChecks.network(network))
            findings += DoctorChecks.providers(
                network, addresses: addresses(of: DoctorChecks.unreachable(network), agent))
            findings += DoctorChecks.clock(network)
            subject = .sessions
            statuses = try agent.call(SessionListGet()).value.sessions
            findings += DoctorChecks.sessions(statuses)
        } catch {
            findings.append(DoctorChecks.unknownSessions(error, findings) ?? .problem(subject, error, of: info))
        }
    }

    /// Checks the files that a start or a reload would read.
    /// - Returns: what a reload would do; `nil` if they are broken.
    private mutating func settings(
        _ agent: Agent, _ info: AgentInfo, _ files: [Finding]
    ) throws(Failure) -> ReloadResult? {
        do throws(Failure) {
            let reload = try agent.call(AgentReload(check: true)).value
            findings += DoctorChecks.settings(reload, of: info)
            return reload
        } catch {
            guard let agentError = error.agentError, agentError.kind == .validation else { throw error }
            findings += [DoctorChecks.settings(broken: agentError, files)].compactMap(\.self)
            return nil
        }
    }

    /// Nothing if the agent has built-in rules only, or is of a version without rules.
    private func rules(_ agent: Agent) throws(Failure) -> [Finding] {
        do throws(Failure) {
            return DoctorChecks.rules(try agent.call(PolicyShow()).value)
        } catch {
            switch error.agentError?.kind {
            case .unsupported: return []
            case .denied: return [.note(.rules, "a rule does not allow this program to read the access rules")]
            default: throw error
            }
        }
    }

    /// The URLs of the first providers. The report shows only one if several have the same problem.
    private func addresses(of providers: [String], _ agent: Agent) -> [String: String] {
        var addresses: [String: String] = [:]
        for provider in providers.prefix(Self.mostAddresses) {
            let detail = try? agent.call(ProviderShow(ProviderParams(provider: provider))).value
            let environment = detail?.environments.first { $0.isDefault } ?? detail?.environments.first
            addresses[provider] = environment?.url
        }
        return addresses
    }

    /// Nothing if no other host shares the store.
    private func cluster(_ agent: Agent, _ info: AgentInfo) throws(Failure) -> [Finding] {
        guard info.store.kind == .etcd else { return [] }
        do throws(Failure) {
            return ClusterChecks(try agent.call(ClusterStatusGet()).value, info, now: WallClock.now).findings
        } catch {
            switch error.agentError?.kind {
            case .unsupported: return []
            case .denied: return [.note(.cluster, "a rule does not allow this program to see the cluster")]
            // The store's own finding says why.
            case .keyringLocked, .keyringUnavailable: return []
            default: throw error
            }
        }
    }

    /// That of the first problem, which may cause those after it.
    var status: ExitStatus { findings.first { $0.level == .problem }?.status ?? .done }

    var json: JSON {
        ["checks": .array(findings.map(\.json)), "exit": .integer(Int64(status.rawValue))]
    }

    private func show(offersFix: Bool) throws(Failure) {
        let screen = Screen.current
        // Problems first. Within a level, an earlier one may cause the later ones.
        let joined = FindingGroups.joined(findings)
        let inOrder = Finding.Level.allCases.flatMap { level in joined.filter { $0.level == level } }
        try Output.result(text(of: inOrder, on: screen))
        let (problems, warnings) = (count(.problem), count(.warning))
        if problems + warnings == 0 { return Output.note("Nothing is wrong.") }
        let fixable =
            offersFix && findings.contains { $0.fix != nil && [.problem, .warning].contains($0.level) }
            ? " `authc doctor --fix` applies the safe fixes." : ""
        Output.note("Problems: \(problems), warnings: \(warnings).\(fixable)")
    }

    /// The line with the number of problems, and the next prompt.
    private static let linesBelow = 2

    /// On a terminal that is too short for the report, the checks that found nothing share one line: problems that have
    /// scrolled away are not seen.
    private func text(of findings: [Finding], on screen: Screen) -> String {
        let all = findings.map { lines($0, screen) }.joined(separator: "\n")
        let height = all.split(separator: "\n", omittingEmptySubsequences: false).count + Self.linesBelow
        guard screen.isTerminal, height > screen.height else { return all }
        let others = findings.filter { $0.level != .ok || $0.subject == .lingering }
        let open = Set(others.map(\.subject))
        var fine: [String] = []
        for finding in findings where !open.contains(finding.subject) && !fine.contains(finding.subject.rawValue) {
            fine.append(finding.subject.rawValue)
        }
        let last = fine.isEmpty ? [] : [row(.ok, "fine", fine.joined(separator: ", "), hint: nil, screen)]
        return (others.map { lines($0, screen) } + last).joined(separator: "\n")
    }

    private func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// The width of the mark and the longest name.
    private static let columns = 15

    private func lines(_ finding: Finding, _ screen: Screen) -> String {
        row(finding.level, finding.subject.rawValue, finding.brief ?? finding.message, hint: finding.hint, screen)
    }

    private func row(
        _ level: Finding.Level, _ name: String, _ message: String, hint: String?, _ screen: Screen
    ) -> String {
        let (mark, colour) = Self.mark(level, isUnicode: screen.isUnicode)
        func wrapped(_ text: String) -> [String] {
            Layout.wrapped(Visible.lines(AdvisedCommands.text(text)), on: screen, indent: Self.columns)
        }
        let message = wrapped(message)
        let hint = hint.map(wrapped) ?? []
        let lines = message.map { Self.indented($0, screen) } + hint.map { Self.indented($0, screen, .dim) }
        let label = "\(screen.paint(mark, colour)) \(name)"
        let isBelow = message.first.map { Self.indent(of: $0, screen) < Self.columns } ?? false
        guard !isBelow else { return ([label] + lines).joined(separator: "\n") }
        let gap = String(repeating: " ", count: max(0, Self.columns - Layout.width("\(mark) \(name)")))
        return label + gap + lines.joined(separator: "\n").dropFirst(Self.columns)
    }

    private static func indented(_ line: String, _ screen: Screen, _ colour: Screen.Colour? = nil) -> String {
        let text = colour.map { screen.paint(line, $0) } ?? line
        return String(repeating: " ", count: indent(of: line, screen)) + text
    }

    private static let pathIndent = 2

    /// A path that is too long for its column begins further left, where it may fit. Otherwise a terminal breaks it.
    private static func indent(of line: String, _ screen: Screen) -> Int {
        let room = screen.width - Layout.width(line)
        return screen.isTerminal && room < columns ? max(0, min(pathIndent, room)) : columns
    }

    private static func mark(_ level: Finding.Level, isUnicode: Bool) -> (String, Screen.Colour) {
        switch level {
        case .ok: (isUnicode ? "✓" : "ok  ", .green)
        case .note: (isUnicode ? "·" : "note", .dim)
        case .warning: (isUnicode ? "⚠" : "warn", .yellow)
        case .problem: (isUnicode ? "✗" : "FAIL", .red)
        }
    }
}
