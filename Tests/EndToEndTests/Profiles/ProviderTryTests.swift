import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("A profile tried at a server", .serialized, .timeLimit(.minutes(2)))
struct ProviderTryTests {
    private static let bundled = SourceTree.path("Sources/AuthProviders/Bundled")

    @Test("reports how each request is refused without credentials, for the five backends")
    func backends() async throws {
        try await Scene.play(keyring: false) { scene in
            for backend in Backend.allCases {
                let tried = try await scene.authc([
                    "provider", "check", "\(Self.bundled)/\(backend.rawValue).toml", "--against",
                    scene.backends.url(backend),
                ])
                #expect(tried.status == 0, "\(backend.rawValue): \(tried.out)\(tried.err)")
                #expect(tried.out.contains("ok  sign_in."), "\(tried.out)")
                #expect(tried.out.contains("refused without credentials"), "\(tried.out)")
                #expect(tried.out.contains("; message: "), "\(backend.rawValue): \(tried.out)")
                #expect(!tried.out.contains("-- "), "\(tried.out)")
            }
        }
    }

    @Test("names the sign-in page that Django's admin site redirects to, and what its own sign-in page does")
    func redirects() async throws {
        try await Scene.play(keyring: false) { scene in
            try await Peer.running(.djangoREST, ["Correct-horse1"], in: scene.desktop) { server in
                let profile = """
                    name = "django"
                    authorization = { cookie = "sessionid" }
                    [environments]
                    production = "\(server.url)"
                    [sign_in.form]
                    fields = [{ name = "username" }, { name = "password", kind = "password" }]
                    request = { method = "POST", path = "/api-token-auth/", body = { username = "{username}", password = "{password}" } }
                    [reply]
                    access_token = { cookie = "sessionid" }
                    success = { status = 302 }
                    [renewal]
                    kind = "none"
                    [validation]
                    method = "GET"
                    path = "/admin/"
                    bearer = true
                    """
                let file = try scene.desktop.folder.write(profile, to: "django.toml")
                let tried = try await scene.authc(["provider", "check", file, "--against", server.url])
                #expect(tried.status == 76, "\(tried.err)")
                #expect(tried.out.contains("ok  sign_in.form.request"), "\(tried.out)")
                let page = "/admin/login/?next=/admin/, its sign-in page"
                #expect(tried.out.contains("--  validation") && tried.out.contains(page), "\(tried.out)")
            }
        }
    }

    @Test("absent errors are a success; requests that are not sent are named with the reason")
    func notTried() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            switch call.path {
            case "/csrf": .init(200, #"{"token":"c"}"#)
            case "/user": .init(401, #"{"errors":[{"message":"Log in"}]}"#)
            default: .init(200, "{}")
            }
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play(keyring: false) { scene in
                let profile = """
                    name = "mine"
                    [environments]
                    production = "https://api.example.org"
                    [hosts]
                    auth = "https://auth.example.org"
                    [sign_in.form]
                    fields = [{ name = "email" }]
                    before = [
                        { method = "GET", path = "/csrf", capture = { csrf = "/token" } },
                        { method = "POST", path = "/start" },
                    ]
                    request = { method = "POST", path = "/login", body = { email = "{email}", csrf = "{csrf}" } }
                    [sign_in.elsewhere]
                    fields = [{ name = "name" }]
                    request = { method = "POST", host = "auth", path = "/login", body = { name = "{name}" } }
                    [sign_in.key]
                    kind = "key"
                    fields = [{ name = "key", kind = "key" }]
                    token = "{key}"
                    check = { method = "GET", path = "/user" }
                    [reply]
                    access_token = "/token"
                    [errors]
                    list = "/errors"
                    [renewal]
                    kind = "none"
                    [validation]
                    method = "GET"
                    path = "/me"
                    bearer = true
                    """
                let file = try scene.desktop.folder.write(profile, to: "mine.toml")
                let tried = try await scene.authc(["provider", "check", file, "--against", backend.url])
                #expect(tried.status == 0, "\(tried.out)\(tried.err)")
                for line in [
                    "ok  sign_in.form.before[0] 200: answered without credentials, with csrf",
                    "..  sign_in.form.before[1]: not tried: a POST might change something",
                    "ok  sign_in.form.request 200: accepted without credentials",
                    "..  sign_in.elsewhere.request: not tried: it is sent to https://auth.example.org, not to "
                        + backend.url,
                    "ok  sign_in.key.check 401: refused without credentials; message: Log in",
                    "ok  validation 200: accepted without credentials",
                ] { #expect(tried.out.split(separator: "\n").contains(Substring(line)), "\(line)\n\(tried.out)") }
                #expect(backend.requests.map(\.path) == ["/csrf", "/login", "/user", "/me"])
                #expect(backend.requests.allSatisfy { $0.header("authorization") == nil })
                let json = try await scene.authc(["provider", "check", file, "--against", backend.url, "--json"])
                let skipped = try JSON(parsing: Array(json.out.utf8))["requests"]?.arrayValue?
                    .filter { $0["skipped"] == true && $0["expected"] == true && $0["http_status"] == nil }
                #expect(skipped?.count == 2, "\(json.out)")
            }
        }
    }

    @Test("names what does not fit: another server, no server, a profile with problems, a bad address")
    func misfits() async throws {
        try await Scene.play(keyring: false) { scene in
            let file = "\(Self.bundled)/anonymous-wall.toml"
            let other = try await scene.authc(["provider", "check", file, "--against", scene.backends.url(.envelope)])
            #expect(other.status == 76 && other.out.contains("404: the server has no such path"), "\(other.out)")

            // Only root may listen there, and no service does.
            let closed = "http://127.0.0.1:1"
            let none = try await scene.authc(["provider", "check", file, "--against", closed])
            let lines = none.out.split(separator: "\n")
            #expect(none.status == 76 && lines.count == 1 && none.out.hasPrefix("--  sign_in."), "\(none.out)")

            let broken = try scene.desktop.folder.write("name = 7\n", to: "broken.toml")
            let problems = try await scene.authc(["provider", "check", broken, "--against", closed])
            #expect(problems.status == 78 && problems.out.contains("broken.toml:1: name:"), "\(problems.out)")

            let bad = try await scene.authc(["provider", "check", file, "--against", "ftp://example.org"])
            #expect(bad.status == 65 && bad.err.contains("address"), "\(bad.err)")

            let json = try await scene.authc([
                "provider", "check", file, "--against", scene.backends.url(.anonymousWall), "--json",
            ])
            let first = try JSON(parsing: Array(json.out.utf8))["requests"]?[0]
            #expect(json.status == 0 && first?["expected"] == true && first?["method"] == "POST", "\(json.out)")
        }
    }
}
