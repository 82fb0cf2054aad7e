import AuthWire
import Foundation
import TestSupport
import Testing

/// A value that is misspelt on the command line is refused, and the right one is named.
@Suite("Misspelt values", .timeLimit(.minutes(2)))
struct MisspeltValueTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let words: [String]
        let meant: String
        let status: Int32

        init(_ line: String, _ meant: String, status: Int32 = 64) {
            (words, self.meant, self.status) = (line.split(separator: " ").map(String.init), meant, status)
        }

        var testDescription: String { words.joined(separator: " ") }
    }

    static let cases = [
        // Words of one option or argument.
        Case("stats --metrics prom", "prometheus"), Case("stats --metrics openmetric", "openmetrics"),
        Case("completion bsh", "bash"), Case("shell-init fsh", "fish"), Case("wait --until actve", "active"),
        Case("env --shell fsh", "fish"), Case("exec --env A=acess_token -- true", "access_token"),
        Case("store migrate --to sealed-fle", "sealed-file"), Case("call list-users --cache relod", "reload"),
        Case("http add x --view metrcs", "metrics"), Case("helper install gti", "git"),
        Case("policy test token.gte", "token.get"), Case("policy test token.get --as-sandbox flatpack", "flatpak"),
        Case("policy test token.get --as-listener extr", "extra"),
        // Actions of helpers.
        Case("helper docker gte", "get"), Case("helper docker stor", "store"), Case("helper pip gte https://x", "get"),
        Case("helper terraform forgte x", "forget"),
        // Names that the agent knows.
        Case("proxy -s app-tmplate", "app-template"), Case("mcp https://x -s app-tmplate", "app-template"),
        Case("http add x -s app-tmplate", "app-template"), Case("status -s app-tmplate", "app-template"),
        Case("policy test api.call --endpoint list-userz", "list-users"),
        Case("provider show app-tmplate", "app-template"),
        // Fields of a sign-in, of JSON and of the settings.
        Case("login app-template --no-input --field emial=a", "email"),
        Case("list --json sesion", "session"), Case("cluster status --json host", "hosts"),
        Case("config set notifications tru", "true"), Case("config set log_levle info", "log_level"),
        Case("cluster status --json hots", "hosts"),
        // authd checks the values of settings.
        Case("config set log_level debgu", "debug", status: 78),
        Case("config set providers.app-tmplate.default_environment local", "app-template", status: 78),
        Case("config set providers.app-tmplate.environments.mine http://localhost", "app-template", status: 78),
        Case("config set providers.app-template.default_environment locl", "local", status: 78),
        Case("config set prompt.format {sesion}", "{session}", status: 78),
        // Methods of HTTP.
        Case("request GTE /users", "GET"), Case("request pots /users", "POST"), Case("request PTACH /users", "PATCH"),
        Case("request DELTE /users", "DELETE"), Case("request HEADS /users", "HEAD"),
    ]

    private static func agent() throws -> TestAgent {
        let provider: JSON = [
            "name": "app-template", "title": "A", "environments": [],
            "methods": [
                [
                    "name": "password", "label": "Password",
                    "fields": [["name": "email", "label": "Email", "secret": false, "optional": false]],
                ]
            ],
            "renewal": "refresh", "endpoints": [["name": "list-users", "method": "GET", "path": "/users", "args": []]],
            "source": "bundled",
        ]
        let status = Samples.status(["session": "app-template"])
        return try TestAgent { peer, request in
            switch request.method {
            case "session.list": peer.reply(request, ["sessions": [status]])
            case "session.status" where request.params?["session"]?.stringValue == "app-tmplate":
                peer.fail(
                    request,
                    AgentError(
                        .unknownSession, "There is no session named app-tmplate: run `authc list` to see all sessions.")
                )
            case "session.status": peer.reply(request, status)
            case "provider.list":
                peer.reply(
                    request,
                    [
                        "providers": [
                            [
                                "name": "app-template", "title": "A", "environments": [], "methods": ["password"],
                                "source": "bundled",
                            ]
                        ]
                    ])
            case "provider.show" where request.params?["provider"]?.stringValue == "app-template":
                peer.reply(request, provider)
            case "provider.show":
                peer.fail(
                    request,
                    AgentError(
                        .unknownProvider,
                        "There is no provider named app-tmplate: run `authc provider list` to see all providers."))
            case "agent.ping": peer.reply(request, ["pid": 1])
            case "api.request": peer.reply(request, ["status": 200, "headers": [:], "body": "ok"])
            default: peer.fail(request, .methodNotFound(request.method))
            }
        }
    }

    @Test("are refused with the one that was meant", arguments: cases)
    func table(trial: Case) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let result = try await Program.run(trial.words, folder: agent.folder)
        #expect(result.status == trial.status, "\(result)")
        // Errors of a command with --json are on stdout.
        let text = (result.output + result.errors).lowercased()
        #expect(text.contains("did you mean \(trial.meant.lowercased())?"), "\(result)")
        let wasSent = agent.requests.contains { ["api.request", "api.call", "login.start"].contains($0.method) }
        #expect(!wasSent, "\(agent.requests)")
    }

    @Test("of a program's session add no program; a name that is not similar to a session's adds one")
    func client() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        #expect(try await Program.run(["http", "add", "x", "-s", "app-tmplate"], folder: agent.folder).status == 64)
        let list = try await Program.run(["http", "list", "--json"], folder: agent.folder)
        #expect(!list.output.contains("app-tmplate"), "\(list)")
        let added = try await Program.run(["http", "add", "x", "-s", "work"], folder: agent.folder)
        #expect(added.status == 0 && added.errors.contains("Added x"), "\(added)")
    }

    @Test(
        "of authd are refused with the one that was meant",
        arguments: [
            ("--store", "sealedfile", "sealed-file"), ("--log-level", "debgu", "debug"),
        ])
    func agentOptions(option: String, word: String, meant: String) async throws {
        let folder = try TestFolder.make()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let result = try await Program.run([option, word], folder: folder, program: Programs.authd)
        #expect(result.status == 64 && result.errors.contains("Did you mean \(meant)?"), "\(result)")
    }

    @Test("of listeners that may exist later are reported")
    func unknownListener() async throws {
        let agent = try TestAgent(replies: [
            "policy.test": .success(["allowed": true, "enforced": true, "rule": "default.token", "steps": []]),
            "agent.ping": .success([:]),
        ])
        defer { agent.stop() }
        let line = ["policy", "test", "token.get", "--as-listener", "foo"]
        let result = try await Program.run(line, folder: agent.folder)
        #expect(result.errors == "there is no listener 'foo' yet; the listeners are api, extra, dbus\n", "\(result)")
        #expect(agent.requests.last?.params?["listener"] == "foo")
    }

    @Test(
        "do not include methods that servers have besides the common ones",
        arguments: ["PROPFIND", "PURGE", "REPORT", "BDELETE"])
    func otherMethods(method: String) async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        _ = try await Program.run(["request", method, "/users"], folder: agent.folder)
        #expect(agent.requests.contains { $0.method == "api.request" && $0.params?["method"] == .string(method) })
    }
}
