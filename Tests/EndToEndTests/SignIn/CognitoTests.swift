import AuthWire
import Foundation
import TestSupport
import Testing

/// The real agent against moto's Cognito, with a profile alone.
@Suite("Cognito", .serialized, .timeLimit(.minutes(2)))
struct CognitoTests {
    private static func profile(_ server: Peer, client: String) -> String {
        func request(_ action: String, _ body: String) -> String {
            """
            method = "POST"
            path = "/"
            headers.X-Amz-Target = "AWSCognitoIdentityProviderService.\(action)"
            headers.Content-Type = "application/x-amz-json-1.1"
            body = { \(body) }
            """
        }
        func challenge(_ name: String, _ field: String, sends: String) -> String {
            """
            [[sign_in.password.next]]
            when = { place = "/ChallengeName", equals = "\(name)" }
            message = "Cognito asks: \(name)"
            capture = { session = "/Session" }
            fields = [\(field)]
            [sign_in.password.next.request]
            \(request(
                "RespondToAuthChallenge",
                """
                ChallengeName = "\(name)", ClientId = "\(client)", Session = "{session}", \
                ChallengeResponses = { USERNAME = "{username}", \(sends) }
                """))
            """
        }
        return """
            name = "cognito"
            title = "Cognito"
            [environments]
            local = "\(server.url)"
            [sign_in.password]
            fields = [{ name = "username", label = "User name" }, { name = "password", label = "Password", kind = "password" }]
            [sign_in.password.request]
            \(request(
                "InitiateAuth",
                """
                AuthFlow = "USER_PASSWORD_AUTH", ClientId = "\(client)", \
                AuthParameters = { USERNAME = "{username}", PASSWORD = "{password}" }
                """))
            \(challenge(
                "NEW_PASSWORD_REQUIRED", #"{ name = "new_password", label = "New password", kind = "new-password" }"#,
                sends: #"NEW_PASSWORD = "{new_password}""#))
            \(challenge(
                "SOFTWARE_TOKEN_MFA", #"{ name = "code", label = "Code", kind = "code", digits = 6 }"#,
                sends: #"SOFTWARE_TOKEN_MFA_CODE = "{code}""#))
            \(challenge(
                "SMS_MFA", #"{ name = "text_code", label = "Code of the text message", kind = "code" }"#,
                sends: #"SMS_MFA_CODE = "{text_code}""#))
            \(setup(request, client))
            [reply]
            access_token = "/AuthenticationResult/AccessToken"
            refresh_token = "/AuthenticationResult/RefreshToken"
            expires_in = "/AuthenticationResult/ExpiresIn"
            [errors]
            message = "/message"
            code = "/__type"
            [user]
            id = "/Username"
            [user_request.request]
            \(request("GetUser", #"AccessToken = "{access_token}""#))
            [sign_out]
            \(request("GlobalSignOut", #"AccessToken = "{access_token}""#))
            [renewal]
            kind = "refresh"
            final_codes = ["NotAuthorizedException"]
            [renewal.request]
            \(request(
                "InitiateAuth",
                """
                AuthFlow = "REFRESH_TOKEN_AUTH", ClientId = "\(client)", \
                AuthParameters = { REFRESH_TOKEN = "{refresh_token}" }
                """))
            """
    }

    /// MFA_SETUP: the key of an app is fetched and shown, its code is checked, and then the challenge is answered.
    private static func setup(_ request: (String, String) -> String, _ client: String) -> String {
        """
        [[sign_in.password.next]]
        when = { place = "/ChallengeName", equals = "MFA_SETUP" }
        message = "Cognito asks: MFA_SETUP"
        capture = { session = "/Session" }
        [sign_in.password.next.request]
        \(request("AssociateSoftwareToken", #"Session = "{session}""#))
        [[sign_in.password.next]]
        when = { place = "/SecretCode", exists = true }
        message = "/SecretCode"
        capture = { session = "/Session" }
        fields = [{ name = "app_code", label = "Code of an app with this key", kind = "code", digits = 6 }]
        [sign_in.password.next.request]
        \(request("VerifySoftwareToken", #"Session = "{session}", UserCode = "{app_code}""#))
        [[sign_in.password.next]]
        when = { place = "/Status", equals = "SUCCESS" }
        capture = { session = "/Session" }
        [sign_in.password.next.request]
        \(request(
            "RespondToAuthChallenge",
            """
            ChallengeName = "MFA_SETUP", ClientId = "\(client)", Session = "{session}", \
            ChallengeResponses = { USERNAME = "{username}" }
            """))
        """
    }

