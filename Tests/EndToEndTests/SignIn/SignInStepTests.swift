import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Sign-ins whose responses ask for more, through the real agent.
@Suite("Sign-in in several steps", .serialized, .timeLimit(.minutes(3)))
struct SignInStepTests {
    /// The samples of Docs/profiles.md, as they stand there.
    private func play(_ test: @escaping @Sendable (Scene, Peer) async throws -> Void) async throws {
        let page = try SourceTree.text("Docs/profiles.md")
        let samples = page.components(separatedBy: "```toml\n").dropFirst()
            .map { $0.components(separatedBy: "\n```")[0] }
            .filter { $0.contains("[[sign_in.guarded.") || $0.contains("[sign_in.link") }
        #expect(samples.count == 4, "\(samples)")
        try await Scene.play { scene in
            try await Peer.running(.signIn, in: scene.desktop) { server in
                try await scene.addProfile(
                    """
                    name = "several"
                    title = "Several"
                    [environments]
                    local = "\(server.url)"
                    [reply]
                    access_token = "/token"
                    user = "/user"
                    [errors]
                    message = "/message"
                    code = "/code"
                    [user]
                    id = "/id"
                    email = "/email"
                    [renewal]
                    kind = "none"
                    [sign_in.header]
                    fields = [{ name = "email" }, { name = "password", kind = "password" }]
                    before = [{ method = "GET", path = "/csrf/header", capture = { token = { header = "X-CSRF" } } }]
                    request = { method = "POST", path = "/login", headers = { X-CSRF = "{token}" }, body = { email = "{email}", password = "{password}" } }
                    \(samples.joined(separator: "\n"))
                    [[sign_in.guarded.next]]
                    when = { place = "/next", equals = "again" }
                    capture = { flow = "/flow" }
                    request = { method = "POST", path = "/again", headers = { X-CSRF = "{csrf}" }, body = { flow = "{flow}" } }
                    """)
                try await test(scene, server)
            }
        }
    }

    private func login(
        _ scene: Scene, _ user: String, _ more: String..., password: String = "Correct-horse1"
    ) async throws -> Child.Output {
        try await scene.authc(
            ["login", "several", "--method", "guarded", "--field", "email=\(user)@example.org", "--password-stdin"]
                + more, input: password)
    }

    private func log(_ scene: Scene, _ server: Peer) async throws -> [String] {
        let log = try await scene.desktop.run(["curl", "--silent", "--noproxy", "*", server.url + "/log"])
        return try JSON(parsing: Array(log.out.utf8)).arrayValue?.compactMap(\.stringValue) ?? []
    }

    private func order(_ path: String, _ scene: Scene, _ server: Peer, body: String = "{}") async throws {
        let done = try await scene.desktop.run([
            "curl", "--silent", "--fail", "--noproxy", "*", "--data", body, server.url + "/control/" + path,
        ])
        guard done.status == 0 else { throw Failure(done.err) }
    }

