import AuthWire
import Foundation
import StandInBackends
import Synchronization
import TestSupport
import Testing

/// What a profile can say about responses that differ, through the real agent.
@Suite("Users and errors at several places", .serialized, .timeLimit(.minutes(2)))
struct FallbackTests {
    private static func profile(_ url: String, _ more: String) -> String {
        """
        name = "shop"
        [environments]
        production = "\(url)"
        [sign_in.password]
        fields = [{ name = "email" }, { name = "password", kind = "password" }]
        request = { method = "POST", path = "/login", body = { email = "{email}", password = "{password}" } }
        [renewal]
        kind = "refresh"
        request = { method = "POST", path = "/refresh", body = { token = "{refresh_token}" } }
        \(more)
        """
    }

    private static func login(_ scene: Scene, _ more: String...) async throws -> Child.Output {
        try await scene.authc(
            ["login", "shop", "--field", "email=ada@example.org", "--password-stdin"] + more, input: "pw")
    }

    @Test("the user is fetched before a sign-in ends that returned none, and a failure of that does not lose it")
    func userRequest() async throws {
        let fails = Mutex(false)
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            guard call.path == "/me" else { return .init(200, #"{"token":"t","refresh":"r"}"#) }
            return fails.withLock { $0 } ? .init(404, "{}") : .init(200, #"{"profile":{"uid":7,"mail":"a@b.example"}}"#)
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        """
                        [reply]
                        access_token = "/token"
                        refresh_token = "/refresh"
                        [user]
                        id = ["/id", "/uid"]
                        email = ["/email", "/mail"]
                        [user_request]
                        user = ["/user", "/profile"]
                        request = { method = "GET", path = "/me", bearer = true }
                        """), named: "shop")
                let first = try await Self.login(scene)
                #expect(first.status == 0, "\(first.err)")
                let user = try await scene.agent.status("shop").user
                #expect(user?.id == "7" && user?.email == "a@b.example")
                fails.withLock { $0 = true }
                let second = try await Self.login(scene, "-s", "second")
                #expect(second.status == 0, "\(second.err)")
                let status = try await scene.agent.status("second")
                #expect(status.state == .active && status.user?.id == nil)
                #expect(backend.requests(to: "/me").map { $0.header("authorization") } == ["Bearer t", "Bearer t"])
            }
        }
    }

    @Test("a validation that returns only an ID and a name keeps the e-mail address")
    func partialUser() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            call.path == "/login"
                ? .init(200, #"{"token":"t","refresh":"r","user":{"id":7,"email":"a@b.example","name":"Ada"}}"#)
                : .init(200, #"{"user":{"id":7,"name":"Ada King"}}"#)
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        """
                        [reply]
                        access_token = "/token"
                        refresh_token = "/refresh"
                        user = "/user"
                        [user]
                        id = "/id"
                        email = "/email"
                        name = "/name"
                        [validation]
                        method = "GET"
                        path = "/valid"
                        bearer = true
                        """), named: "shop")
                #expect(try await Self.login(scene).status == 0)
                let validated = try await scene.authc(["validate", "-s", "shop"])
                #expect(validated.status == 0, "\(validated.err)")
                #expect(backend.requests(to: "/valid").count == 1)
                let user = try JSON(parsing: try await scene.authc(["whoami", "-s", "shop", "--json"]).out)["user"]
                #expect(user?["name"] == "Ada King" && user?["email"] == "a@b.example" && user?["id"] == "7")
            }
        }
    }

    @Test("a list of errors inside of a 200 is an error, its texts have kinds, and a 422 names its fields")
    func errors() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            switch (call.path, call.body.contains("bad")) {
            case ("/login", true):
                .init(422, #"{"errors":[{"loc":["body","username"],"msg":"Field required","type":"missing"}]}"#)
            case ("/login", false): .init(200, #"{"token":"t","errors":[]}"#)
            case ("/denied", _): .init(200, #"{"data":null,"errors":[{"message":"NOT YOURS"}]}"#)
            case ("/limit", _): .init(200, #"{"errors":[{"message":"x","extensions":{"code":"THROTTLED"}}]}"#)
            default: .init(200, #"{"data":[1]}"#)
            }
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        """
                        [reply]
                        access_token = "/token"
                        refresh_token = "/refresh"
                        [errors]
                        list = "/errors"
                        code = "/errors/0/extensions/code"
                        kinds = { "Not yours" = "forbidden", THROTTLED = "conflict" }
                        """), named: "shop")
                let refused = try await scene.authc(
                    ["login", "shop", "--field", "email=bad", "--password-stdin"], input: "pw")
                #expect(refused.status != 0 && refused.err.contains("username: Field required"), "\(refused.err)")
                #expect(try await Self.login(scene).status == 0)
                for (path, kind) in [("/denied", "forbidden"), ("/limit", "conflict")] {
                    let answer = try await scene.ask(
                        "api.request", ["session": "shop", "method": "GET", "path": .string(path)])
                    #expect(answer.text().contains("\"kind\":\"\(kind)\""), "\(answer.text())")
                }
                let good = try await scene.authc(["request", "GET", "/things", "-s", "shop"])
                #expect(good.status == 0 && good.out.contains("data"), "\(good.err)")
            }
        }
    }

    @Test("a remembered sign-in is made again after the refresh token was finally refused, and only then")
    func remembered() async throws {
        let logins = Mutex(0)
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            guard call.path == "/login" else { return .init(401, #"{"message":"used"}"#) }
            let number = logins.withLock { logins in
                logins += 1
                return logins
            }
            return .init(200, #"{"token":"t-\#(number)","refresh":"r-\#(number)"}"#)
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                try await scene.addProfile(
                    Self.profile(
                        backend.url,
                        """
                        [reply]
                        access_token = "/token"
                        refresh_token = "/refresh"
                        """), named: "shop")
                let login = try await Self.login(scene, "--remember")
                #expect(login.status == 0, "\(login.err)")
                #expect(try await scene.authc(["refresh", "-s", "shop"]).status == 0)
                #expect(try await scene.authc(["token", "-s", "shop"]).out == "t-2\n")
                #expect(backend.requests.map(\.path) == ["/login", "/refresh", "/login"])
                #expect(backend.requests.last?.body.contains("\"pw\"") == true)
                #expect(try await Self.login(scene, "-s", "other").status == 0)
                try await scene.expectRefusal(of: "other")
            }
        }
    }

    @Test("a sign-in that lacks a required part does not sign in")
    func required() async throws {
        let reply: @Sendable (ScriptedBackend.Received) -> ScriptedBackend.Reply = { call in
            let session = call.body.contains("half") ? "" : #","session":{"expiresAt":4000000000}"#
            let user = call.body.contains("nobody") ? "" : #","user":{"userId":"7"}"#
            return .init(200, #"{"token":"t"\#(user)\#(session)}"#)
        }
        try await ScriptedBackend.serving(reply) { backend in
            try await Scene.play { scene in
                _ = try scene.desktop.folder.write(
                    "[providers.aws-lambda.environments]\nmine = \"\(backend.url)\"\n", to: "config/authd/authd.toml")
                _ = try await scene.ask("agent.reload", [:])
                func login(_ email: String, _ method: String) async throws -> Child.Output {
                    let more = method == "register" ? ["--field", "displayName=Ada"] : []
                    return try await scene.authc(
                        [
                            "login", "aws-lambda", "--environment", "mine", "--method", method, "--field",
                            "email=\(email)", "--password-stdin",
                        ] + more, input: "Correct-h0rse!@")
                }
                for method in ["password", "register"] {
                    for (email, missing) in [("half@example.org", "expires_at"), ("nobody@example.org", "user")] {
                        let refused = try await login(email, method)
                        #expect(refused.status == 76 && refused.err.contains(missing), "\(method): \(refused.err)")
                        #expect(try await scene.authc(["list"]).out.isEmpty)
                    }
                    let whole = try await login("whole@example.org", method)
                    #expect(whole.status == 0, "\(method): \(whole.err)")
                    #expect(try await scene.authc(["logout", "--no-revoke"]).status == 0)
                }
            }
        }
    }
}
