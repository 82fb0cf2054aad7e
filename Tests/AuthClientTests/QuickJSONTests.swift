import AuthWire
import Testing

@Suite("authc --json without the full program", .timeLimit(.minutes(5)))
struct QuickJSONTests {
    /// The commands, and the methods whose results they print.
    private static let commands = [
        ("token", "token.get"), ("status", "session.status"), ("list", "session.list"), ("whoami", "user.get"),
        ("network", "network.status"), ("wait", "session.wait"),
    ]

    /// An agent that answers every request with this text, and a ping as usual.
    private func agent(_ result: String) throws -> TestAgent {
        try TestAgent { peer, request in
            let result = request.method == "agent.ping" ? "{}" : result
            let id = (request.id ?? .null).json.text()
            peer.send(bytes: Array("{\"jsonrpc\":\"2.0\",\"id\":\(id),\"result\":\(result)}\n".utf8))
        }
    }

    private func result(of command: String) -> String {
        switch command {
        case "token": Samples.token().text()
        case "list": JSON(dictionaryLiteral: ("sessions", [Samples.status()])).text()
        case "whoami":
            #"{"user":{"id":"7","email":"ada@example.org"},"raw":{"id":7},"fetched_at":1.5,"age_ms":7200000}"#
        case "network":
            #"{"state":"limited","since":1764277550.123457,"providers":{"b":"offline"},"clock_skew_ms":{"b":-61000}}"#
        default: Samples.status().text()
        }
    }

    @Test("each prints the agent's result as it came, and asks for the named session", arguments: commands)
    func results(command: String, method: String) async throws {
        let result = result(of: command)
        let agent = try agent(result)
        defer { agent.stop() }
        try await QuickAuthc.expectSame(result + "\n", of: [command, "--json"], agent.folder)
        #expect(Set(agent.requests.map(\.method)).subtracting(["agent.ping"]) == [method])
        guard command != "list", command != "network" else { return }
        for words in [[command, "--json", "-s", "work"], [command, "-s", "work", "--json"]] {
            try await QuickAuthc.expectSame(result + "\n", of: words, agent.folder, ["AUTHD_SESSION": "no"])
            let (alone, full) = (agent.requests.dropLast(command == "token" ? 2 : 1).last, agent.requests.last)
            #expect(alone?.method == method && full?.method == method)
            #expect(alone?.params == full?.params && full?.params?["session"] == "work")
        }
    }

    @Test("a token for an origin")
    func origin() async throws {
        let agent = try agent(result(of: "token"))
        defer { agent.stop() }
        let words = ["token", "--for", "https://a.example", "--json", "-s", "work"]
        try await QuickAuthc.expectSame(result(of: "token") + "\n", of: words, agent.folder)
        #expect(agent.requests.last?.params == ["session": "work", "origin": "https://a.example"])
    }

    @Test(
        "status ends as the session's state says, wait with 0",
        arguments: [
            ("signed_out", 3), ("signing_in", 0), ("active", 0), ("stale", 0), ("keyring_locked", 4),
            ("sign_in_required", 3),
        ] as [(String, Int32)])
    func states(state: String, status: Int32) async throws {
        let result = Samples.status(["state": .string(state), "cause": "offline"]).text()
        let agent = try agent(result)
        defer { agent.stop() }
        try await QuickAuthc.expectSame(result + "\n", of: ["status", "--json"], agent.folder, status: status)
        try await QuickAuthc.expectSame(result + "\n", of: ["wait", "--json"], agent.folder)
    }

    @Test(
        "values that the agent writes are printed as they are",
        arguments: [
            "0", "-1", "1.5", "-0.0", "3.0", "0.0001", "999999999999999", "1764277550.1234567", "true", "false", "null",
            "{}",
            "[]", #"{"":{"a":[]}}"#, #"[[],{},"",0]"#, #""""#, #""a \"b\" \\ \b\f\n\r\t \u0000\u000b\u001f /~""#,
            String(repeating: "[", count: 30) + String(repeating: "]", count: 30),
        ])
    func values(value: String) async throws {
        let result = #"{"user":{"id":"7"},"raw":\#(value)}"#
        let agent = try agent(result)
        defer { agent.stop() }
        try await QuickAuthc.expectSame(result + "\n", of: ["whoami", "--json"], agent.folder)
    }