    @Test("a CSRF token, then a second factor: asked on a terminal in the provider's words, a wrong code again")
    func secondFactor() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal("authc login several --method guarded")
            await terminal.waits(for: "E-mail: ")
            terminal.type("ada@example.org\n")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "Enter the code of your app")
            await terminal.waits(for: "Code: ")
            terminal.mark()
            terminal.type("000000\n")
            await terminal.waits(for: "Wrong code")
            await terminal.waits(for: "Code: ")
            terminal.type("123456\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            let status = try await scene.agent.status("several")
            #expect(status.state == .active && status.user?.email == "ada@example.org")
            #expect(try await log(scene, server) == ["GET /csrf", "POST /login", "POST /mfa", "POST /mfa"])
        }
    }

    @Test("a CSRF token that is only in a header of the response is captured there")
    func header() async throws {
        try await play { scene, server in
            let login = try await scene.authc(
                [
                    "login", "several", "--method", "header", "--field", "email=dora@example.org", "--password-stdin",
                ], input: "Correct-horse1")
            #expect(login.status == 0, "\(login.err)")
            #expect(try await scene.agent.status("several").user?.email == "dora@example.org")
            #expect(try await log(scene, server) == ["GET /csrf/header", "POST /login"])
        }
    }

    @Test("a second factor and then a tenant, chosen by its number on a terminal or given from the start")
    func tenant() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal(
                "authc login several --method guarded --field email=carol@example.org")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "Code: ")
            terminal.type("123456\n")
            await terminal.waits(for: "2  South x")
            await terminal.waits(for: "Tenant: ")
            terminal.type("9\n")
            await terminal.waits(for: "not one of them")
            terminal.type("2\n")
            await terminal.waits(for: "Tenant 2")
            await terminal.waits(for: "exit 0")
            await terminal.ends()

            let given = try await login(
                scene, "carol", "-s", "other", "--field", "code=123456", "--field", "tenant=North")
            #expect(given.status == 0 && given.err.contains("Tenant 1"), "\(given.err)")
            let unknown = try await login(scene, "carol", "-s", "other", "--field", "cod=123456")
            #expect(unknown.status == 64 && unknown.err.contains("code, tenant"), "\(unknown.err)")
            let missing = try await login(scene, "ada", "-s", "third")
            #expect(missing.status == 64 && missing.err.contains("Code (code) is missing"), "\(missing.err)")
            #expect(missing.err.contains("--field code="), "\(missing.err)")
            #expect(try await scene.desktop.keyringItems().count == 2)
            #expect(try await log(scene, server).last == "POST /login")
        }
    }

    @Test("a wrong password ends it; a provider in a loop, and one that keeps a value back, end it with a clear error")
    func ends() async throws {
        try await play { scene, server in
            let wrong = try await login(scene, "ada", password: "no")
            #expect(wrong.status != 0 && wrong.err.contains("Wrong password"), "\(wrong.err)")
            let chain = try await login(scene, "chain")
            #expect(chain.err.contains("5 times"), "\(chain.err)")
            #expect(try await log(scene, server).filter { $0 == "POST /again" }.count == 5)
            let terminal = try await scene.terminal(
                "authc login several --method guarded --field email=loop@example.org")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            for _ in 1...5 {
                await terminal.waits(for: "Code: ")
                terminal.mark()
                terminal.type("123456\n")
            }
            await terminal.waits(for: "same step more than 5 times")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(try await log(scene, server).filter { $0 == "POST /mfa" }.count == 5)
            #expect(try await scene.desktop.keyringItems().isEmpty)
        }
    }

    @Test("a value that the response does not have is named, and nothing is sent without it")
    func missingValue() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal(
                "authc login several --method guarded --field email=forgetful@example.org")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "Code: ")
            terminal.type("123456\n")
            await terminal.waits(for: "no value at '/flow'")
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(try await log(scene, server) == ["GET /csrf", "POST /login"])
        }
    }

    @Test("a link by e-mail is waited for, with the pauses that the provider demands, and signs in when it is opened")
    func link() async throws {
        try await play { scene, server in
            try await order("set", scene, server, body: #"{"retry_after":1}"#)
            let login = try await Child(
                [Programs.authc, "login", "several", "--method", "link", "--field", "email=ada@example.org"],
                environment: scene.desktop.environment)
            await login.err.wait(for: "Open the link")
            let hasPolled = try await until {
                try await log(scene, server).filter { $0.hasPrefix("GET /link/") }.count >= 2
            }
            #expect(hasPolled)
            #expect(try await scene.agent.status("several").state == .signingIn)
            try await order("open", scene, server)
            let output = await login.output()
            #expect(output.status == 0, "\(output.err)")
            #expect(try await scene.agent.status("several").state == .active)
        }
    }

    @Test("^C ends a sign-in that waits for a link")
    func interrupted() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal("authc login several --method link --field email=ada@example.org")
            await terminal.waits(for: "Open the link")
            terminal.type("\u{3}")
            await terminal.ends()
            try await order("open", scene, server)
            #expect(try await until { try await SessionList(scene.agent.json("list")).sessions.isEmpty })
            #expect(try await scene.desktop.keyringItems().isEmpty)
        }
    }
}
