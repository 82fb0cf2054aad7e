import AuthClient
import AuthWire

/// `doctor`: checks everything that a session depends on.
struct DoctorReport {
    /// A healthy agent answers all this from memory.
    private static let defaultTimeout = Duration.seconds(5)

    private(set) var findings: [Finding] = []

    static func run(_ options: Options) throws(Failure) -> ExitStatus {
        var options = options
        options.timeout = options.timeout ?? defaultTimeout
        var report = DoctorReport()
        report.examine(options)
        try options.json ? Output.json(report.json) : report.show()
        return report.status
    }

    private mutating func examine(_ options: Options) {
        do throws(Failure) {
            findings.append(DoctorEnvironment.socket(try options.socketPath(), from: options.socketSource))
        } catch {
            findings.append(.problem(.socket, error))
        }
        defer { findings += [DoctorEnvironment.lingering()].compactMap(\.self) }
        guard status != .usage, status != .noAgent else { return }
        var subject = Finding.Subject.agent
        do throws(Failure) {
            let agent = try options.connect()
            let info = try agent.call(AgentInfoGet()).value
            findings += [DoctorChecks.agent(info), try settings(agent), DoctorChecks.store(info.store)]
            subject = .network
            let network = try agent.call(NetworkStatusGet()).value
            findings.append(DoctorChecks.network(network))
            findings += DoctorChecks.providers(network) + DoctorChecks.clock(network)
            subject = .sessions
            findings += DoctorChecks.sessions(try agent.call(SessionListGet()).value.sessions)
        } catch {
            findings.append(.problem(subject, error))
        }
    }

    /// Checks the files that a start or a reload would read.
    private func settings(_ agent: Agent) throws(Failure) -> Finding {
        do throws(Failure) {
            let check = AgentReload(check: true)
            return DoctorChecks.settings(try agent.call(check).value)
        } catch {
            guard let agentError = error.agentError, agentError.kind == .validation else { throw error }
            return DoctorChecks.settings(broken: agentError)
        }
    }

    /// That of the first problem, which may cause those after it.
    var status: ExitStatus { findings.first { $0.level == .problem }?.status ?? .done }

    var json: JSON {
        ["checks": .array(findings.map(\.json)), "exit": .integer(Int64(status.rawValue))]
    }

    private func show() throws(Failure) {
        let screen = Screen.current
        try Output.result(findings.map { lines($0, screen) }.joined(separator: "\n"))
        let (problems, warnings) = (count(.problem), count(.warning))
        if problems + warnings == 0 { return Output.note("Nothing is wrong.") }
        Output.note("Problems: \(problems), warnings: \(warnings).")
    }

    private func count(_ level: Finding.Level) -> Int { findings.count { $0.level == level } }

    /// The width of the mark and the longest name.
    private static let columns = 15

    private func lines(_ finding: Finding, _ screen: Screen) -> String {
        let (mark, colour) = Self.mark(finding.level, isUnicode: screen.isUnicode)
        let name = Layout.padded(finding.subject.rawValue, to: Self.columns - Layout.width(mark) - 2)
        let indent = String(repeating: " ", count: Self.columns)
        let message = Layout.wrapped(Visible.line(finding.message), on: screen, indent: Self.columns)
        let hint = finding.hint.map { Layout.wrapped(Visible.line($0), on: screen, indent: Self.columns) } ?? []
        let text = message + hint.map { screen.paint($0, .dim) }
        return "\(screen.paint(mark, colour)) \(name) " + text.joined(separator: "\n" + indent)
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
