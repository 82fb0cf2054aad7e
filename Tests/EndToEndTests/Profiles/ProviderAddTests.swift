import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// `authc provider add`, with the real agent.
@Suite("A profile of a known provider", .serialized, .timeLimit(.minutes(3)))
struct ProviderAddTests {
    private static let samples = [
        "okta": "YOUR-ORG.okta.com", "auth0": "YOUR-TENANT.auth0.com", "keycloak": "YOUR-HOST",
    ]

    @Test("each page's command writes the page's profile, with the user's values, and the agent accepts it")
    func pages() async throws {
        try await Scene.play(keyring: false) { scene in
            let list = try await scene.authc(["provider", "add", "--list"])
            for name in try ProviderPage.names() {
                let page = try ProviderPage(name)
                let added = try await scene.type(page.commands[0])
                #expect(added.status == 0, "\(added.err)")
                #expect(list.out.contains("\n" + page.provider) || list.out.hasPrefix(page.provider), "\(list.out)")
                let path = scene.profilePath(page.provider)
                let text = try String(contentsOfFile: path, encoding: .utf8)
                // What to register is shown only to a user who has no client ID yet.
                let profile = page.blocks("toml").first ?? ""
                let advice = profile.split(separator: "\n").prefix { $0.hasPrefix("# ") }.map { $0.dropFirst(2) }
                let links = advice.filter { $0.hasPrefix("https://") && !$0.contains(" ") }
                let prose = advice.filter { !links.contains($0) }.joined(separator: " ")
                #expect(!prose.isEmpty && !added.err.contains("\n  \(prose)\n"), "\(added.err)")
                let asked = try await scene.authc(["provider", "add", page.provider, "--name", "other"])
                #expect(asked.status == 64 && asked.err.hasPrefix("  \(prose)\n"), "\(asked)")
                #expect(links.allSatisfy { asked.err.contains("\n  \($0)\n") }, "\(asked)")
                let end = "\(path): written and loaded.\nThen sign in:\n  authc login \(page.provider)\n"
                #expect(added.err == end, "\(added.err)")
                var sample = text
                for (option, place) in [
                    ("--client-id", "YOUR-CLIENT-ID"), ("--tenant", "YOUR-TENANT-ID"), ("--realm", "YOUR-REALM"),
                    ("--audience", "https://YOUR-API.example"), ("--host", Self.samples[name] ?? ""),
                ] {
                    guard let value = page.value(option) else { continue }
                    #expect(text.contains(value), "\(name): \(option)")
                    sample = sample.replacing(
                        option == "--client-id" ? "\"\(value)\"" : value,
                        with: option == "--client-id" ? "\"\(place)\"" : place)
                }
                func plain(_ text: String) -> [Substring] {
                    text.split(separator: "\n").filter { !$0.hasPrefix("scopes = ") && !$0.hasPrefix("user_scope = ") }
                }
                #expect(plain(sample) == plain(profile), "\(name)")
                let checked = try await scene.authc(["provider", "check", path])
                #expect(checked.status == 0, "\(checked.out)\(checked.err)")
            }
            let reloaded = try await scene.authc(["reload"])
            #expect(reloaded.status == 0 && reloaded.err == ReloadResult.unchanged + "\n", "\(reloaded)")
            let names = try FileManager.default.contentsOfDirectory(
                atPath: scene.desktop.folder.path + "/config/authd/providers")
            #expect(names.count == 14 && !names.contains { $0.hasPrefix(".") }, "\(names)")
        }
    }

    @Test("any issuer is a profile of five lines, and the commands of the first page lead to a session")
    func issuer() async throws {
        let page = try ProviderPage("README")
        var configuration = OAuthStandIn.Configuration()
        configuration.clientID = "authd"
        try await OAuthStandIn.serving(configuration) { server in
            try await Scene.play { scene in
                let first = try await scene.type(page.commands[0])
                #expect(first.status == 0, "\(first.err)")
                let line = try #require(page.blocks("sh")[1].split(separator: "\n").first)
                let added = try await scene.type(String(line.replacing("https://id.example.org", with: server.issuer)))
                #expect(added.status == 0, "\(added.err)")
                let text = try String(contentsOfFile: scene.profilePath("example"), encoding: .utf8)
                #expect(text.split(separator: "\n").count { !$0.hasPrefix("#") } == 5, "\(text)")
                let login = try await Child(
                    [Programs.authc, "login", "example", "--method", "browser"], environment: scene.desktop.environment)
                #expect(try await scene.consent(try await scene.shownAddress(of: login)).contains("Signed in to"))
                #expect(await login.ended() == 0)
                #expect(try await scene.agent.status("example").renews)

                let port = try #require(server.issuer.split(separator: ":").last)
                let unnamed = try await scene.authc(
                    ["provider", "add", server.issuer, "--client-id", "a\"b\\c", "-o", "-", "--scope", "x"])
                #expect(unnamed.out.contains("name = \"127.0.0.1-\(port)\"\n"), "\(unnamed.out)")
                #expect(unnamed.out.contains("client_id = \"a\\\"b\\\\c\"\nscopes = [\"x\"]\n"), "\(unnamed.out)")
                let checked = try await scene.agent.authc(["provider", "check", "-"], input: unnamed.out)
                #expect(checked.status == 0, "\(checked.out)")
                // The agent's own rule: no plain http to another machine.
                let plain = try await scene.authc(["provider", "add", "http://id.example.org", "--client-id", "a"])
                #expect(plain.status == 78 && plain.err.contains("https"), "\(plain.err)")
                #expect(!FileManager.default.fileExists(atPath: scene.profilePath("id.example.org")))
            }
        }
    }