    @Test(
        "values in any other form are left to the full program",
        arguments: [
            "1.50", "-0", "1e3", "1E3", "0.00001", "1234567890123456", "0.12345678901234567", "01", "1.", ".5", "+1",
            "-", "- 1", "1 ",
            " 1", "[1, 2]", "[1,]", "[,1]", "[1 2]", "{\"a\" :1}", "{\"a\":1,}", "{a:1}", "{1:2}", "{\"a\"}", "nul",
            "nulls", "True",
            #""\/""#, #""\u0041""#, #""\u000A""#, #""\u000a""#, #""\u007f""#, #""\u001F""#, #""\x""#, "\"\u{7F}\"",
            "\"é\"", "\"\u{9B}\"",
            "\"a", "'a'", "[", "{", "", "}", "]", String(repeating: "[", count: 40) + String(repeating: "]", count: 40),
        ])
    func otherValues(value: String) async throws {
        let agent = try agent(#"{"user":{"id":"7"},"raw":\#(value)}"#)
        defer { agent.stop() }
        try await QuickAuthc.expectLeft(["whoami", "--json"], agent.folder)
    }

    /// A member of each command's result, and a value of a type that it must not have.
    private static let wrong: [(String, String, JSON)] = [
        ("token", "access_token", 1), ("token", "token_type", .null), ("token", "session", "Shop"),
        ("token", "expires_at", "soon"), ("token", "valid_ms", -1), ("token", "valid_ms", 1.5),
        ("status", "session", ""), ("status", "provider", 7), ("status", "state", "busy"), ("status", "state", .null),
        ("status", "environment", []), ("status", "cause", false), ("status", "message", [:]),
        ("status", "user", "ada"), ("status", "user", ["id": 7]), ("status", "user", ["verified": "yes"]),
        ("status", "needs_password", 0), ("status", "renews", "true"), ("status", "remembered", .null),
        ("status", "expires_at", true), ("status", "refresh_at", "x"), ("status", "issued_at", []),
        ("status", "ends_at", [:]), ("status", "end_is_fixed", 1), ("status", "signed_in_at", false),
        ("status", "last_error", 1), ("status", "unsaved", "no"), ("status", "store_error", 2),
        ("status", "clock_skew_ms", 1.5), ("status", "scopes", "read"), ("status", "scopes", [1]),
        ("status", "shared_session", "No"), ("status", "store", "disk"), ("status", "locked_since", "now"),
        ("status", "default", 1), ("wait", "state", 1), ("list", "sessions", [:]), ("list", "sessions", [1]),
        ("list", "sessions", [["session": "shop"]]), ("whoami", "user", []), ("whoami", "user", ["email": 1]),
        ("whoami", "fetched_at", "x"), ("whoami", "age_ms", "x"), ("network", "state", "up"),
        ("network", "since", "x"), ("network", "providers", ["a": 1]), ("network", "providers", []),
        ("network", "clock_skew_ms", ["a": 1.5]), ("network", "metered", 1), ("network", "transfers_wait", "x"),
    ]

    @Test("a member of another type is left to the full program", arguments: wrong)
    func wrongTypes(command: String, member: String, value: JSON) async throws {
        var object = try #require(JSON(parsing: result(of: command)).objectValue)
        object[member] = value
        let agent = try agent(JSON.object(object).text())
        defer { agent.stop() }
        try await QuickAuthc.expectLeft([command, "--json"], agent.folder)
    }

    @Test(
        "a missing member is left to the full program",
        arguments: [
            ("token", "access_token"), ("token", "token_type"), ("token", "session"), ("status", "session"),
            ("status", "provider"), ("status", "state"), ("wait", "state"), ("whoami", "user"), ("network", "state"),
            ("network", "since"),
        ])
    func missing(command: String, member: String) async throws {
        var object = try #require(JSON(parsing: result(of: command)).objectValue)
        object[member] = nil
        let agent = try agent(JSON.object(object).text())
        defer { agent.stop() }
        try await QuickAuthc.expectLeft([command, "--json"], agent.folder)
    }

    @Test("an error is left to the full program", arguments: commands)
    func errors(command: String, method: String) async throws {
        let agent = try TestAgent(replies: [method: .failure(AgentError(.unknownSession, "no"))])
        defer { agent.stop() }
        for words in [[command], [command, "--json"]] { try await QuickAuthc.expectLeft(words, agent.folder) }
    }

    /// All wait at the same time: each does so for 10 s.
    @Test("an agent that does not answer is left to the full program")
    func silence() async throws {
        let agent = try TestAgent { _, _ in }
        defer { agent.stop() }
        // Before they start: the copy is made once.
        try QuickAuthc.install(in: agent.folder)
        try await withThrowingTaskGroup { group in
            for (command, _) in Self.commands {
                for words in [[command], [command, "--json"]] {
                    group.addTask { try await QuickAuthc.expectLeft(words, agent.folder, [:], "\(words)") }
                }
            }
            try await group.waitForAll()
        }
    }
}
