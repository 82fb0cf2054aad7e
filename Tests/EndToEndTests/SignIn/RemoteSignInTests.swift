import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// `authc login --from`: two real agents, and a real `ssh -R` between them in one test.
@Suite("Sign-in with the browser of another machine", .serialized, .timeLimit(.minutes(4)))
struct RemoteSignInTests {
    private static func profile(_ server: OAuthStandIn, client: String? = nil) -> String {
        """
        name = "\(OAuthScene.provider)"
        title = "Test server"
        issuer = "\(server.issuer)"
        client_id = "\(client ?? OAuthStandIn.Configuration().clientID)"
        scopes = ["openid", "offline_access"]
        """
    }

    /// A visit to the laptop's page that is not from the sign-in; curl ends with 7 if nothing listens there.
    private static func page(of url: String) throws -> [String] {
        let redirect = try #require(url.firstMatch(of: /redirect_uri=([^&]+)/)?.1.removingPercentEncoding)
        return ["curl", "--silent", "--noproxy", "*", redirect + "?state=other"]
    }

    private static let narrow = """
        sign_in_providers = ["\(OAuthScene.provider)"]
        sign_in_scopes = ["openid"]
        """

    @Test("the host is signed in with narrowed scopes after one question, and the laptop keeps nothing")
    func whole() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            try await TwoMachines.play(rules: Self.narrow, profile: Self.profile(server)) { machines in
                let login = try await machines.login()
                let question = try await machines.question()
                for part in ["Test server", server.issuer, "Scopes: openid", "extra", "calls itself"] {
                    #expect(question.contains(part), "\(question)")
                }
                #expect(!question.contains("offline_access") && !question.contains("\"hour\""), "\(question)")
                let code = try #require(question.firstMatch(of: /other machine shows ([2-9A-Z]{5})/)?.1)
                #expect(await login.err.wait(for: "Agree only if it shows \(code)."))
                #expect(!machines.hasOpened)
                let url = try await machines.allow()
                #expect(url.contains("scope=openid&") && url.contains("code_challenge_method=S256"), "\(url)")
                #expect(try await machines.laptop.consent(url).contains("Continue on the other machine"))
                let output = await login.output()
                #expect(output.status == 0 && output.err.contains("offline_access"), "\(output)")
                #expect(server.counts.codes == 1)
                let status = try await machines.host.agent.status(OAuthScene.provider)
                #expect(status.user?.email == "janedoe@example.com" && status.scopes == ["openid"])
                #expect(try await machines.host.agent.authc("token").status == 0)
                let sessions = try await SessionList(machines.laptop.agent.json("list")).sessions
                #expect(sessions.isEmpty)
                let log = try await machines.laptop.agent.authc("log")
                #expect(log.out.contains("login.lend") && log.out.contains("listener extra"), "\(log)")
            }
        }
    }

    @Test("over a real ssh -R, by name; and ^C on the host closes the page on the laptop")
    func forwarded() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            let settings = try Recipes.block(with: "sign_in_providers = [\"work\"]").split(separator: "\n")
            let rules = settings.filter { $0.hasPrefix("sign_in_") }.joined(separator: "\n")
                .replacing("work", with: OAuthScene.provider)
            try await TwoMachines.play(rules: rules, profile: Self.profile(server)) { machines in
                let options = try await machines.host.prepareSSH().options
                let (here, run) = (machines.laptop.desktop.folder.path, machines.host.desktop.folder.path + "/run")
                let recipe = try Recipes.block(with: "authd-from-laptop:").split(separator: "\n").map(String.init)
                try #require(recipe.count == 2 && recipe[1] == "authc login work --from laptop")
                // The program last: its path may have the words.
                let words = recipe[1].replacing("work", with: OAuthScene.provider).replacing(
                    "authc", with: Programs.authc)
                let login = "env XDG_RUNTIME_DIR=\(run) " + words
                let ssh = recipe[0].replacing("/run/user/1000", with: run).replacing(
                    "$XDG_RUNTIME_DIR", with: here + "/run"
                )
                .replacing(" build.example.org", with: " " + options)
                func start(_ command: String) async throws -> Child {
                    let forward = "exec \(ssh) \"\(command)\""
                    return try await Child(
                        ["bash", "-c", forward], environment: machines.host.desktop.environment, input: .held)
                }
                let first = try await start("exec " + login)
                let question = try await machines.question(for: first)
                #expect(question.contains("by /usr/bin/ssh"), "\(question)")
                try await machines.answer("once")
                let url = try await machines.opened()[0]
                #expect(try await machines.laptop.consent(url).contains("Continue on the other machine"))
                let output = await first.output()
                #expect(output.status == 0, "\(output)")
                #expect(server.counts.codes == 1)
                // The program on the host ends while the browser is open, and ssh goes on.
                let second = try await start("\(login) -s other & echo pid=\\$!. && wait; exec cat")
                _ = try await machines.question(2, for: second)
                try await machines.answer("once", to: 2)
                #expect(try await until { try await machines.opened().count == 2 })
                let page = try await Self.page(of: machines.opened()[1])
                #expect(try await machines.laptop.desktop.run(page).out.contains("Not from this sign-in"))
                #expect(await second.out.wait(for: "."))
                let process = try #require(second.out.text.firstMatch(of: /pid=(\d+)\./)?.1)
                #expect(try await machines.host.desktop.run(["kill", String(process)]).status == 0)
                #expect(try await until { try await machines.laptop.desktop.run(page).status == 7 })
                await second.end(SIGTERM)
                #expect(server.counts.codes == 1)
            }
        }
    }

    @Test("^C ends the sign-in on both machines")
    func interrupted() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            try await TwoMachines.play(profile: Self.profile(server)) { machines in
                let login = try await machines.login()
                let url = try await machines.allow()
                let page = try Self.page(of: url)
                #expect(try await machines.laptop.desktop.run(page).out.contains("Not from this sign-in"))
                login.kill(SIGINT)
                #expect(await login.ended() != 0)
                #expect(try await until { try await machines.laptop.desktop.run(page).status == 7 })
                let sessions = try await SessionList(machines.host.agent.json("list")).sessions
                #expect(sessions.isEmpty)
            }
        }
    }

    @Test("a refusal of the user counts for a while, and nothing is opened")
    func refused() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            try await TwoMachines.play(profile: Self.profile(server)) { machines in
                let login = try await machines.login()
                _ = try await machines.question()
                try await machines.answer("refuse")
                let refused = await login.output()
                #expect(refused.status == 77 && refused.err.contains("and refused"), "\(refused)")
                let paused = await (try machines.login()).output()
                #expect(paused.status == 77 && paused.err.contains("try again in"), "\(paused)")
                #expect(!machines.hasOpened)
            }
        }
    }

    @Test("errors say what is missing and what to do: the socket, its rules, the provider, the client")
    func mistakes() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            let other = Self.profile(server, client: "other")
            try await TwoMachines.play(rules: "sessions = []", profile: Self.profile(server), laptop: other) {
                machines in
                func refused(_ place: String? = nil, _ arguments: [String] = []) async throws -> Child.Output {
                    await (try machines.login(arguments, from: place)).output()
                }
                let missing = try await refused("laptop")
                let place = machines.host.desktop.folder.path + "/run/authd-from-laptop"
                #expect(missing.status == 69 && missing.err.contains("ssh -R \(place):"), "\(missing)")
                for name in ["", "../laptop", "Laptop", "a/b"] {
                    #expect(try await refused(name).status == 64, "\(name)")
                }
                let rules = try await refused()
                #expect(rules.status == 77 && rules.err.contains("sign_in_providers"), "\(rules)")
                _ = try await machines.laptop.openExtra("sign_in_providers = [\"another\"]")
                let provider = try await refused()
                #expect(provider.status == 64 && provider.err.contains(server.issuer), "\(provider)")
                _ = try await machines.laptop.openExtra("sign_in_providers = [\"\(OAuthScene.provider)\"]")
                let client = try await refused()
                #expect(client.status == 65 && client.err.contains("the same client_id"), "\(client)")
                let main = try await refused(machines.laptop.desktop.folder.path + "/run/authd/socket")
                #expect(main.status == 77 && main.err.contains("[listener.extra]"), "\(main)")
                let service = try await refused(nil, ["--method", "import"])
                #expect(service.status == 64 && service.err.contains("needs no browser"), "\(service)")
                #expect(!machines.hasOpened && !machines.shown.text.contains("Notify"))
            }
        }
    }

    @Test("a device code is shown and opened on the laptop, and the host waits for it")
    func device() async throws {
        try await OAuthStandIn.serving(.init()) { server in
            try await TwoMachines.play(rules: Self.narrow, profile: Self.profile(server)) { machines in
                let login = try await machines.login(["--device"])
                #expect(try await machines.question().contains("with a code"))
                try await machines.answer("once")
                await login.err.wait(for: "code: ")
                let code = try #require(login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1)
                #expect(await machines.shown.wait(for: "Enter the code \(code)"))
                #expect(try await machines.opened()[0].hasPrefix(server.issuer))
                try server.decide(userCode: String(code), approve: true)
                let output = await login.output()
                #expect(output.status == 0, "\(output)")
                #expect(try await machines.host.agent.status(OAuthScene.provider).scopes == ["openid"])
            }
        }
    }
}
