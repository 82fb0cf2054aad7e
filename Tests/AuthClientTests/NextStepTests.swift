import AuthWire
import Foundation
import Testing

/// An error says what to try: a command that can be typed as shown.
@Suite("What to try after an error", .timeLimit(.minutes(2)))
struct NextStepTests {
    /// What `token` advises after each kind of error, if its message has no command.
    static let steps: [ErrorKind: String] = [
        .notSignedIn: "sign in: `authc login`", .signInRequired: "sign in: `authc login`",
        .keyringLocked: "unlock it: `authc store unlock`; authd then continues by itself",
        .keyringUnavailable: "`authc doctor` shows the state of the store, and what to do",
        .offline: "`authc wait --until online` waits for a network; `authc doctor` shows what is missing",
        .captivePortal: "open the network's page: `xdg-open http://example.com`; authd continues by itself",
        .providerUnreachable: "`authc doctor` looks for the cause",
        .providerError: "try again later; `authc network` shows whether the provider responds",
        .badReply: "`authc doctor` checks the network, from which the answer may come",
        .rateLimited: "try again later", .refused: "check what was entered; `authc login` signs in again",
        .validation: "`authc token --help` describes the command",
        .forbidden: "`authc whoami` shows the account, and `authc status` what it may do",
        .notFound: "`authc token --help` describes the command",
        .conflict: "`authc token --help` describes the command",
        .denied: "`authc log` shows what was denied, and by which rule", .agentLocked: "unlock it: `authc unlock`",
        .timeout: "try again, or set a longer --timeout", .busy: "try again in a moment",
        .tooLarge: "`authc token --help` describes the command", .unknownSession: "`authc list` shows the sessions",
        .unknownProvider: "`authc provider list` shows the providers",
        .unknownEndpoint: "`authc provider list` shows the providers",
        .unsupported: "`authc token --help` describes the command",
        .internal_: "the log of authd shows what happened: the output of `authd` where you started it",
    ]

    /// After these the same command is tried again; nothing else helps.
    static let withoutCommand: Set<ErrorKind> = [.rateLimited, .timeout, .busy]

    private static func hint(
        after error: AgentError, _ words: [String] = ["token"], method: String = "token.get"
    ) async throws -> String? {
        let agent = try TestAgent(replies: [method: .failure(error), "agent.ping": .success(["pid": 1])])
        defer { agent.stop() }
        let result = try await Program.run(words + ["--json"], folder: agent.folder)
        return try JSON(parsing: result.output)["error"]?["hint"]?.stringValue
    }

