import AuthWire
import Foundation
import TestSupport
import Testing

@Suite("Options of authc", .timeLimit(.minutes(2)))
struct AuthcOptionTests {
    @Test(
        "-s is refused where it has no effect",
        arguments: [
            ["list"], ["use", "x"], ["prompt"], ["network"], ["doctor"], ["reload"], ["version"], ["unlock"], ["lock"],
            ["provider", "list"], ["provider", "show", "x"], ["provider", "check", "x"], ["provider", "new"],
            ["provider", "forget", "x"],
            ["store", "rekey"], ["store", "migrate", "--to", "sealed-file"], ["import", "x"], ["redirect", "x"],
            ["agent", "restart"],
        ])
    func sessionless(arguments: [String]) async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(arguments + ["-s", "shop"], folder: agent.folder)
        #expect(result.status == 64 && result.errors.contains("'-s'"), "\(result.errors)")
        #expect(agent.requests.isEmpty)
    }

    @Test("options that every command may have also stand before it")
    func beforeTheCommand() async throws {
        let agent = try TestAgent(replies: ["session.status": .success(Samples.status())])
        defer { agent.stop() }
        let result = try await Program.run(
            ["-s", "shop", "--json", "--timeout=60s", "status"], folder: agent.folder)
        #expect(result.status == 0 && result.output.hasPrefix("{"), "\(result.errors)")
        #expect(agent.requests.map { $0.params?["session"]?.stringValue } == ["shop"])
        let refused = try await Program.run(["-s", "shop", "list"], folder: agent.folder)
        #expect(refused.status == 64)
        let unknown = try await Program.run(["--json", "stauts"], folder: agent.folder)
        #expect(unknown.status == 64 && unknown.output.contains("authc status"), "\(unknown.output)")
    }

    @Test("--version overlooks no mistake on its line, in both programs")
    func versionAndMore() async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for program in [Program.authc, QuickAuthc.full] {
            func run(_ words: [String]) async throws -> Program {
                try await Program.run(words, folder: folder, program: program)
            }
            for words in [
                ["--version", "--x"], ["--x", "--version"], ["--version", "x"], ["--version", "--json"],
                ["list", "--version", "--x"], ["list", "--version", "more"],
            ] {
                let result = try await run(words)
                #expect(result.status == 64 && !result.output.contains(Release.version), "\(words): \(result)")
                #expect(!(result.output + result.errors).isEmpty, "\(words)")
            }
            for words in [["--version"], ["list", "--version"], ["request", "--version"]] {
                let result = try await run(words)
                #expect(result.status == 0 && result.output == "authc \(Release.version)\n", "\(words): \(result)")
            }
        }
    }

    @Test("--timeout ends the wait for a device, and the sign-in is cancelled")
    func deviceTimeout() async throws {
        let agent = try TestAgent { peer, request in
            switch request.method {
            // The client asks for the identity of the agent before it sends anything that may be secret.
            case "agent.ping": peer.reply(request, ["pid": 1])
            case "login.start":
                peer.reply(
                    request,
                    [
                        "login": "l1", "kind": "device", "verification_uri": "https://id.example/device",
                        "user_code": "ABCD", "expires_at": 4_000_000_000,
                    ])
            case "login.cancel":
                peer.reply(
                    request, ["login": "l1", "kind": "failed", "error": AgentError(.denied, "Cancelled.").json])
            default: break
            }
        }
        defer { agent.stop() }
        let result = try await Program.run(["login", "id", "--timeout", "1s"], folder: agent.folder)
        #expect(result.status == 75 && result.errors.contains("did not end within 1 s"), "\(result.errors)")
        #expect(agent.requests.last?.method == "login.cancel")
    }

    @Test("--set NAME=@FILE sends the text of the file, and NAME:=@FILE its JSON")
    func setFromFile() async throws {
        let agent = try TestAgent(replies: ["user.update": .success(["user": ["id": "7"], "raw": [:]])])
        defer { agent.stop() }
        try "Ada King\n".write(toFile: agent.folder + "/name", atomically: true, encoding: .utf8)
        try "[1, 2]".write(toFile: agent.folder + "/list", atomically: true, encoding: .utf8)
        let result = try await Program.run(
            [
                "whoami", "--set", "name=@\(agent.folder)/name", "--set", "list:=@\(agent.folder)/list", "--set",
                #"handle:="@ada""#,
            ], folder: agent.folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(
            agent.requests.last?.params?["fields"] == ["name": "Ada King", "list": [1, 2], "handle": "@ada"])
    }

    /// A slash and the mark after it are one character.
    @Test("the name of a file is sent without its folder, whatever the name begins with")
    func nameOfFile() async throws {
        let agent = try TestAgent(replies: [
            "api.request": .success(["status": 200, "headers": [:], "from_cache": false])
        ])
        defer { agent.stop() }
        try "a".write(toFile: agent.folder + "/\u{301}a", atomically: false, encoding: .utf8)
        let result = try await Program.run(
            ["request", "POST", "/up", "-s", "x", "-F", "file=@\(agent.folder)/\u{301}a"], folder: agent.folder)
        #expect(result.status == 0, "\(result.errors)")
        #expect(agent.requests.last?.params?["multipart"]?.arrayValue?.first?["filename"] == "\u{301}a")
    }

    /// An agent with an endpoint that has a secret argument.
    static func agentWithSecretArgument() throws -> TestAgent {
        let endpoint: JSON = [
            "name": "create-user", "method": "POST", "path": "/users",
            "args": [
                ["name": "email", "type": "text", "optional": false, "secret": false],
                ["name": "password", "type": "text", "optional": false, "secret": true],
            ],
        ]
        let provider: JSON = [
            "name": "app-template", "title": "A", "environments": [], "methods": [], "renewal": "refresh",
            "endpoints": [endpoint], "source": "bundled",
        ]
        return try TestAgent(replies: [
            "session.status": .success(Samples.status()), "provider.show": .success(provider),
            "api.call": .failure(AgentError(.validation, "create-user of A takes email, password.")),
        ])
    }

    @Test("authc asks for no secret while other arguments are missing")
    func secretAfterTheRest() async throws {
        let agent = try Self.agentWithSecretArgument()
        defer { agent.stop() }
        let terminal = try await Terminal(
            "authc call create-user; echo \"first $?\"; authc call create-user email=a; echo \"second $?\"",
            folder: agent.folder)
        await terminal.waits(for: "first ")
        let first = terminal.text.components(separatedBy: "first ")[0]
        #expect(first.contains("authc: ") && !first.contains("password: "), "\(terminal.text)")
        await terminal.waits(for: "password: ")
        terminal.type("hidden\n")
        await terminal.waits(for: "second ")
        #expect(agent.requests.last?.params?["args"] == ["email": "a", "password": "hidden"])
        await terminal.ends()
    }

    @Test(
        "a secret is never read from authc's own connection, whose number a descriptor may have that was not opened",
        arguments: ["login app-template --field email=a@b", "call create-user email=a"])
    func unopenedDescriptor(command: String) async throws {
        let agent = try Self.agentWithSecretArgument()
        defer { agent.stop() }
        for number in 3...5 {
            let line = "exec \"$0\" \(command) --no-input --secret-fd password=\(number) \(number)<&-"
            let result = try await Program.run(["-c", line, Program.authc], folder: agent.folder, program: "/bin/bash")
            #expect(result.status == 64 && result.errors.contains("\(number) is not open"), "\(result.errors)")
        }
        #expect(agent.requests.isEmpty)
    }

    @Test(
        "two options that read the same descriptor are refused before anything is sent",
        arguments: [
            ("lock --set-passphrase --passphrase-stdin --current-fd 0", "--current-fd and --passphrase-stdin"),
            ("store rekey --passphrase-stdin --current-fd 0", "--current-fd and --passphrase-stdin"),
            (
                "login app-template --secret-fd password=3 --secret-fd code=3",
                "--secret-fd password and --secret-fd code"
            ),
            ("login app-template --password-stdin --secret-fd code=0", "--secret-fd code and --password-stdin"),
        ])
    func sharedDescriptor(command: String, names: String) async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let line = "exec \"$0\" \(command) --no-input <<<'a long secret' 3<<<'another secret'"
        let result = try await Program.run(["-c", line, Program.authc], folder: agent.folder, program: "/bin/bash")
        #expect(result.status == 64 && result.errors.contains("\(names) both read descriptor"), "\(result.errors)")
        #expect(agent.requests.allSatisfy { $0.method == "agent.ping" })
    }

    @Test(
        "--current-fd is never read from authc's own connection", arguments: ["lock --set-passphrase", "store rekey"])
    func unopenedCurrent(command: String) async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        for number in 3...5 {
            let line = "exec \"$0\" \(command) --passphrase-stdin --no-input --current-fd \(number) \(number)<&-"
            let result = try await Program.run(["-c", line, Program.authc], folder: agent.folder, program: "/bin/bash")
            #expect(result.status == 64 && result.errors.contains("\(number) is not open"), "\(result.errors)")
        }
        #expect(agent.requests.isEmpty)
    }

    @Test("an export is not written to a terminal")
    func exportToTerminal() async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let terminal = try await Terminal("authc export -; echo \"exit $?\"", folder: agent.folder)
        await terminal.waits(for: "exit ")
        #expect(
            terminal.text.contains("exit 64") && terminal.text.contains("a terminal cannot show an export"),
            "\(terminal.text)")
        #expect(agent.requests.isEmpty)
        await terminal.ends()
    }

    @Test("a table in a file or pipe has one line per row and unbroken paths")
    func pipedTables() async throws {
        let path = "/home/ada/.config/authd/providers/" + String(repeating: "long name ", count: 12) + "x.toml"
        let provider: JSON = [
            "name": "mine", "title": "Mine", "environments": ["production"], "methods": ["password"],
            "source": .string(path),
        ]
        let detail: JSON = [
            "name": "mine", "title": "Mine", "environments": [], "methods": [], "renewal": "refresh", "endpoints": [],
            "source": .string(path),
        ]
        let session = Samples.status([
            "provider": .string(String(repeating: "p", count: 90)), "unsaved": true,
            "store_error": .string("cannot write \(path)"),
        ])
        let info: JSON = [
            "version": "0.1.0", "protocol": 2, "pid": 4711, "started_at": 1_700_000_000, "features": [],
            "store": ["kind": "sealed-file", "state": "failed", "message": .string("cannot open \(path)")],
        ]
        let agent = try TestAgent(replies: [
            "provider.list": .success(["providers": [provider]]), "provider.show": .success(detail),
            "session.list": .success(["sessions": [session]]), "session.status": .success(session),
            "agent.info": .success(info), "agent.reload": .success(["message": .string(ReloadResult.unchanged)]),
            "network.status": .success(["state": "online", "since": 1_700_000_000, "providers": [:]]),
        ])
        defer { agent.stop() }
        for arguments in [["provider", "list"], ["provider", "show", "mine"]] {
            let result = try await Program.run(arguments, folder: agent.folder)
            #expect(result.output.split(separator: "\n").contains { $0.contains(path) }, "\(result.output)")
        }
        let list = try await Program.run(["list"], folder: agent.folder)
        #expect(list.output.split(separator: "\n").count == 1, "\(list.output)")
        let status = try await Program.run(["status"], folder: agent.folder)
        #expect(status.output.contains(String(repeating: "p", count: 90)), "\(status.output)")
        #expect(status.output.split(separator: "\n").contains { $0.contains(path) }, "\(status.output)")
        let doctor = try await Program.run(["doctor"], folder: agent.folder)
        #expect(doctor.output.split(separator: "\n").contains { $0.contains(path) }, "\(doctor.output)")
    }

    @Test(
        "a usage error is JSON with --json=FIELDS too, unless it belongs to the program that is run",
        arguments: [
            (["stauts", "--json=session"], true), (["--json=session", "stauts"], true),
            (["status", "--json=session", "--nope"], true), (["status", "--json", "--nope"], true),
            (["exec", "--nope", "--", "true", "--json"], false), (["stauts", "--", "--json=session"], false),
        ])
    func usageAsJSON(arguments: [String], isJSON: Bool) async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(arguments, folder: agent.folder)
        #expect(result.status == 64)
        #expect(result.output.hasPrefix(#"{"error":{"kind":"usage""#) == isJSON, "\(result.output)")
        #expect(result.errors.isEmpty == isJSON, "\(result.errors)")
    }

    @Test(
        "the HTTP status is shown unless the message has it as such",
        arguments: [
            ("There is no entry 4012.", true), ("App refused entry 401.", true), ("It is unreadable (401).", false),
            ("App sent a page (HTTP 401).", false),
        ])
    func httpStatus(message: String, isShown: Bool) async throws {
        let error = AgentError(.refused, message, httpStatus: 401)
        let agent = try TestAgent(replies: ["session.validate": .failure(error)])
        defer { agent.stop() }
        let result = try await Program.run(["validate"], folder: agent.folder)
        #expect(result.status == 65)
        #expect(result.errors.contains("\n  HTTP 401") == isShown, "\(result.errors)")
    }

    @Test(
        "a similar session is suggested, however -s is written",
        arguments: [["-s", "shpo"], ["--session=shpo"], ["-s=shpo"]])
    func similarSession(option: [String]) async throws {
        let error = AgentError(.unknownSession, "There is no session named shpo: run `authc list` to see all sessions.")
        let agent = try TestAgent(replies: [
            "session.validate": .failure(error), "session.list": .success(["sessions": [Samples.status()]]),
        ])
        defer { agent.stop() }
        let result = try await Program.run(["validate"] + option, folder: agent.folder)
        #expect(result.errors.contains("did you mean shop?"), "\(result.errors)")
    }

    @Test("a missing method of policy test is reported like any other missing name")
    func missingMethod() async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(["policy", "test", "--as-terminal"], folder: agent.folder)
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("authc: Name a method, such as token.get.\n"), "\(result.errors)")
        #expect(agent.requests.isEmpty)
    }

    @Test("help for help is reported by name")
    func helpForHelp() async throws {
        let agent = try TestAgent(replies: [:])
        defer { agent.stop() }
        let result = try await Program.run(["help", "help"], folder: agent.folder)
        #expect(result.status == 64)
        #expect(result.errors.hasPrefix("authc: there is no command 'help'\n"), "\(result.errors)")
    }
}
