import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// Providers that return tokens in headers and cookies, through the real agent.
@Suite("Tokens in headers and cookies", .serialized, .timeLimit(.minutes(2)))
struct CookieTests {
    private static func profile(_ url: String, cookies: Bool = true, reply: String, renewal: String) -> String {
        """
        name = "shop"
        cookies = \(cookies)
        [environments]
        production = "\(url)"
        [sign_in.password]
        fields = [{ name = "email" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/login", body = { email = "{email}", password = "{password}" } }
        [reply]
        \(reply)
        [renewal]
        \(renewal)
        [api]
        cache_seconds = 0
        [endpoints.me]
        method = "GET"
        path = "/me"
        [endpoints.below]
        method = "GET"
        path = "/auth/below"
        """
    }

    private static func login(_ scene: Scene, _ session: String = "shop") async throws {
        let login = try await scene.authc(
            ["login", "shop", "-s", session, "--field", "email=ada@example.org", "--password-stdin"], input: "pw")
        #expect(login.status == 0, "\(login.err)")
    }

    private static func call(_ scene: Scene, _ name: String = "me", _ session: String = "shop") async throws {
        let call = try await scene.authc(["call", name, "-s", session])
        #expect(call.status == 0, "\(call.err)")
    }

    /// A server with a session cookie, and a refresh token that rotates in an `HttpOnly` cookie for one path.
    private final class CookieServer: Sendable {
        private let state = Mutex((logins: 0, renewals: 0))

