import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent against django-allauth's headless API for apps, with a profile alone. Its 401 has a list of what can
/// come next, even after the request for a reset of the password.
@Suite("django-allauth", .serialized, .timeLimit(.minutes(2)))
struct AllauthTests {
    private static func profile(_ server: Peer) -> String {
        let secondFactor = """
            when = { place = "/data/flows/id=mfa_authenticate/is_pending", equals = true }
            message = "Enter the code of your app."
            capture = { pending = "/meta/session_token" }
            fields = [{ name = "code", label = "Code", kind = "code", digits = 6 }]
            request = { method = "POST", path = "/auth/2fa/authenticate", headers = { X-Session-Token = "{pending}" }, body = { code = "{code}" } }
            """
        return """
            name = "allauth"
            title = "Allauth"
            authorization = { header = "X-Session-Token" }
            [environments]
            local = "\(server.url)/_allauth/app/v1"
            [sign_in.password]
            fields = [{ name = "email", label = "E-mail", kind = "email" }, { name = "password", label = "Password", kind = "password" }]
            request = { method = "POST", path = "/auth/login", body = { email = "{email}", password = "{password}" } }
            [[sign_in.password.next]]
            \(secondFactor)
            [password.reset]
            fields = [{ name = "email", label = "E-mail", kind = "email" }]
            request = { method = "POST", path = "/auth/password/request", body = { email = "{email}" } }
            [[password.reset.next]]
            when = { place = "/data/flows/id=password_reset_by_code/is_pending", equals = true }
            message = "Enter the code of the e-mail."
            capture = { pending = "/meta/session_token" }
            fields = [{ name = "key", label = "Code", kind = "code" }, { name = "password", label = "New password", kind = "new-password" }]
            [password.reset.next.request]
            method = "POST"
            path = "/auth/password/reset"
            headers = { X-Session-Token = "{pending}" }
            body = { key = "{key}", password = "{password}" }
            [[password.reset.next]]
            \(secondFactor)
            [reply]
            access_token = "/meta/session_token"
            user = "/data/user"
            [errors]
            message = "/errors/0/message"
            code = "/errors/0/code"
            [user]
            id = "/id"
            email = "/email"
            [validation]
            method = "GET"
            path = "/auth/session"
            bearer = true
            [user_request]
            user = "/data/user"
            request = { method = "GET", path = "/auth/session", bearer = true }
            [sign_out]
            method = "DELETE"
            path = "/auth/session"
            bearer = true
            success = { status = 401, place = "/meta/is_authenticated", equals = false }
            [renewal]
            kind = "sign-in"
            """
    }

    private func play(_ test: @escaping @Sendable (Scene, Peer) async throws -> Void) async throws {
        try await Scene.play { scene in
            try await Peer.running(.allauth, in: scene.desktop) { server in
                try await scene.addProfile(Self.profile(server))
                try await test(scene, server)
            }
        }
    }

    /// The status that the server reports for a session token.
    private func statusOfSession(_ token: String, _ scene: Scene, _ server: Peer) async throws -> JSON? {
        let reply = try await scene.get(
            server.url + "/_allauth/app/v1/auth/session", ["--header", "X-Session-Token: \(token)"])
        return try JSON(parsing: Array(reply.utf8))["status"]
    }

