import AuthWire
import TestSupport
import Testing

/// The report of `doctor` fits on one screen, however many sessions need something.
@Suite("authc doctor with many sessions", .timeLimit(.minutes(2)))
struct DoctorScreenTests {
    private static let clocks: JSON = ["provider-1": 120_000, "provider-2": -120_000, "provider-3": 7_200_000]

    private static func agent(_ sessions: [JSON], _ providers: JSONObject = [:]) throws -> TestAgent {
        try TestAgent(replies: [
            "agent.info": .success([
                "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 4711,
                "started_at": 1, "store": ["kind": "secret-service", "state": "ready"],
            ]),
            "agent.reload": .success(["message": .string(ReloadResult.unchanged)]),
            "network.status": .success([
                "state": "online", "since": 1, "providers": .object(providers), "clock_skew_ms": clocks,
            ]),
            "session.list": .success(["sessions": .array(sessions)]),
        ])
    }

    /// Sessions that are bad in several ways: signed out by the provider, not renewed, and each with another error.
    private static var bad: [JSON] {
        (1...30).map { number in
            let name = "session-\(number)"
            let changes: [String: JSON] =
                switch number % 4 {
                case 0: ["state": "sign_in_required", "cause": "invalid_grant"]
                case 1: ["state": "sign_in_required", "cause": "origin_changed"]
                case 2: ["state": "stale", "cause": "provider_unreachable", "message": .string("\(name) is away.")]
                default: ["state": "active", "last_error": .string("\(name) refused 10.0.0.\(number).")]
                }
            return Samples.status(
                changes.merging(["session": .string(name), "provider": .string("provider-\(number)")]) { $1 })
        }
    }

    private static var unreachable: JSONObject {
        var providers = JSONObject()
        for number in 1...30 { providers["provider-\(number)"] = number % 2 == 0 ? "timeout" : "reachable" }
        return providers
    }

    /// The lines that a terminal shows, without those about lingering, which depend on the machine.
    private static func lines(_ agent: TestAgent, columns: UInt16) async throws -> [Substring] {
        let terminal = try await Terminal(
            "cd \"$XDG_RUNTIME_DIR\"; authc doctor; echo =end=", columns: columns, rows: 24,
            environment: [
                "XDG_RUNTIME_DIR": agent.folder, "HOME": agent.folder, "PATH": "/usr/bin:/bin", "LANG": "C",
                "NO_COLOR": "1",
            ])
        await terminal.waits(for: "=end=\r\n")
        await terminal.ends()
        var isLeftOut = false
        return terminal.text.replacing("\r\n", with: "\n").split(separator: "\n").filter { line in
            isLeftOut = isLeftOut && line.hasPrefix(" ") || line.contains(" lingering") || line == "=end="
            return !isLeftOut
        }
    }

    @Test("30 bad sessions take 24 lines of 80 columns, and no line of 40 is too wide")
    func many() async throws {
        let agent = try Self.agent(Self.bad, Self.unreachable)
        defer { agent.stop() }
        let wide = try await Self.lines(agent, columns: 80)
        let text = wide.joined(separator: "\n")
        // The prompt has a line, too.
        #expect(wide.count < 24 && wide.allSatisfy { $0.count <= 80 }, "\(wide.count): \(text)")
        #expect(wide.last?.hasPrefix("Problems: 38, warnings: 10.") == true, "\(text)")
        let words = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        for part in [
            "session-4, session-8, session-12 and 4 more: sign in required: invalid grant",
            "`authc login provider-4 -s session-4`; `authc list` shows all",
            "session-1, session-5, session-9 and 5 more: sign in required: origin changed",
            "session-2, session-6, session-10 and 5 more: stale: provider unreachable",
            "session-3, session-7, session-11 and 4 more: the last renewal failed",
            "provider-1, provider-2, provider-3: the clock differs from this machine's", "and 12 more: timeout",
        ] {
            #expect(words.contains(part), "\(part) is not in \(text)")
        }
        let narrow = try await Self.lines(agent, columns: 40)
        #expect(narrow.allSatisfy { $0.count <= 40 || $0.contains("/") }, "\(narrow.joined(separator: "\n"))")
        #expect(narrow.count < 60, "\(narrow.count): \(narrow.joined(separator: "\n"))")
    }

    @Test("more than four kinds of problems are counted, and JSON has each session")
    func kinds() async throws {
        let causes = ["offline", "timeout", "busy", "bad_reply", "rate_limited", "provider_error"]
        let sessions = causes.map {
            Samples.status(["session": .string("s-" + $0.prefix(4)), "state": "stale", "cause": .string($0)])
        }
        let agent = try Self.agent(sessions)
        defer { agent.stop() }
        let shown = try await Program.run(["doctor"], folder: agent.folder)
        #expect(shown.output.contains("3 more: s-bad_, s-rate, s-prov"), "\(shown.output)")
        #expect(shown.output.matches(of: /✗ sessions/).count == 4, "\(shown.output)")
        let json = try JSON(parsing: try await Program.run(["doctor", "--json"], folder: agent.folder).output)
        let problems = json["checks"]?.arrayValue?.filter { $0["check"] == "sessions" && $0["level"] == "problem" }
        #expect(problems?.count == causes.count, "\(json)")
    }

    @Test("a few healthy sessions are named, and a report that fits is not shortened")
    func healthy() async throws {
        let sessions = (1...30).map { Samples.status(["session": .string("s-\($0)")]) }
        let agent = try Self.agent(sessions)
        defer { agent.stop() }
        let lines = try await Self.lines(agent, columns: 80)
        #expect(lines.contains("ok   sessions  active: s-1, s-2, s-3 and 27 more"), "\(lines)")
        #expect(lines.contains("ok   store     secret-service is open"), "\(lines)")
    }
}
