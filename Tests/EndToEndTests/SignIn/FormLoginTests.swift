import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Sign-ins made for browsers: a form, a redirect, a cookie.
@Suite("Forms that answer with a redirect", .serialized, .timeLimit(.minutes(2)))
struct FormLoginTests {
    /// The example of Docs/profiles.md, with this server's address.
    private static func profile(_ url: String) throws -> String {
        let page = try SourceTree.text("Docs/profiles.md")
        let blocks = page.components(separatedBy: "```toml\n").map { $0.components(separatedBy: "\n```")[0] }
        guard let text = blocks.first(where: { $0.contains("name = \"django\"") }) else {
            throw Failure("the page has no such profile")
        }
        return text.replacing("https://www.example.org", with: url) + """

            [endpoints.me]
            method = "GET"
            path = "/me/"
            """
    }

    private static func signIn(_ scene: Scene, password: String) async throws -> Child.Output {
        try await scene.authc(["login", "django", "--field", "username=ada", "--password-stdin"], input: password)
    }

    @Test("Django's own sign-in page: a CSRF token, the form, 302, and a cookie that ends")
    func django() async throws {
        try await Scene.play { scene in
            try await Peer.running(.djangoREST, ["Correct-horse1"], in: scene.desktop) { server in
                try await scene.addProfile(Self.profile(server.url), named: "django")
                // The server sends its form again, with status 200.
                let refused = try await Self.signIn(scene, password: "Wrong-horse1")
                #expect(refused.status == 65 && refused.err.contains("refused the sign-in"), "\(refused.err)")
                #expect(try await scene.agent.authc("list").out.contains("django") == false)

                let login = try await Self.signIn(scene, password: "Correct-horse1")
                #expect(login.status == 0, "\(login.err)")
                let me = try await scene.agent.authc("call", "me")
                #expect(me.status == 0 && me.out == "{\"username\":\"ada\"}\n", "\(me.out)\(me.err)")
                let twoWeeks = Date.now.timeIntervalSince1970 + 14 * 86400
                let end = try #require(try await scene.agent.status("django").expiresAt)
                #expect(abs(end - twoWeeks) < 600)
                // The server accepts the token as a cookie with that name.
                let token = try await scene.agent.authc("token").out.trimmingCharacters(in: .whitespacesAndNewlines)
                let direct = try await scene.desktop.run([
                    "curl", "--silent", "--noproxy", "*", "--cookie", "sessionid=\(token)", server.url + "/me/",
                ])
                #expect(direct.out == "{\"username\":\"ada\"}")
            }
        }
    }

    @Test("Django's sign-in page again without the user: a new CSRF token, and a new session")
    func remembered() async throws {
        try await Scene.play { scene in
            try await Peer.running(.djangoREST, ["Correct-horse1"], in: scene.desktop) { server in
                let profile = try Self.profile(server.url)
                try await scene.addProfile(
                    profile.replacing("kind = \"none\"", with: "kind = \"sign-in\""), named: "django")
                let login = try await scene.authc(
                    ["login", "django", "--remember", "--field", "username=ada", "--password-stdin"],
                    input: "Correct-horse1")
                #expect(login.status == 0, "\(login.err)")
                let first = try await scene.agent.authc("token").out
                let refresh = try await scene.agent.authc("refresh")
                #expect(refresh.status == 0, "\(refresh.err)")
                #expect(try await scene.agent.authc("token").out != first)
                let me = try await scene.agent.authc("call", "me")
                #expect(me.status == 0 && me.out == "{\"username\":\"ada\"}\n", "\(me.out)\(me.err)")
            }
        }
    }

    @Test("a redirect elsewhere is a success and is not followed; without a rule it is an error as before")
    func elsewhere() async throws {
        try await ScriptedBackend.serving({ _ in .init(200, "{}") }) { other in
            let location = other.url + "/home"
            try await ScriptedBackend.serving({ _ in
                .init(303, "", [("Location", location), ("Set-Cookie", "sid=secret-sid-1; Max-Age=600; HttpOnly")])
            }) { backend in
                try await Scene.play { scene in
                    for (name, success) in [("ruled", "success = { status = [302, 303] }"), ("plain", "")] {
                        try await scene.addProfile(
                            """
                            name = "\(name)"
                            authorization = { cookie = "sid" }
                            [environments]
                            production = "\(backend.url)"
                            [sign_in.form]
                            fields = [{ name = "username" }, { name = "password", kind = "password" }]
                            request = { method = "POST", path = "/login", form = { u = "{username}", p = "{password}" } }
                            [reply]
                            access_token = { cookie = "sid" }
                            \(success)
                            [renewal]
                            kind = "none"
                            """, named: name)
                        let login = try await scene.authc(
                            ["login", name, "--field", "username=ada", "--password-stdin"], input: "pw")
                        #expect((login.status == 0) == (name == "ruled"), "\(name): \(login.status) \(login.err)")
                    }
                    #expect(try await scene.authc(["token", "-s", "ruled"]).out == "secret-sid-1\n")
                    #expect(backend.requests(to: "/login").count == 2)
                }
            }
            #expect(other.requests.isEmpty)
        }
    }
}
