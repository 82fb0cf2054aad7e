import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Requests that try to get around an access rule or the lock, with real programs.
@Suite("Ways around access rules and the lock", .serialized, .timeLimit(.minutes(2)))
struct PolicyBypassTests {
    private static func isDenied(_ answer: JSON, by rule: String) -> Bool {
        answer.errorKind == "denied" && answer["error"]?["message"]?.stringValue?.contains(rule) == true
    }

    @Test("a call of an allowed endpoint with another address is refused by a rule about api.request")
    func next() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.usePolicy(
                """
                enforce = true
                [[rule]]
                name = "no-paths"
                effect = "deny"
                method = "api.request"
                [[rule]]
                name = "no-users"
                effect = "deny"
                endpoint = ["users", "search-users"]
                """)
            let before = scene.backends.counts[.appTemplate, "GET /users"]
            let direct = try await scene.ask("api.call", ["endpoint": "users"])
            #expect(Self.isDenied(direct, by: "user.no-users"), "\(direct.text())")
            let next: JSON = .string(scene.backends.url(.appTemplate) + "/users")
            let around = try await scene.ask("api.call", ["endpoint": "preferences", "next": next])
            #expect(Self.isDenied(around, by: "user.no-paths"), "\(around.text())")
            #expect(scene.backends.counts[.appTemplate, "GET /users"] == before)
            #expect(try await scene.ask("api.call", ["endpoint": "preferences"]).errorKind != "denied")
        }
    }

    @Test("a limited client sees nothing of a listed session that a rule hides from it")
    func hidden() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            let extra = try await scene.openExtra(
                "sessions = [\"app-template\", \"fork-in-the-road\"]\nclasses = [\"status\"]")
            try await scene.usePolicy(
                """
                enforce = true
                [[rule]]
                name = "hidden"
                effect = "deny"
                session = "app-template"
                listener = "extra"
                """)
            try await onThread {
                let client = try RawClient(extra)
                let status = try client.ask("session.status", ["session": "app-template"])
                #expect(Self.isDenied(status, by: "user.hidden"), "\(status.text())")
                let list = try client.ask("session.list")
                #expect(list["result"]?["sessions"]?.arrayValue?.map { $0["session"] } == ["fork-in-the-road"])
                #expect(try client.ask("events.subscribe")["result"] != nil)
                #expect(try !client.json().text().contains("app-template"))
            }
        }
    }

    @Test("a locked agent can be unlocked without a terminal, whatever rules are in force, also if a file is broken")
    func unlock() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.usePolicy("enforce = true")
            func unlock() async throws -> Child.Output {
                try await scene.desktop.run(
                    ["setsid", "-w", Programs.authc, "unlock", "--passphrase-stdin"],
                    input: Scene.lockPassphrase + "\n")
            }
            try await scene.lock()
            #expect(try await scene.authc(["token"]).status == 77)
            let enforced = try await unlock()
            #expect(enforced.status == 0, "\(enforced)")
            #expect(try await scene.authc(["token"]).status == 0)
            try await scene.lock()
            try await scene.agent.child.end()
            _ = try scene.desktop.folder.write("enforce = maybe", to: "state/authd/policy.toml")
            try await scene.startAgent()
            #expect(try await scene.authc(["token", "-s", "app-template"]).status == 77)
            let broken = try await unlock()
            #expect(broken.status == 0, "\(broken)")
            #expect(try await scene.authc(["token"]).status == 0)
        }
    }

    @Test("a list of allowed sessions covers streams, sign-ins and tokens for an origin, and nothing of other sessions")
    func allowList() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            try await scene.usePolicy(
                """
                enforce = true
                [[rule]]
                name = "only"
                effect = "allow"
                session = "app-template"
                class = ["token", "act"]
                [[rule]]
                name = "rest"
                effect = "deny"
                class = ["token", "act"]
                """)
            let (own, other) = (scene.backends.url(.appTemplate), scene.backends.url(.forkInTheRoad))
            try await onThread { [path = scene.desktop.folder.path + "/run/authd/socket"] in
                let client = try RawClient(path, timeout: 60)
                let token = try client.ask("token.get", ["origin": .string(own)])
                #expect(token["result"]?["session"] == "app-template", "\(token.text())")
                let denied = try client.ask("token.get", ["origin": .string(other)])
                #expect(Self.isDenied(denied, by: "user.rest"), "\(denied.text())")
                var call: JSONObject = [
                    "session": "app-template", "method": "GET", "path": "/users", "stream": "s", "answer": "stream",
                ]
                #expect(try client.ask("api.request", .object(call))["result"]?["stream"] == "s")
                #expect(try client.ask("api.read", ["stream": "s"])["result"] != nil)
                #expect(try client.ask("api.close", ["stream": "s"])["result"] != nil)
                call["session"] = "fork-in-the-road"
                let closed = try client.ask("api.request", .object(call))
                #expect(Self.isDenied(closed, by: "user.rest"), "\(closed.text())")
            }
        }
    }
}

extension Scene {
    /// Has the agent use these rules of the user.
    func usePolicy(_ text: String) async throws {
        try writePolicy(text)
        let applied = try await ask("policy.apply", ["accepted": .string(text)])
        guard applied["applied"] == true else { throw Failure("not applied: \(applied.text())") }
    }
}
