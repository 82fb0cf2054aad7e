import AuthWire
import Foundation
import TestSupport
import Testing

/// `authc login` without a provider.
@Suite("The first sign-in", .timeLimit(.minutes(2)))
struct FirstSignInTests {
    /// An agent with a profile of the user's, a bundled one, and each that is written.
    /// - Parameters:
    ///   - added: the environments of the bundled profile that are in the settings.
    ///   - problems: of each profile that is checked.
    ///   - refusal: the error of each sign-in.
    private static func agent(
        folder: String? = nil, added: [JSON] = [], problems: [JSON] = [], refusal: AgentError? = nil
    ) throws -> TestAgent {
        try TestAgent(folder: folder) { peer, request in
            switch request.method {
            case "provider.list":
                peer.reply(
                    request,
                    [
                        "providers": [
                            ["name": "app-template", "title": "App template", "source": "bundled"],
                            ["name": "shop", "title": "The shop", "source": "/etc/xdg/authd/providers/shop.toml"],
                        ]
                    ])
            case "provider.show":
                peer.reply(
                    request,
                    [
                        "name": "app-template", "title": "App", "renewal": "refresh", "endpoints": [],
                        "source": "bundled",
                        "methods": [["name": "password", "label": "Password", "fields": []]],
                        "environments": .array(
                            [
                                ["name": "production", "url": "https://api.app-template.example", "default": true],
                                ["name": "local", "url": "http://localhost:8080"],
                            ] + added),
                    ])
            case "login.start" where refusal != nil: peer.fail(request, refusal ?? .methodNotFound(""))
            case "login.start": peer.reply(request, ["login": "1", "kind": "done", "status": Samples.status()])
            case "provider.check": peer.reply(request, ["problems": .array(problems), "notes": []])
            default: peer.reply(request, [:])
            }
        }
    }

    private static func started(_ agent: TestAgent) -> JSON? {
        agent.requests.last { $0.method == "login.start" }?.params
    }

    private static func answer(
        _ answers: [(String, String)], _ agent: TestAgent, columns: UInt16 = 80, with variables: [String: String] = [:]
    ) async throws -> String {
        let terminal = try await Terminal(
            "authc login; echo \"exit $?\"", folder: agent.folder, columns: columns, environment: variables)
        for (question, answer) in answers {
            await terminal.waits(for: question)
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit ")
        await terminal.ends()
        return terminal.text
    }

    @Test("offers the user's providers, a URL, known providers, a description and the bundled profiles")
    func offers() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer([("Number, name or URL: ", "9"), ("not one of them", "1")], agent)
        for line in [
            "  1  shop: The shop\r\n", "  2  a URL: an MCP server", "  3  a known provider: atlassian, auth0,",
            "  4  an API with an OpenAPI", "  5  a server of a bundled profile: app-template", "exit 0",
        ] {
            #expect(text.contains(line), "\(text)")
        }
        #expect(Self.started(agent)?["provider"] == "shop")
    }