        func reply(_ call: ScriptedBackend.Received) -> ScriptedBackend.Reply {
            switch call.path {
            case "/login":
                let number = state.withLock { state in
                    state.logins += 1
                    return state.logins
                }
                return .init(
                    200, #"{"token":"token-\#(number)-0","expires_in":3600}"#,
                    [
                        ("Set-Cookie", "sid=secret-sid-\(number); Path=/; HttpOnly"),
                        (
                            "Set-Cookie",
                            "refresh=secret-refresh-\(number)-0; Path=/refresh; HttpOnly; Secure; Max-Age=900"
                        ),
                        ("Set-Cookie", "elsewhere=1; Domain=other.example; Path=/"),
                        ("Set-Cookie", "below=1; Path=/auth"),
                    ])
            case "/refresh":
                guard let old = call.header("cookie")?.firstMatch(of: /refresh=secret-refresh-([0-9]+)-([0-9]+)/),
                    let number = Int(old.2)
                else { return .init(401, #"{"error":"no refresh token"}"#) }
                let next = "\(old.1)-\(number + 1)"
                return .init(
                    200, #"{"token":"token-\#(next)","expires_in":3600}"#,
                    [("Set-Cookie", "refresh=secret-refresh-\(next); Path=/refresh; HttpOnly; Secure; Max-Age=900")])
            case "/me": return .init(200, "{}", [("Set-Cookie", "seen=1; Path=/")])
            default: return .init(200, "{}")
            }
        }
    }

    @Test("a session keeps its own cookies, sends them by host and path, and renews with one")
    func jar() async throws {
        let server = CookieServer()
        try await ScriptedBackend.serving({ server.reply($0) }) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        reply: """
                            access_token = "/token"
                            refresh_token = { cookie = "refresh" }
                            expires_in = "/expires_in"
                            """,
                        renewal: """
                            kind = "refresh"
                            request = { method = "POST", path = "/refresh" }
                            """), named: "shop")
                try await Self.login(scene)
                try await Self.login(scene, "second")
                try await Self.call(scene)
                try await Self.call(scene)
                try await Self.call(scene, "below")
                try await Self.call(scene, "me", "second")
                #expect(
                    backend.requests(to: "/me").map { $0.all("cookie") } == [
                        ["sid=secret-sid-1"], ["sid=secret-sid-1; seen=1"], ["sid=secret-sid-2"],
                    ])
                #expect(
                    backend.requests(to: "/auth/below").map { $0.all("cookie") } == [
                        ["below=1; sid=secret-sid-1; seen=1"]
                    ])
                #expect(backend.requests(to: "/me").map { $0.header("authorization") }.first == "Bearer token-1-0")
                #expect(backend.requests(to: "/login").allSatisfy { $0.header("cookie") == nil })

                let renewed = try await scene.authc(["refresh", "-s", "shop"])
                #expect(renewed.status == 0, "\(renewed.err)")
                #expect(try await scene.authc(["token", "-s", "shop"]).out == "token-1-1\n")
                // What an API call brought is stored by now, and so is the new refresh token.
                try await scene.restart()
                #expect(try await scene.authc(["refresh", "-s", "shop"]).status == 0)
                #expect(
                    backend.requests(to: "/refresh").map { $0.all("cookie") } == [
                        ["refresh=secret-refresh-1-0; sid=secret-sid-1; seen=1"],
                        ["refresh=secret-refresh-1-1; sid=secret-sid-1; seen=1"],
                    ])
                try await Self.call(scene)
                #expect(backend.requests.last?.all("cookie") == ["sid=secret-sid-1; seen=1"])
                for agent in scene.agents.withLock({ $0 }) { #expect(!agent.child.err.text.contains("secret-refresh")) }
            }
        }
    }

    @Test("a client with limited access gets no header with a credential: of a response, from the cache, of a stream")
    func limitedAccess() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            let headers = [("X-Token", "token-1"), ("Set-Cookie", "refresh=secret; HttpOnly"), ("X-Other", "shown")]
            return .init(200, #"{"token":"token-0","expires_in":3600}"#, headers)
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        reply: "access_token = { header = \"X-Token\" }\nexpires_in = \"/expires_in\"",
                        renewal: "kind = \"none\""
                    ).replacing("cache_seconds = 0", with: "cache_seconds = 60")
                        .replacing("[sign_in", with: "staging = \"\(backend.url)/staging\"\n[sign_in"), named: "shop")
                try await Self.login(scene)
                let extra = try await scene.openExtra(
                    "sessions = [\"shop\"]\nclasses = [\"status\", \"act\"]\nendpoints = [\"me\"]")
                let main = scene.desktop.folder.path + "/run/authd/socket"
                for members in [[:], [:], ["answer": "stream", "stream": "s"]] as [JSONObject] {
                    for path in [extra, main] {
                        var params = members
                        params["session"] = "shop"
                        params["endpoint"] = "me"
                        let answer = try await onThread { [params] in
                            try RawClient(path).ask("api.call", .object(params))
                        }
                        let headers = answer["result"]?["headers"]
                        #expect(headers?["x-other"] == "shown", "\(answer.text())")
                        #expect((headers?["set-cookie"] == nil) == (path == extra), "\(answer.text())")
                        #expect((headers?["x-token"] == nil) == (path == extra), "\(answer.text())")
                    }
                }
                // Nor the path of the profile, nor an environment that no session uses.
                let show = try await onThread {
                    try RawClient(extra).ask("provider.show", ["provider": "shop"])["result"]
                }
                #expect(show?["source"] == "file")
                #expect(show?["environments"]?.arrayValue?.map { $0["name"] } == ["production"])
                let list = try await onThread { try RawClient(extra).ask("provider.list")["result"]?["providers"]?[0] }
                #expect(list?["source"] == "file" && list?["environments"] == ["production"])
            }
        }
    }

    @Test("a token in a header, with its scheme, and a refresh token in a cookie that the profile sends itself")
    func header() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            switch call.path {
            case "/login":
                .init(
                    204, type: nil,
                    [("Authorization", "Bearer t-1"), ("Set-Cookie", "r=r-1; HttpOnly"), ("X-Seconds", "3600")])
            case "/refresh": .init(204, type: nil, [("Authorization", "Bearer t-2"), ("X-Seconds", "3600")])
            default: .init(200, "{}")
            }
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url, cookies: false,
                        reply: """
                            access_token = { header = "Authorization" }
                            refresh_token = { cookie = "r" }
                            expires_in = { header = "X-Seconds" }
                            """,
                        renewal: """
                            kind = "refresh"
                            request = { method = "POST", path = "/refresh", headers = { Cookie = "r={refresh_token}" } }
                            """), named: "shop")
                try await Self.login(scene)
                #expect(try await scene.authc(["token", "-s", "shop"]).out == "t-1\n")
                #expect(try await scene.agent.status("shop").expiresAt != nil)
                #expect(try await scene.authc(["refresh", "-s", "shop"]).status == 0)
                #expect(backend.requests(to: "/refresh").map { $0.all("cookie") } == [["r=r-1"]])
                try await Self.call(scene)
                #expect(backend.requests.last?.header("authorization") == "Bearer t-2")
                #expect(backend.requests.last?.header("cookie") == nil)
            }
        }
    }

    @Test("a token in a cookie ends with the cookie; a response that deletes it has none")
    func cookieToken() async throws {
        let deletes = Mutex(false)
        try await ScriptedBackend.serving({ _ in
            let cookie = deletes.withLock { $0 } ? "sid=; Max-Age=0" : "sid=\"t-1\"; Max-Age=600; HttpOnly"
            return .init(200, "{}", [("Set-Cookie", "sid=old"), ("set-cookie", cookie)])
        }) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url, reply: "access_token = { cookie = \"sid\" }", renewal: "kind = \"none\""),
                    named: "shop")
                try await Self.login(scene)
                #expect(try await scene.authc(["token", "-s", "shop"]).out == "t-1\n")
                let end = try #require(try await scene.agent.status("shop").expiresAt)
                #expect((500...600).contains(end - Date().timeIntervalSince1970))
                deletes.withLock { $0 = true }
                let failed = try await scene.authc(
                    ["login", "shop", "-s", "other", "--field", "email=a@example.org", "--password-stdin"], input: "pw")
                #expect(failed.status != 0 && failed.err.contains("the cookie sid"), "\(failed.err)")
            }
        }
    }
}
