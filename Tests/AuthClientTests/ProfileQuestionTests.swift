import AuthWire
import Foundation
import TestSupport
import Testing

/// Wrong answers to `authc provider add` and `authc provider new`, and files that they cannot write. ProviderAddTests and
/// ProviderNewTests test what they write.
@Suite("Questions about a new profile", .timeLimit(.minutes(1)))
struct ProfileQuestionTests {
    private static func agent(reload: String = ReloadResult.added(profile: "work")) throws -> TestAgent {
        try TestAgent(replies: [
            "provider.check": .success(["problems": []]), "agent.reload": .success(["message": .string(reload)]),
        ])
    }

    private static func answer(
        _ answers: [(String, String)], to command: String, _ agent: TestAgent
    ) async throws -> String {
        let terminal = try await Terminal("\(command); echo \"exit $?\"", folder: agent.folder)
        for (question, answer) in answers {
            await terminal.waits(for: question)
            terminal.mark()
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit ")
        await terminal.ends()
        return terminal.text
    }

    private static func profile(_ name: String, _ agent: TestAgent) -> String {
        agent.folder + "/.config/authd/providers/\(name).toml"
    }

    @Test("a wrong answer is explained, and the question is repeated; spaces around an answer are not part of it")
    func again() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer(
            [
                ("Client ID: ", "a b"), ("'a b' is not a client ID", ""), ("Client ID: ", " authd "),
                ("Host: ", "h\"x"), ("is not a host, such as id.example.org\r\nHost: ", "id.example.org"),
                ("Realm: ", "main"),
            ], to: "authc provider add keycloak --name work", agent)
        #expect(text.contains("exit 0") && text.contains("written and loaded."), "\(text)")
        #expect(!text.contains("is new"), "\(text)")
        let profile = try String(contentsOfFile: Self.profile("work", agent), encoding: .utf8)
        #expect(profile.contains("client_id = \"authd\"\n"), "\(profile)")
        #expect(profile.contains("issuer = \"https://id.example.org/realms/main\"\n"), "\(profile)")
    }

    @Test("what to register at an issuer is shown before the question for the client ID, and not with --client-id")
    func registration() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let add = "authc provider add https://id.example.org --name work"
        let asked = try await Self.answer(
            [("  work: register a public client", ""), ("Client ID: ", "authd")], to: add, agent)
        #expect(asked.contains("exit 0"), "\(asked)")
        let given = try await Self.answer([], to: "\(add) --force --client-id authd", agent)
        #expect(given.contains("exit 0") && !given.contains("register"), "\(given)")
    }

    @Test(
        "the agent's message is shown if it has loaded more than the new profile, or nothing",
        arguments: ["Log level: debug; provider work is new", ReloadResult.unchanged])
    func otherChanges(reload: String) async throws {
        let agent = try Self.agent(reload: reload)
        defer { agent.stop() }
        let result = try await Program.run(
            ["provider", "add", "github", "--name", "work", "--client-id", "a"], folder: agent.folder)
        let path = Self.profile("work", agent)
        #expect(result.errors.hasPrefix("\(path): written.\nauthd: \(reload)\nThen sign in:\n"), "\(result)")
    }

    @Test("the third wrong answer ends the command, and nothing is written")
    func third() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer(
            [("Client ID: ", "a 1"), ("Client ID: ", "a 2"), ("Client ID: ", "a 3")],
            to: "authc provider add github", agent)
        #expect(text.contains("authc: 'a 3' is not a client ID") && text.contains("exit 64"), "\(text)")
        #expect(agent.requests.isEmpty && !FileManager.default.fileExists(atPath: agent.folder + "/.config"))
    }

    @Test("a profile that exists already is refused before the first question")
    func existing() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let path = Self.profile("github", agent)
        try FileManager.default.createDirectory(
            at: URL(filePath: path).deletingLastPathComponent(), withIntermediateDirectories: true)
        try "name = \"github\"\n".write(toFile: path, atomically: true, encoding: .utf8)
        let text = try await Self.answer([], to: "authc provider add github", agent)
        #expect(text.contains("already exists") && text.contains("--force") && text.contains("exit 64"), "\(text)")
        #expect(!text.contains("Client ID"), "\(text)")
    }

    @Test("a folder that cannot be created is named")
    func folder() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        try "".write(toFile: agent.folder + "/.config", atomically: true, encoding: .utf8)
        let result = try await Program.run(
            ["provider", "add", "github", "--client-id", "a"], folder: agent.folder)
        let folder = agent.folder + "/.config/authd"
        #expect(result.status == 64, "\(result)")
        #expect(result.errors == "authc: cannot create the folder \(folder): Not a directory\n", "\(result)")
    }

    @Test("missing folders are created, even one whose name is a single letter")
    func folders() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let line = "cd \"$XDG_RUNTIME_DIR\" && \"$0\" provider add github --client-id a -o p/q/github.toml"
        let result = try await Program.run(["-c", line, Program.authc], folder: agent.folder, program: "/bin/bash")
        #expect(result.status == 0, "\(result)")
        #expect(FileManager.default.fileExists(atPath: agent.folder + "/p/q/github.toml"))
    }

    @Test("a new profile in the folder where the agent looks for profiles only has to be loaded")
    func inPlace() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let new = ["provider", "new", "shop", "--url", "https://api.example.org", "-o"]
        let path = Self.profile("shop", agent)
        for (file, end) in [
            (path, "Then load it: `authc reload`\n"),
            (agent.folder + "/shop.toml", "Then put it in ~/.config/authd/providers and load it: `authc reload`\n"),
        ] {
            let result = try await Program.run(new + [file], folder: agent.folder)
            #expect(result.status == 0 && result.errors.hasSuffix(end), "\(result)")
        }
        let add = ["provider", "add", "github", "--client-id", "id", "-o"]
        for (file, steps) in [
            (Self.profile("github", agent), "Then load the profile and sign in:\n"),
            (agent.folder + "/github.toml", "Then put the file in ~/.config/authd/providers, load the profile and"),
        ] {
            let result = try await Program.run(add + [file], folder: agent.folder)
            #expect(result.status == 0 && result.errors.contains(".\n" + steps), "\(result)")
        }
        // With XDG_CONFIG_HOME, another folder is in use.
        let other = ["XDG_CONFIG_HOME": agent.folder + "/settings"]
        for (words, place) in [(new, "put it in"), (add, "put the file in")] {
            let file = Self.profile(words[1], agent)
            let result = try await Program.run(words + [file], folder: agent.folder, environment: other)
            let expected = "Then \(place) \(agent.folder)/settings/authd/providers"
            #expect(result.status == 0 && result.errors.contains(expected), "\(result)")
        }
    }

    @Test("provider new repeats a question after a wrong answer, too")
    func new() async throws {
        let agent = try Self.agent()
        defer { agent.stop() }
        let text = try await Self.answer(
            [
                ("Base URL of its API: ", "ftp://x"),
                ("such as https://api.example.org\r\nBase URL of its API: ", "https://api.example.org"),
                ("Short name [example]: ", "Not A Name"), ("letter or digit Short name [example]: ", "shop"),
                ("Name that users see [shop]: ", ""), ("(POST) [/auth/login]: ", "login"),
                ("is not a path, such as /auth/login Path of the sign-in request (POST) [/auth/login]: ", "\u{4}"),
            ], to: "authc provider new", agent)
        #expect(text.contains("exit 77"), "\(text)")
    }
}