    @Test(
        "a mistake is a usage error that says what was expected, and nothing is written",
        arguments: [
            (["gitub", "--client-id", "a"], "did you mean `authc provider add github`?"),
            (["zzzzzz"], "`authc provider add --list` lists them"),
            (["github"], "use --client-id"),
            (["github", "--client-id", ""], "use --client-id"),
            (["github", "--client-id", "a b"], "is not a client ID"),
            (["github", "--client-id", "a\nb"], "is not a client ID"),
            (["github", "--client-id", "a", "--host", "x.example"], "github has no --host"),
            (["github", "--client-id", "a", "--name", "Git Hub"], "is not a valid name"),
            (["microsoft", "--client-id", "a", "--tenant", "comon"], "'organizations' accept all tenants"),
            (["keycloak", "--client-id", "a", "--host", "h\"x"], "is not a host"),
            (["keycloak", "--client-id", "a", "--host", "h.example", "--realm", "a/b"], "is not the name of a realm"),
            (["auth0", "--client-id", "a", "--host", "h.example", "--audience", "api"], "is not an identifier"),
            (["https://", "--client-id", "a"], "is not an issuer"),
            (["https://a.example?x=1", "--client-id", "a"], "is not an issuer"),
            (["gitlab", "--client-id", "a", "--port", "0"], "--port"),
            (["--list", "github"], "--list"),
            ([], "Name a provider"),
        ])
    func mistakes(arguments: [String], words: String) async throws {
        try await Scene.play(keyring: false) { scene in
            let done = try await scene.authc(["provider", "add"] + arguments)
            #expect(done.status == 64 && done.err.contains(words), "\(done.status) \(done.err)")
            let folder = scene.desktop.folder.path + "/config/authd/providers"
            #expect((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] == [])
        }
    }

    @Test("an existing file stays as it is without --force; the new one has mode 0644")
    func existing() async throws {
        try await Scene.play(keyring: false) { scene in
            let add = ["provider", "add", "gitlab", "--client-id", "a", "--host", "https://git.example.org/"]
            #expect(try await scene.authc(add).status == 0)
            let path = scene.profilePath("gitlab")
            let first = try String(contentsOfFile: path, encoding: .utf8)
            #expect(first.contains("issuer = \"https://git.example.org\"") && !first.contains("//gitlab.com"))
            #expect(first.contains("# https://docs.gitlab.com/api/oauth2\n"))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o644)
            let again = try await scene.authc(["provider", "add", "gitlab", "--client-id", "b"])
            #expect(again.status == 64 && again.err.contains("--force"), "\(again.err)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == first)
            let forced = try await scene.authc(
                ["provider", "add", "gitlab", "--client-id", "b", "--force", "--json", "--port", "9999"])
            #expect(forced.status == 0 && forced.err.isEmpty, "\(forced)")
            let result = try JSON(parsing: forced.out)
            #expect(result["provider"] == "gitlab" && result["reloaded"] == true, "\(forced)")
            #expect(result["changes"] == "provider gitlab is changed", "\(forced)")
            let second = try String(contentsOfFile: path, encoding: .utf8)
            #expect(
                second.contains("client_id = \"b\"") && second.contains("redirect = \"http://127.0.0.1:9999/callback\"")
            )
            #expect(!second.contains("8765"))
            let list = try await scene.authc(["provider", "add", "--list", "--json"])
            #expect(try JSON(parsing: Array(list.out.utf8)).arrayValue?.count == 14)
        }
    }

    @Test("a terminal asks for each missing value; without an agent the file is written and to be checked")
    func asked() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.agent.child.end()
            let terminal = try await scene.terminal("authc provider add keycloak --name work")
            for (question, answer) in [
                ("Keycloak: Clients > Create client", ""), ("Client ID: ", "authd"), ("Host: ", ""),
                ("Host: ", "id.example.org:8443"), ("Realm: ", "main"),
            ] {
                await terminal.waits(for: question)
                // What to register is shown before the first question.
                guard question.hasSuffix(": ") else { continue }
                terminal.mark()
                terminal.type(answer + "\n")
            }
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(terminal.text.contains("authc provider check "), "\(terminal.text)")
            let start = "authd is not running; it reads the file when it starts"
            #expect(terminal.words.contains(start) && !terminal.text.contains("authc reload"), "\(terminal.text)")
            let text = try String(contentsOfFile: scene.profilePath("work"), encoding: .utf8)
            #expect(text.contains("name = \"work\"\n"))
            #expect(text.contains("issuer = \"https://id.example.org:8443/realms/main\"\n"), "\(text)")
            let completion = try await scene.authc(["completion", "bash"])
            #expect(completion.out.contains("atlassian") && completion.out.contains("spotify"))
        }
    }
}
