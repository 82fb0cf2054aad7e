import AuthWire
import Foundation
import Testing

/// What doctor says about a restart works for the way the agent was started.
@Suite("What doctor advises about a restart", .timeLimit(.minutes(1)))
struct DoctorRestartTests {
    private static let (managed, alone): (JSON, JSON) = (
        ["unit": "authd@work.service"], ["command": "authd --store 'sealed-file'", "obstacle": "no_manager"]
    )
    private static let (command, commands) = (
        "`authc agent restart`", "`kill 4711`, then `authd --store 'sealed-file'`"
    )

    private static func agent(
        _ info: JSONObject, reload: JSON = ["message": .string(ReloadResult.unchanged)],
        others: [String: Result<JSON, AgentError>] = [:]
    ) throws -> TestAgent {
        var all: JSONObject = [
            "version": .string(Release.version), "protocol": .integer(Int64(Release.protocolNumber)), "pid": 4711,
            "started_at": 1, "store": ["kind": "secret-service", "state": "ready"],
        ]
        for (key, value) in info { all[key] = value }
        return try TestAgent(
            replies: [
                "agent.info": .success(.object(all)), "agent.reload": .success(reload),
                "network.status": .success(["state": "online", "since": 1, "providers": [:]]),
                "session.list": .success(["sessions": []]),
            ].merging(others) { $1 })
    }

    /// The hints of doctor about this.
    private static func hints(_ check: String, _ agent: TestAgent) async throws -> [String] {
        let result = try await Program.run(["doctor", "--json"], folder: agent.folder)
        let checks = try #require(try JSON(parsing: result.output)["checks"]?.arrayValue, "\(result)")
        return checks.filter { $0["check"]?.stringValue == check }.compactMap { $0["hint"]?.stringValue }
    }

    @Test(
        "after an upgrade: whether the agent restarts by itself, and the commands that restart it",
        arguments: [
            (managed, "\(command) restarts it now; otherwise it restarts when it is idle"),
            (alone, "it does not restart by itself: \(commands)"),
            (
                ["unit": "authd.service", "obstacle": "passphrase"],
                "it does not restart by itself, because its store needs your passphrase: \(command), "
                    + "then `authc store unlock`"
            ),
            (
                ["unit": "authd.service", "obstacle": "memory"],
                "it does not restart by itself, because its sessions would end: `authc logout --all`, then \(command)"
            ),
        ] as [(JSON, String)])
    func upgraded(restart: JSON, expected: String) async throws {
        let agent = try Self.agent(["restart_pending": true, "restart": restart])
        defer { agent.stop() }
        #expect(try await Self.hints("agent", agent) == [expected])
    }

    @Test("of another version: the same commands", arguments: [(managed, command), (alone, commands)])
    func otherVersion(restart: JSON, commands: String) async throws {
        let agent = try Self.agent(["version": "0.0.1", "restart": restart])
        defer { agent.stop() }
        #expect(try await Self.hints("agent", agent) == ["restart the agent to use the update: \(commands)"])
    }

    private static let noKeyring: JSON = ["kind": "secret-service", "state": "missing"]

    @Test(
        "without a keyring: the commands that choose sealed files, in doctor and after an error",
        arguments: [(managed, command), (alone, commands)])
    func noKeyring(restart: JSON, commands: String) async throws {
        let refusal = AgentError(.keyringUnavailable, "There is no keyring.", cause: "missing")
        let agent = try Self.agent(
            ["store": Self.noKeyring, "restart": restart], others: ["token.get": .failure(refusal)])
        defer { agent.stop() }
        let start = "without a keyring, use sealed files: `authc config set store sealed-file`, then \(commands), "
        let hints = try await Self.hints("store", agent)
        #expect(hints.count == 1 && hints[0].hasPrefix(start + "then `authc store unlock`; "), "\(hints)")
        let token = try await Program.run(["token"], folder: agent.folder)
        #expect(token.status == 4 && token.errors.hasSuffix("  \(hints[0])\n"), "\(token)")
    }

    @Test(
        "if the settings name another store, it is used after a restart",
        arguments: [(managed, command), (alone, commands)])
    func otherStore(restart: JSON, commands: String) async throws {
        let agent = try Self.agent(
            ["store": Self.noKeyring, "restart": restart],
            reload: ["message": "store is different.", "restart_needed": ["store", "socket"]])
        defer { agent.stop() }
        let store = try await Self.hints("store", agent)
        #expect(store == ["the settings name another store; restart authd to use it: \(commands)"])
        let settings = try await Self.hints("settings", agent)
        #expect(settings == ["restart authd to apply the change: \(commands)"])
        let shown = try await Program.run(["doctor"], folder: agent.folder)
        #expect(shown.output.contains("changed since authd started: store, socket\n"), "\(shown)")
        #expect(!shown.output.contains("authc reload"), "\(shown)")
    }

    @Test("what a reload applies, and what needs a restart, are different findings")
    func both() async throws {
        let agent = try Self.agent(
            ["restart": Self.managed],
            reload: ["message": "a; b", "changes": ["the log level is debug"], "restart_needed": ["http"]])
        defer { agent.stop() }
        let settings = try await Self.hints("settings", agent)
        #expect(
            settings == [
                "`authc reload` applies the change", "restart authd to apply the change: \(Self.command)",
            ])
    }

    @Test(
        "where the log is depends on how the agent was started",
        arguments: [
            (managed, "`journalctl --user -u authd@work`"), (alone, "the output of `authd` where you started it"),
        ])
    func log(restart: JSON, place: String) async throws {
        let failure = AgentError(.internal_, "It failed.")
        let agent = try Self.agent(
            ["restart": restart, "landlock": "failed"],
            others: ["token.get": .failure(failure), "session.list": .failure(failure)])
        defer { agent.stop() }
        #expect(try await Self.hints("agent", agent) == ["the log of authd shows why: \(place)"])
        #expect(try await Self.hints("sessions", agent).allSatisfy { $0.contains("`") })
        let token = try await Program.run(["token"], folder: agent.folder)
        #expect(token.errors.hasSuffix("  the log of authd shows what happened: \(place)\n"), "\(token)")
    }
}