    @Test("fits 40 columns", arguments: ["C.UTF-8", "C"])
    func narrow(language: String) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer(
            [("Number, name or URL: ", "shop")], agent, columns: 40, with: ["LC_ALL": language])
        if language == "C" { #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(text)") }
        for line in text.split(whereSeparator: \.isNewline) { #expect(line.count <= 40, "\(line)") }
        #expect(Self.started(agent)?["provider"] == "shop")
    }

    @Test("a refused sign-in is tried again without the questions")
    func refused() async throws {
        let agent = try Self.agent(refusal: AgentError(.refused, "The answers were refused."))
        defer { agent.stop() }
        let text = try await Self.answer([("Number, name or URL: ", "1")], agent)
        #expect(text.contains("  check what was entered; `authc login shop` tries again\r\n"), "\(text)")
    }

    @Test("a URL, as an answer or after its number")
    func url() async throws {
        for answers in [
            [("Number, name or URL: ", "https://mcp.example.org/mcp")],
            [("Number, name or URL: ", "2"), ("URL: ", "mcp"), ("Write an address", "https://mcp.example.org/mcp")],
        ] {
            let agent = try Self.agent()
            defer { agent.stop() }
            let text = try await Self.answer(answers, agent)
            #expect(Self.started(agent)?["url"] == "https://mcp.example.org/mcp", "\(text)")
        }
    }

    @Test(
        "a wrong address is explained and the question is repeated; the third one ends the sign-in",
        arguments: [
            [("Number, name or URL: ", "")], [("Number, name or URL: ", "2"), ("URL: ", "")],
            [("Number, name or URL: ", "app-template"), ("or one of these names: ", "")],
        ])
    func wrongAddress(questions: [(String, String)]) async throws {
        let first = questions.map { ($0, $1.isEmpty ? "ftp://foo" : $1) }
        let wrong = [("https://, not with ftp://.", "http://foo.example.org"), ("use https://.", "https://a b")]
        let right = "https://api.example.org"
        let agent = try Self.agent()
        defer { agent.stop() }
        let again = try await Self.answer(first + [wrong[0], ("use https://.", right)], agent)
        #expect(again.contains("exit 0"), "\(again)")
        let started = try #require(Self.started(agent))
        #expect(started["url"]?.stringValue == right || started["environment"] == "mine", "\(again)")

        let other = try Self.agent()
        defer { other.stop() }
        let ended = try await Self.answer(first + wrong, other)
        #expect(ended.contains("authc: That is not the address of a server") && ended.contains("exit 64"), "\(ended)")
        #expect(Self.started(other) == nil && !FileManager.default.fileExists(atPath: other.folder + "/.config"))
    }

    @Test("a known provider: its profile is written and loaded, and the sign-in begins")
    func starter() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer(
            [
                ("Number, name or URL: ", "3"), ("Known provider: ", "githbu"), ("Did you mean\r\ngithub?", "github"),
                ("Client ID: ", "Iv1.0123456789abcdef"),
            ], agent)
        #expect(text.contains("exit 0"), "\(text)")
        #expect(Self.started(agent)?["provider"] == "github")
        #expect(agent.requests.contains { $0.method == "agent.reload" })
        let profile = agent.folder + "/.config/authd/providers/github.toml"
        #expect(try String(contentsOfFile: profile, encoding: .utf8).contains("Iv1.0123456789abcdef"))
        // It does so itself.
        #expect(text.contains("\(profile): written.") && !text.contains("authc reload"), "\(text)")
    }