    /// A call, a validation and a sign-out, which the server confirms.
    private func use(_ scene: Scene, _ server: Peer, as user: String) async throws {
        let status = try await scene.agent.status("allauth")
        #expect(status.state == .active && status.user?.email == "\(user)@example.org")
        let called = try await scene.authc(["request", "GET", "/auth/session"])
        #expect(called.status == 0 && called.out.contains("\(user)@example.org"), "\(called.out)\(called.err)")
        #expect(try await scene.authc(["validate"]).status == 0)
        let token = try await scene.authc(["token"]).out.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await statusOfSession(token, scene, server) == 200)
        let logout = try await scene.authc(["logout"])
        #expect(logout.status == 0 && !(logout.out + logout.err).contains("notified"), "\(logout.out)\(logout.err)")
        #expect(try await statusOfSession(token, scene, server) == 410)
    }

    @Test("a user without a second factor signs in at once; a wrong password is reported in the server's words")
    func password() async throws {
        try await play { scene, server in
            for (password, status) in [("no-horse", 65), ("Correct-horse1", 0)] as [(String, Int32)] {
                let login = try await scene.authc(
                    ["login", "allauth", "--field", "email=ada@example.org", "--password-stdin"], input: password)
                #expect(login.status == status, "\(login.err)")
                #expect(login.err.contains("are not correct") == (status != 0), "\(login.err)")
            }
            try await use(scene, server, as: "ada")
        }
    }

    @Test("the flow mfa_authenticate asks for the code of the app; a wrong one is asked for again")
    func secondFactor() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal("authc login allauth --field email=bob@example.org")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "Enter the code of your app")
            await terminal.waits(for: "Code: ")
            terminal.mark()
            terminal.type("000000\n")
            await terminal.waits(for: "Incorrect code")
            await terminal.waits(for: "Code: ")
            terminal.type(try await tell("code", server) + "\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            try await use(scene, server, as: "bob")
        }
    }

    /// What the server prints for a line of input.
    private func tell(_ word: String, _ server: Peer) async throws -> String {
        let before = server.output.text.count { $0 == "\n" }
        server.tell(word)
        await server.output.wait(for: "\n", times: before + 1)
        let last = server.output.text.split(separator: "\n").last
        return String(try #require(last?.wholeMatch(of: /(?:code|mail) (\S+)/)?.1))
    }

    // MARK: A reset of the password

    @Test("a reset asks for the code of the e-mail, again after a wrong one, the new password and the code of the app")
    func reset() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal("authc password reset allauth --field email=bob@example.org")
            await terminal.waits(for: "Enter the code of the e-mail")
            for code in ["WRONG1", try await tell("mail", server)] {
                await terminal.waits(for: "Code: ")
                terminal.mark()
                terminal.type(code + "\n")
                await terminal.waits(for: "New password: ")
                terminal.type("Better-horse2\n")
                await terminal.waits(for: "again: ")
                terminal.type("Better-horse2\n")
                if code == "WRONG1" { await terminal.waits(for: "Incorrect code") }
            }
            await terminal.waits(for: "Enter the code of your app")
            await terminal.waits(for: "Code: ")
            terminal.type(try await tell("code", server) + "\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await scene.agent.status("allauth").needsPassword == false)
            try await use(scene, server, as: "bob")
        }
    }

    @Test("a remembered sign-in uses the new password of a reset, which a script gives with --password-stdin")
    func remembered() async throws {
        try await play { scene, server in
            let given = ["--field", "email=ada@example.org", "--password-stdin"]
            let login = try await scene.authc(["login", "allauth", "--remember"] + given, input: "Correct-horse1")
            #expect(login.status == 0, "\(login.err)")
            // The code comes with the step, so that a script answers on the socket.
            let email: JSON = ["email": "ada@example.org", "password": "Better-horse2"]
            let step = try await scene.ask("password.reset", ["provider": "allauth", "fields": email])
            let answers: JSON = ["key": .string(try await tell("mail", server))]
            let done = try await scene.ask("login.answer", ["login": step["login"] ?? .null, "fields": answers])
            #expect(step["fields"]?.arrayValue?.count == 1 && done["kind"] == "done", "\(step.text()) \(done.text())")
            let status = try await scene.agent.status("allauth")
            #expect(status.remembered && status.state == .active)
            // The former password is not accepted any more.
            let refreshed = try await scene.authc(["refresh"])
            #expect(refreshed.status == 0, "\(refreshed.err)")
            try await use(scene, server, as: "ada")

            let script = try await scene.authc(["password", "reset", "allauth"] + given, input: "Third-horse3")
            #expect(script.status == 64 && script.err.contains("Code (key) is missing"), "\(script.err)")
            let cancelled = try await scene.authc(
                ["password", "reset", "allauth", "--field", "key=WRONG1"] + given, input: "Third-horse3")
            #expect(cancelled.status == 65 && cancelled.err.contains("Incorrect code"), "\(cancelled.err)")
        }
    }
}
