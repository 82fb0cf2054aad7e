import AuthWire
import Foundation
import TestSupport
import Testing

/// After a sign-in, authc names the command for the token. For a session that does not exist, it names the sign-in.
@Suite("What authc advises before and after a sign-in", .timeLimit(.minutes(1)))
struct SignInAdviceTests {
    private static let login =
        "authc login app-template --field email=ada@example.org --secret-fd password=3 3<password"

    @Test(
        "after a sign-in, the command for its token is named on a terminal only, and not beside JSON",
        arguments: [("", true), (" --json", false), (" 2>log", false)])
    func token(end: String, isNamed: Bool) async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        try "right".write(toFile: agent.folder + "/password", atomically: true, encoding: .utf8)
        let terminal = try await Terminal(
            "cd \"$XDG_RUNTIME_DIR\"; \(Self.login)\(end); echo \"exit $?\"; touch log; cat log; echo =end=",
            folder: agent.folder)
        await terminal.waits(for: "=end=\r\n")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
        #expect(terminal.text.contains("`authc token -s shop` prints the token.") == isNamed, "\(terminal.text)")
    }

    /// An agent without sessions. `shop` is on the user's server, the addresses of `sample` are examples, and `here` is an
    /// environment of both.
    private static func agent(without name: String) throws -> TestAgent {
        let unknown = AgentError(
            .unknownSession, "There is no session named \(name): run `authc list` to see all sessions.")
        let servers: [String: [String: String]] = [
            "shop": ["main": "https://shop.example.org", "test": "https://test.example.org", "here": "http://[::1]"],
            "sample": ["main": "https://sample.example", "trial": "https://trial.example", "here": "http://[::1]"],
        ]
        return try TestAgent { peer, request in
            switch request.method {
            case "session.list": peer.reply(request, ["sessions": []])
            case "session.status", "token.get", "session.logout": peer.fail(request, unknown)
            case "provider.list":
                let all = servers.map { name, places -> JSON in
                    [
                        "name": .string(name), "title": "A", "methods": ["password"], "source": "bundled",
                        "environments": .array(places.keys.map(JSON.string)),
                    ]
                }
                peer.reply(request, ["providers": .array(all)])
            case "provider.show":
                let name = request.params?["provider"]?.stringValue ?? ""
                let places = (servers[name] ?? [:]).map { place, url -> JSON in
                    ["name": .string(place), "url": .string(url), "default": .bool(place == "main")]
                }
                peer.reply(
                    request,
                    [
                        "name": .string(name), "title": "A", "environments": .array(places), "methods": [],
                        "renewal": "refresh", "endpoints": [], "source": "bundled",
                    ])
            default: peer.reply(request, [:])
            }
        }
    }

    @Test(
        "a session that does not exist: the sign-in that creates it, if its name is known",
        arguments: [
            ("token -s shop", "sign in first: `authc login shop`"),
            ("status --session=shop", "sign in first: `authc login shop`"),
            ("token -s sample", "sign in first: `authc login`"),
            ("token -s test", "sign in first: `authc login shop -s test --environment test`"),
            ("token -s trial", nil), ("token -s here", nil), ("token -s nope", nil), ("logout -s shop", nil),
            (
                "token -s github",
                "GitHub is a known provider: `authc provider add github --client-id ID` writes its profile"
            ),
        ] as [(String, String?)])
    func unknownSession(line: String, hint: String?) async throws {
        let words = line.split { " =".contains($0) }.map(String.init)
        let agent = try Self.agent(without: try #require(words.last))
        defer { agent.stop() }
        let result = try await Program.run(line.split(separator: " ").map(String.init), folder: agent.folder)
        let lines = result.errors.split(separator: "\n").map(String.init)
        #expect(result.status == 64 && lines.first?.hasSuffix("run `authc list` to see all sessions.") == true)
        #expect(lines.dropFirst().first == hint.map { "  " + $0 } && lines.count == (hint == nil ? 1 : 2), "\(result)")
    }

    @Test(
        "the session is named if AUTHD_SESSION names another one, in which the sign-in would be made otherwise",
        arguments: [
            ("token -s shop", "work", "authc login shop -s shop"), ("token -s shop", "shop", "authc login shop"),
            ("token", "shop", "authc login shop"), ("token -s sample", "work", "authc login -s sample"),
            ("token", "test", "authc login shop -s test --environment test"),
        ])
    func variable(line: String, variable: String, command: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        let agent = try Self.agent(without: words.count > 1 ? words[2] : variable)
        defer { agent.stop() }
        let result = try await Program.run(words, folder: agent.folder, environment: ["AUTHD_SESSION": variable])
        #expect(result.status == 64 && result.errors.hasSuffix("\n  sign in first: `\(command)`\n"), "\(result)")
    }

    private static func refusal(of line: String, _ error: AgentError, at url: String) async throws -> Program {
        let agent = try TestAgent { peer, request in
            switch request.method {
            case "login.start": peer.fail(request, error)
            case "provider.show":
                peer.reply(
                    request,
                    [
                        "name": "shop", "title": "Shop", "renewal": "refresh", "endpoints": [], "source": "bundled",
                        "methods": [["name": "password", "label": "Password", "fields": []]],
                        "environments": [["name": "main", "url": .string(url), "default": true]],
                    ])
            default: peer.reply(request, [:])
            }
        }
        defer { agent.stop() }
        return try await Program.run(line.split(separator: " ").map(String.init), folder: agent.folder)
    }

    @Test(
        "an unreachable address that is only an example: the command that asks for the user's",
        arguments: [
            ("https://api.shop.example", "https://api.shop.example is only an example: `authc login` asks for"),
            ("https://api.shop.example.org", "`authc doctor` looks for the cause"),
        ])
    func example(url: String, hint: String) async throws {
        let host = url.dropFirst("https://".count)
        let error = AgentError(
            .providerUnreachable, "The name \(host) could not be resolved; check the network and the address.")
        let result = try await Self.refusal(of: "login shop", error, at: url)
        #expect(result.status == 75 && result.errors.contains("\n  " + hint), "\(result)")
    }

    @Test(
        "an address without its scheme instead of a provider",
        arguments: [
            ("mcp.example.org/mcp", "\n  did you mean `authc login https://mcp.example.org/mcp`?\n"), ("zzzz", nil),
            ("mcp.example.org/a^b", nil),
        ] as [(String, String?)])
    func address(name: String, hint: String?) async throws {
        let error = AgentError(
            .unknownProvider, "There is no provider named \(name): run `authc provider list` to see all providers.")
        let result = try await Self.refusal(of: "login \(name)", error, at: "https://api.example.org")
        #expect(result.status == 64 && result.errors.contains("all providers."), "\(result)")
        #expect(result.errors.hasSuffix(hint ?? "all providers.\n"), "\(result)")
    }

    @Test("an empty name, such as an empty variable of a script, is a usage error", arguments: ["login", "register"])
    func empty(command: String) async throws {
        let agent = try AuthcLoginTests.agent()
        defer { agent.stop() }
        let result = try await Program.run([command, ""], folder: agent.folder)
        #expect(result.status == 64 && result.errors.hasPrefix("authc: The provider's name is empty.\n"), "\(result)")
        #expect(agent.requests.isEmpty)
    }
}