    /// - Parameter pool: `client`, or `strict` for the one in which everybody needs an app.
    private func play(
        pool: String = "client", _ test: @escaping @Sendable (Scene, Peer) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            try await Peer.running(.cognito, in: scene.desktop) { server in
                #expect(await server.output.wait(for: "strict ", times: 1))
                #expect(await server.output.wait(for: "\n", times: 2))
                let words = server.output.text.split { $0.isWhitespace }
                let client = try #require(words.firstIndex(of: Substring(pool)).map { String(words[$0 + 1]) })
                try await scene.addProfile(Self.profile(server, client: client))
                try await test(scene, server)
            }
        }
    }

    private func login(_ scene: Scene, _ user: String, _ password: String) async throws -> Child.Output {
        try await scene.authc(
            ["login", "cognito", "--field", "username=\(user)", "--password-stdin"], input: password)
    }

    @Test("a password signs in; the token is renewed, and a sign-out elsewhere refuses the renewal")
    func password() async throws {
        try await play { scene, server in
            let wrong = try await login(scene, "ada", "no")
            #expect(wrong.status != 0 && wrong.err.contains("Incorrect username or password"), "\(wrong.err)")
            let login = try await login(scene, "ada", "Correct-horse1")
            #expect(login.status == 0, "\(login.err)")
            let first = try await scene.agent.authc("token").out
            let user = try await scene.authc(["whoami", "-s", "cognito"])
            #expect(user.status == 0 && user.out.contains("ada"), "\(user.out)\(user.err)")
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("token").out != first)
            #expect(try await scene.agent.status("cognito").state == .active)
            server.tell("sign out")
            #expect(await server.output.wait(for: "signed out"))
            // The refusal could be early, and a 401 for a new token could mean that a right is missing.
            let ended = try await scene.agent.authc("refresh")
            #expect(ended.status != 0 && ended.err.contains("has been revoked"), "\(ended.err)")
            #expect(try await scene.agent.status("cognito").state == .active)
            let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
            _ = try await scene.ask("token.reject", ["access_token": .string(token)])
            #expect(try await scene.agent.status("cognito").state == .active)
            // Only another sign-in helps.
            #expect(try await self.login(scene, "ada", "Correct-horse1").status == 0)
            #expect(try await scene.agent.authc("refresh").status == 0)
            #expect(try await scene.agent.authc("logout").status == 0)
        }
    }

    @Test("NEW_PASSWORD_REQUIRED asks for a new password, and again if Cognito refuses it; the next sign-in uses it")
    func newPassword() async throws {
        try await play { scene, _ in
            let terminal = try await scene.terminal("authc login cognito --field username=new")
            await terminal.waits(for: "Password: ")
            terminal.type("Temporary-1\n")
            await terminal.waits(for: "NEW_PASSWORD_REQUIRED")
            for (password, words) in [("weak", "configured password policy"), ("Another-horse1", "exit 0")] {
                await terminal.waits(for: "New password: ")
                terminal.mark()
                terminal.type(password + "\n")
                await terminal.waits(for: "New password, again: ")
                terminal.type(password + "\n")
                await terminal.waits(for: words)
            }
            await terminal.ends()
            #expect(try await scene.agent.authc("logout").status == 0)
            #expect(try await login(scene, "new", "Another-horse1").status == 0)
        }
    }

    @Test("SOFTWARE_TOKEN_MFA asks for the code of the app; a wrong one is asked for again")
    func code() async throws {
        try await play { scene, server in
            let terminal = try await scene.terminal("authc login cognito --field username=app")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "SOFTWARE_TOKEN_MFA")
            await terminal.waits(for: "Code: ")
            terminal.mark()
            terminal.type("000000\n")
            await terminal.waits(for: "Code: ")
            #expect(terminal.text.contains("MFA Code Mismatch"), "\(terminal.text)")
            terminal.type(try await code(of: server) + "\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await scene.agent.status("cognito").state == .active)
        }
    }

    /// The code of the app, now.
    private func code(of server: Peer) async throws -> String {
        let lines = server.output.text.count { $0 == "\n" }
        server.tell("code")
        await server.output.wait(for: "\n", times: lines + 1)
        return String(try #require(server.output.text.matches(of: /code ([0-9]{6})/).last?.1))
    }

    @Test("SMS_MFA asks for the code of the text message")
    func text() async throws {
        try await play { scene, _ in
            let terminal = try await scene.terminal("authc login cognito --field username=text")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "SMS_MFA")
            await terminal.waits(for: "Code of the text message: ")
            terminal.type("123456\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await scene.agent.status("cognito").state == .active)
            #expect(try await scene.agent.authc("refresh").status == 0)
        }
    }

    @Test("MFA_SETUP after a new password: the key is shown, a wrong code refused; the next sign-in asks for a code")
    func setUp() async throws {
        try await play(pool: "strict") { scene, server in
            let terminal = try await scene.terminal("authc login cognito --field username=new")
            await terminal.waits(for: "Password: ")
            terminal.type("Temporary-1\n")
            await terminal.waits(for: "NEW_PASSWORD_REQUIRED")
            for question in ["New password: ", "New password, again: "] {
                await terminal.waits(for: question)
                terminal.type("Another-horse1\n")
            }
            // moto's only key.
            await terminal.waits(for: "asdfasdfasdf")
            await terminal.waits(for: "Code of an app with this key: ")
            terminal.mark()
            terminal.type("000000\n")
            await terminal.waits(for: "Code of an app with this key: ")
            #expect(terminal.text.contains("Code mismatch"), "\(terminal.text)")
            terminal.type(try await code(of: server) + "\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            #expect(try await scene.agent.status("cognito").state == .active)
            #expect(try await scene.agent.authc("logout").status == 0)

            let again = try await login(scene, "new", "Another-horse1")
            #expect(again.status == 64 && again.err.contains("Code (code) is missing"), "\(again.status) \(again.err)")
        }
    }
}