    @Test("a profile that was written but not loaded is loaded", arguments: ["github", "store"])
    func written(name: String) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let folder = agent.folder + "/.config/authd/providers"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "".write(toFile: "\(folder)/\(name).toml", atomically: false, encoding: .utf8)
        let text = try await Self.answer([("Number, name or URL: ", name)], agent)
        #expect(text.contains("exit 0"), "\(text)")
        #expect(Self.started(agent)?["provider"] == .string(name))
        #expect(agent.requests.contains { $0.method == "agent.reload" })
    }

    @Test("a bundled profile: the address of the user's server becomes an environment")
    func bundled() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let question = "Address of its API, or one of these names: "
        let text = try await Self.answer(
            [("Number, name or URL: ", "app-template"), (question, "https://api.example.org")], agent)
        #expect(text.contains("local: http://localhost:8080") && !text.contains("production:"), "\(text)")
        // Both settings are one change.
        #expect(text.components(separatedBy: "authd: reloaded").count == 2, "\(text)")
        #expect(agent.requests.count { $0.method == "agent.reload" } == 1)
        #expect(Self.started(agent)?["environment"] == "mine")
        let settings = agent.folder + "/.config/authd/authd.toml"
        let written = try String(contentsOfFile: settings, encoding: .utf8)
        #expect(written.contains("mine = \"https://api.example.org\""))
        // The next sign-in goes there, too.
        #expect(written.contains("\ndefault_environment = \"mine\""), "\(written)")
        _ = try await Self.answer(
            [("Number, name or URL: ", "5"), ("Profile: ", "app-template"), (question, "local")], agent)
        #expect(Self.started(agent)?["environment"] == "local")
    }

    @Test("another server of a bundled profile gets a separate environment, and a known one is not added again")
    func secondServer() async throws {
        let first = try Self.agent()
        let question = "Address of its API, or one of these names: "
        let profile = ("Number, name or URL: ", "app-template")
        _ = try await Self.answer([profile, (question, "https://one.example.org")], first)
        #expect(Self.started(first)?["environment"] == "mine")
        first.vanish()
        let second = try Self.agent(
            folder: first.folder, added: [["name": "mine", "url": "https://one.example.org"]])
        defer { second.stop() }
        let text = try await Self.answer([profile, (question, "https://two.example.org")], second)
        #expect(Self.started(second)?["environment"] == "mine-2", "\(text)")
        let path = first.folder + "/.config/authd/authd.toml"
        let settings = try String(contentsOfFile: path, encoding: .utf8)
        #expect(settings.contains("mine = \"https://one.example.org\""), "\(settings)")
        #expect(settings.contains("mine-2 = \"https://two.example.org\""), "\(settings)")
        _ = try await Self.answer([profile, (question, "https://one.example.org/")], second)
        #expect(Self.started(second)?["environment"] == "mine")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == settings)
    }

    /// Writes the description of an API, and answers the questions about it.
    private static func describe(_ agent: TestAgent, _ answers: [(String, String)]) async throws -> String {
        try #"{"openapi": "3.0.0", "servers": [{"url": "https://store.example.org"}], "paths": {}}"#.write(
            toFile: agent.folder + "/my  api.json", atomically: false, encoding: .utf8)
        return try await answer([("Number, name or URL: ", "4")] + answers, agent)
    }

    private static let profileQuestions = [
        ("Base URL of its API [https://store.example.org]: ", ""), ("Name that users see", ""),
        ("Path of the sign-in request", ""), ("Fields of the request", ""), ("Place of the token in", ""),
        ("Place of the refresh token", ""), ("lifetime in seconds", ""), ("Place of the user", ""),
        ("request that renews the token", ""),
    ]

    @Test("a description becomes a profile, which is checked and loaded, and the sign-in begins")
    func description() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let question = "File of the description: "
        let text = try await Self.describe(
            agent,
            [
                (question, "~/nothing.json"),
                // Spaces inside the name are kept.
                ("cannot open \(agent.folder)/nothing.json", " ~/my  api.json "),
                ("Short name for it: ", "shop"), ("a profile shop already", "store"),
            ] + Self.profileQuestions)
        #expect(text.contains("exit 0") && !text.contains("authc reload"), "\(text)")
        #expect(Self.started(agent)?["provider"] == "store")
        let methods = agent.requests.map(\.method)
        let (check, reload) = (methods.firstIndex(of: "provider.check"), methods.firstIndex(of: "agent.reload"))
        #expect(try #require(check) < #require(reload))
        let profile = agent.folder + "/.config/authd/providers/store.toml"
        #expect(try String(contentsOfFile: profile, encoding: .utf8).contains("https://store.example.org"))
    }

    @Test("a description whose profile the agent would not accept leaves no file")
    func refusedDescription() async throws {
        let agent = try Self.agent(problems: [
            ["file": "store.toml", "line": 3, "key": "sign_in.path", "expected": "another path"]
        ])
        defer { agent.stop() }
        let text = try await Self.describe(
            agent,
            [("File of the description: ", "~/my  api.json"), ("Short name for it: ", "store")]
                + Self.profileQuestions)
        #expect(text.contains("exit 78") && text.contains("another path"), "\(text)")
        #expect(!FileManager.default.fileExists(atPath: agent.folder + "/.config/authd/providers/store.toml"))
        #expect(Self.started(agent) == nil)
    }

    @Test("the end of the input at a question about a profile ends it")
    func endedDescription() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.describe(
            agent,
            [
                ("File of the description: ", "~/my  api.json"), ("Short name for it: ", "store"),
                ("Base URL of its API [https://store.example.org]: ", "\u{4}\u{4}"),
            ])
        #expect(text.contains("exit 77"), "\(text)")
    }

    @Test("without a terminal it lists the commands, each of which the parser accepts")
    func noTerminal() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(["login"], folder: agent.folder)
        #expect(result.status == 64 && result.output.isEmpty, "\(result)")
        #expect(Self.started(agent) == nil)
        let commands = result.errors.matches(of: /`authc ([^`]+)`/).map { String($0.1) }
        #expect(commands.count >= 7 && commands.first == "login shop", "\(commands)")
        for command in commands {
            let words = command.split(separator: " ").map(String.init)
            #expect(try await AdviceTests.refusal(words, in: agent.folder) == nil, "\(command)")
        }
        let json = try await Program.run(["login", "--json"], folder: agent.folder)
        #expect(try JSON(parsing: json.output)["error"]?["exit"] == 64)
    }

    @Test("the end of the input ends it, and nothing is written")
    func ended() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc login; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "Number, name or URL: ")
        terminal.type("\u{4}")
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("exit 77"), "\(terminal.text)")
        #expect(!FileManager.default.fileExists(atPath: agent.folder + "/.config"))
    }

    @Test("^C at a question ends it by the signal, and nothing is written")
    func interrupted() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        for questions in [["Number, name or URL: "], ["Number, name or URL: ", "Known provider: "]] {
            // A shell that ignores the signal itself shows the status.
            let terminal = try await Terminal(
                "trap : INT; authc login; echo \"exit $?\"", folder: agent.folder)
            for question in questions.dropLast() {
                await terminal.waits(for: question)
                terminal.type("3\n")
            }
            await terminal.waits(for: questions.last ?? "")
            terminal.type("\u{3}")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("exit 130"), "\(terminal.text)")
            #expect(!FileManager.default.fileExists(atPath: agent.folder + "/.config"))
        }
    }

    @Test("--no-input on a terminal is named as the reason")
    func noInput() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let terminal = try await Terminal("authc login --no-input; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("--no-input forbids questions"), "\(terminal.text)")
        #expect(terminal.text.contains("exit 64"), "\(terminal.text)")
    }

    @Test("a socket unit that is installed but not running is started", arguments: ["login", "register"], [0, 1])
    func startsUnit(verb: String, isEnabled: Int) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let hidden = agent.folder + "/hidden"
        #expect(rename(agent.path, hidden) == 0)
        let program = agent.folder + "/systemctl"
        let script = """
            #!/bin/sh
            echo "$@" >> '\(agent.folder)/calls'
            test "$2" = start || exit \(isEnabled)
            mv '\(hidden)' '\(agent.path)'

            """
        try script.write(toFile: program, atomically: false, encoding: .utf8)
        #expect(chmod(program, 0o755) == 0)
        let result = try await Program.run(
            [verb, "shop"], folder: agent.folder, environment: ["PATH": "\(agent.folder):/usr/bin:/bin"])
        #expect(result.status == 0, "\(result)")
        #expect(result.errors.hasPrefix("Started authd.socket."), "\(result.errors)")
        let calls = try String(contentsOfFile: agent.folder + "/calls", encoding: .utf8)
        #expect(calls == "--user start authd.socket\n--user is-enabled authd.socket\n")
        #expect(result.errors.contains("systemctl --user enable authd.socket") == (isEnabled != 0), "\(result.errors)")
    }

    @Test("a user manager that hangs does not hold up the sign-in")
    func hangingManager() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/systemctl"
        try "#!/bin/sh\nexec tail -f /dev/null\n".write(toFile: program, atomically: false, encoding: .utf8)
        #expect(chmod(program, 0o755) == 0)
        let result = try await Program.run(
            ["login", "shop", "--no-input", "--timeout", "1s"], folder: folder,
            environment: ["PATH": "\(folder):/usr/bin:/bin"])
        #expect(result.status == 69 && result.errors.hasPrefix("authc: no agent answers on "), "\(result)")
    }

    @Test("without such a unit the message says how to start the agent, and nothing else is printed")
    func noUnit() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let program = folder + "/systemctl"
        try "#!/bin/sh\necho 'Unit authd.socket not found.' >&2\nexit 5\n".write(
            toFile: program, atomically: false, encoding: .utf8)
        #expect(chmod(program, 0o755) == 0)
        let environment = ["PATH": "\(folder):/usr/bin:/bin"]
        let result = try await Program.run(["login"], folder: folder, environment: environment)
        #expect(result.status == 69 && result.errors.hasPrefix("authc: no agent answers on "), "\(result)")
        let named = try await Program.run(
            ["login", "--socket", folder + "/other"], folder: folder, environment: environment)
        #expect(named.status == 69 && !named.errors.contains("Unit"), "\(named)")
    }
}
