import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The README, as a first-time reader follows it.
@Suite("The README's commands", .serialized, .timeLimit(.minutes(3)))
struct ReadmeCommandTests {
    /// Run again with `Tests/Demo/picture .build/debug/authc > Docs/try.svg` if this fails.
    @Test("its picture shows what authc try prints today")
    func picture() async throws {
        let place = try TryTests.Place()
        let script = SourceTree.path("Tests/Demo/picture")
        let drawn = try await Child(
            ["python3", script, Programs.authc], environment: place.environment
        ).output()
        #expect(drawn.status == 0, "\(drawn.err)")
        let kept = try SourceTree.text("Docs/try.svg")
        #expect(drawn.out == kept)
        for words in ["$ authc try", "demo-token-2: the provider was asked once"] {
            #expect(kept.contains(">\(words)") || kept.contains(words), "\(words)")
        }
    }

    @Test("authc try, and then a sign-in to a server that the user chooses")
    func tryIt() async throws {
        let page = try ProviderPage.readme("Try it")
        #expect(page.blocks("sh") == ["authc try\n", "authc login\n"])
        try await Scene.play { scene in
            let shown = try await scene.type("authc try")
            #expect(shown.status == 0 && shown.out.contains("demo-token-2"), "\(shown)")
            #expect(try await scene.desktop.keyringItems() == [])
            let terminal = try await scene.terminal("authc login")
            for (question, answer) in [
                ("Number, name or URL: ", "app-template"), ("one of these names: ", "local"),
                ("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1"),
            ] {
                await terminal.waits(for: question)
                terminal.type(answer + "\n")
            }
            await terminal.ends()
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            #expect(try await scene.agent.status("app-template").state == .active)
        }
    }

    @Test("GitHub in four commands, at a server that answers as GitHub does")
    func gitHub() async throws {
        let page = try ProviderPage.readme("GitHub in four commands")
        #expect(page.commands.count == 4 && page.provider == "github")
        var configuration = ProviderStandIn.Configuration()
        configuration.clientID = try #require(page.value("--client-id"))
        try await ProviderStandIn.serving(.github, configuration) { server in
            try await Scene.play { scene in
                try await scene.add(page, at: server.url)
                let login = try await scene.loginByCode(server, page)
                #expect(login.status == 0, "\(login.err)")
                let token = try await scene.type(page.commands[2])
                #expect(token.status == 0 && server.tokens.contains { token.out == $0 + "\n" }, "\(token)")
                let user = try await scene.type(page.commands[3])
                #expect(user.status == 0 && user.out.contains("jane"), "\(user)")
                let call = try await scene.authc(["call", "user", "-s", "github"])
                #expect(call.status == 64 && call.err.contains("`authc request METHOD PATH`"), "\(call)")
                // The profile has no page to sign in on.
                let list = try await scene.authc(["provider", "list"])
                #expect(list.out.contains("GitHub; device, import; production"), "\(list)")
            }
        }
    }

    @Test("without a profile, each message names the next command up to the sign-in to GitHub")
    func fresh() async throws {
        try await Scene.play(keyring: false) { scene in
            let commands = [
                ("authc login github", "GitHub is a known provider: `authc provider add github` writes its profile"),
                ("authc provider add github", "github.toml: written and loaded. Then sign in: authc login github"),
                ("authc provider list", "GitHub; device, import; production"),
            ]
            for (line, expected) in commands {
                let terminal = try await scene.terminal("NO_COLOR=1 \(line)")
                if line.hasPrefix("authc provider add") {
                    await terminal.waits(for: "Client ID: ")
                    terminal.type("Iv1.0123456789abcdef\n")
                }
                await terminal.ends()
                #expect(terminal.words.contains(expected), "\(terminal.text)")
            }
            // Without a terminal, `authc provider add` cannot ask.
            let gitlab = try await scene.authc(["login", "gitlab"])
            #expect(
                gitlab.status == 64 && gitlab.err.contains("`authc provider add gitlab --client-id ID`"), "\(gitlab)")
        }
    }

    @Test("one session in git, curl and a script")
    func programs() async throws {
        let page = try ProviderPage.readme("One session for every program")
        try await Scene.play(signedInTo: .programs, ["repositories", ""], as: "forge") { scene, server in
            let made = try await scene.run("git init -q --bare ../repositories/one.git")
            #expect(made.status == 0, "\(made.err)")
            #expect(page.commands.count >= 4)
            for line in page.commands {
                let typed = line.replacing("https://git.example.org/ada/", with: server.url + "/git/")
                    .replacing("https://git.example.org", with: server.url)
                let output = try await scene.run(typed)
                #expect(output.status == 0, "\(typed): \(output.out)\(output.err)")
            }
        }
    }
}

/// The README's commands for a session that is there.
@Suite("The README's commands, after the first day", .timeLimit(.minutes(2)))
struct ReadmeDailyTests {
    /// What each command prints, in the order of the README.
    private static let results = [
        ("authc list", "app-template"), ("authc status -s", "ada@example.org at app-template (local)"),
        ("authc token -s", "."), ("authc token --for", "."), ("authc call users", "ada@example.org"),
        ("authc request GET", "ada@example.org"), ("authc call update-profile", #""name":"Ada""#),
        ("authc watch", "session 1 of 1"), ("authc config edit", "nothing was changed"),
        ("authc doctor", "Nothing is wrong."), ("authc logout", "Signed out: app-template"),
    ]

    @Test("daily use, with a session of the app template")
    func daily() async throws {
        let page = try ProviderPage.readme("Daily use")
        #expect(page.commands.count == Self.results.count)
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let url = scene.backends.url(.appTemplate)
            for (line, (command, result)) in zip(page.commands, Self.results) {
                #expect(line.hasPrefix(command + " "), "\(line)")
                // It shows changes until it is ended.
                if command == "authc watch" {
                    let terminal = try await scene.terminal("NO_COLOR=1 authc watch")
                    await terminal.waits(for: result)
                    terminal.type("q")
                    await terminal.ends()
                    #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
                    continue
                }
                let typed = line.replacing("https://api.app-template.example", with: url)
                let output = try await scene.run("export EDITOR=true\n" + typed)
                #expect(output.status == 0 && (output.out + output.err).contains(result), "\(typed): \(output)")
            }
            #expect(try await scene.tokens().isEmpty)
        }
    }

    @Test("the line of the prompt file, as a shell reads it")
    func prompt() async throws {
        let block = try #require(try ProviderPage.readme("In your own programs").blocks("sh").first)
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            for shell in ["sh", "bash"] {
                let output = try await scene.desktop.run([shell, "-c", block + #"echo "$session""#])
                #expect(output.out == "app-template:ada@example.org\n" && output.err.isEmpty, "\(shell): \(output)")
            }
            try await scene.agent.child.end(SIGKILL)
            let output = try await scene.desktop.run(["sh", "-c", block + #"echo "$session""#])
            #expect(output.out == "\n" && output.err.isEmpty, "\(output)")
        }
    }
}

extension ProviderPage {
    /// A section of the README.
    static func readme(_ title: String) throws -> ProviderPage {
        let text = try SourceTree.text("README.md")
        let section = try #require(text.components(separatedBy: "\n## \(title)\n").dropFirst().first)
        return ProviderPage(name: "README", text: section.components(separatedBy: "\n## ")[0])
    }
}