    @Test("each kind of error has a next step, which authc accepts as shown", arguments: ErrorKind.allCases)
    func kind(_ kind: ErrorKind) async throws {
        let expected = try #require(Self.steps[kind])
        let hint = try await Self.hint(after: AgentError(kind, "It did not work.", cause: "test"))
        #expect(hint == expected)
        #expect(expected.contains("`") != Self.withoutCommand.contains(kind))
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for match in expected.matches(of: /`authc ([^`]*)`/) {
            let words = match.1.split(separator: " ").map(String.init)
            if words.contains("--help") {
                #expect(try await Program.run(words, folder: folder).status == 0, "\(words)")
            } else {
                #expect(try await AdviceTests.refusal(words, in: folder) == nil, "\(words)")
            }
        }
    }

    @Test("nothing is added to a message that names a command, or to a time after which to try again")
    func enough() async throws {
        for kind in ErrorKind.allCases {
            let named = try await Self.hint(after: AgentError(kind, "Run `authc reload`."))
            #expect(named == nil, "\(kind)")
        }
        let later = AgentError(.rateLimited, "Slow down.", retryAfter: .seconds(30))
        #expect(try await Self.hint(after: later) == "try again in 30 s")
        let away = AgentError(.providerUnreachable, "No.", retryAfter: .seconds(30))
        #expect(try await Self.hint(after: away) == "try again in 30 s; `authc doctor` looks for the cause")
    }

    @Test("a cause has its own next step")
    func causes() async throws {
        let elsewhere = "The token of session shop is for https://a.example, not for https://b.example. authd does not"
        let cases: [(AgentError, String?)] = [
            (AgentError(.denied, elsewhere, cause: "other_origin"), "sign in there: `authc login https://b.example`"),
            (AgentError(.denied, elsewhere, cause: "other_origin", details: ["`-s b` belongs to it"]), nil),
            (AgentError(.denied, "No.", cause: "other_origin"), "`authc list` shows the sessions; -s names one"),
            (AgentError(.denied, "Cancelled."), nil),
            (
                AgentError(.keyringLocked, "Wait.", cause: "keyring_waiting"),
                "answer its dialog; `authc doctor` shows which program asks"
            ),
            (AgentError(.refused, "Wrong.", cause: "passphrase"), "try again with another passphrase"),
            (AgentError(.refused, "Send the request again.", cause: "body_once"), nil),
            (AgentError(.refused, "No.", details: ["resource_metadata: https://a.example/metadata"]), nil),
            (
                AgentError(.refused, "No.", cause: "token_refused"),
                "`authc whoami` shows the account, and `authc status` what it may do"
            ),
            (.methodNotFound("token.get"), "`authc version` shows whether the agent is older than authc"),
        ]
        for (error, expected) in cases { #expect(try await Self.hint(after: error) == expected, "\(error)") }
    }

    /// An agent that answers a method with this error, and knows one provider.
    private static func refusing(_ method: String, _ error: AgentError, hasEndpoints: Bool = true) throws -> TestAgent {
        let endpoint: JSON = ["name": "list-users", "method": "GET", "path": "/users", "args": []]
        return try TestAgent(replies: [
            method: .failure(error), "session.status": .success(Samples.status()),
            "agent.ping": .success(["pid": 1]),
            "provider.show": .success([
                "name": "app-template", "title": "A", "environments": [], "methods": [], "renewal": "refresh",
                "endpoints": hasEndpoints ? [endpoint] : [], "source": "bundled",
            ]),
        ])
    }

    @Test("a hint to sign in names the session and its provider")
    func sessionNamed() async throws {
        for (kind, hint) in [
            (ErrorKind.refused, "check what was entered; `authc login app-template -s shop` signs in again"),
            (.notSignedIn, "sign in: `authc login app-template -s shop`"),
            (.signInRequired, "sign in: `authc login app-template -s shop`"),
            (.unknownEndpoint, "`authc provider show app-template --endpoints` shows the endpoints"),
        ] {
            let agent = try Self.refusing("token.get", AgentError(kind, "It did not work."))
            defer { agent.stop() }
            let result = try await Program.run(["token"], folder: agent.folder)
            #expect(result.errors == "authc: It did not work.\n  \(hint)\n", "\(result)")
        }
    }

    @Test(
        "a refused sign-in is tried again with the same command; a secret from a descriptor is then asked for",
        arguments: [
            ("login app-template --remember", "login app-template --remember"),
            ("-s work login app-template --environment local", "-s work login app-template --environment local"),
            ("login app-template --secret-fd password=0", "login app-template"),
            ("login app-template --secret-fd=password=0 -s a", "login app-template -s a"),
            ("register app-template --no-input", "register app-template --no-input"),
        ])
    func triedAgain(line: String, again: String) async throws {
        let agent = try Self.refusing("login.start", AgentError(.refused, "The answers were refused."))
        defer { agent.stop() }
        let words = line.split(separator: " ").map(String.init)
        let result = try await Program.run(words, folder: agent.folder, input: "secret\n")
        #expect(result.status == 65, "\(result)")
        let hint = "  check what was entered; `authc \(again)` tries again\n"
        #expect(result.errors.hasSuffix(hint), "\(result)")
        let refusal = try await AdviceTests.refusal(again.split(separator: " ").map(String.init), in: agent.folder)
        #expect(refusal == nil)
    }

    @Test("after an error of an API, the provider and its endpoints can be shown")
    func api() async throws {
        let missing = AgentError(.notFound, "A did not find what was requested.", httpStatus: 404)
        for (hasEndpoints, end) in [(true, " --endpoints` shows the endpoints"), (false, "` shows the provider")] {
            let agent = try Self.refusing("api.request", missing, hasEndpoints: hasEndpoints)
            defer { agent.stop() }
            let result = try await Program.run(["request", "GET", "/uesrs"], folder: agent.folder)
            #expect(result.status == 65, "\(result)")
            #expect(result.errors.hasSuffix("  `authc provider show app-template\(end)\n"), "\(result)")
        }
        let agent = try Self.refusing("api.request", AgentError(.tooLarge, "The response is too large."))
        defer { agent.stop() }
        let large = try await Program.run(["request", "GET", "/users"], folder: agent.folder)
        #expect(large.errors.contains("`--output FILE` writes a response of any size"), "\(large)")
    }

    @Test("a command that cannot work as typed is shown as it would work")
    func commandLines() async throws {
        let etcd = AgentError(.unsupported, "Only etcd is shared by hosts; sessions are in memory.")
        let agent = try Self.refusing("cluster.status", etcd)
        defer { agent.stop() }
        for (line, hint) in [
            ("request GET users", "did you mean `authc request GET /users`?"),
            ("request GET users -s shop", "did you mean `authc request GET /users -s shop`?"),
            ("token --for api.example.org", "did you mean `authc token --for https://api.example.org`?"),
            ("token -s a --for api.example.org", "did you mean `authc token -s a --for https://api.example.org`?"),
            ("exec --for api.example.org -- true", "did you mean https://api.example.org?"),
            ("helper curl api.example.org", "did you mean `authc helper curl https://api.example.org`?"),
            ("cluster status", "set [etcd] first, see authd.toml(5); then `authc store migrate --to etcd` shares the"),
            (
                "lock --set-passphrase",
                "`authc lock --set-passphrase --passphrase-stdin < FILE` reads it from a file"
            ),
            (
                "export x.authd --no-input",
                "`authc export x.authd --passphrase-stdin < FILE` reads it from a file"
            ),
            (
                "store rekey --passphrase",
                "`authc store rekey --passphrase-stdin < FILE` reads it from a file"
            ),
        ] {
            let result = try await Program.run(line.split(separator: " ").map(String.init), folder: agent.folder)
            #expect(result.status == 64 && result.errors.contains("\n  \(hint)"), "\(line): \(result)")
        }
        let json = try await Program.run(["outbox", "list", "--json", "id"], folder: agent.folder)
        let hint = "did you mean `authc outbox list --json -s id`? `authc outbox list --help` describes the command"
        #expect(json.output.contains("\"hint\":\"\(hint)\""), "\(json)")
    }
}
