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

    /// @unchecked Sendable: it is used by one thread at a time.
    private struct HeldClient: @unchecked Sendable {
        let client: RawClient
    }

    @Test("a stream that is open ends when a new rule refuses it, and not while rules only warn")
    func stream() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let held = HeldClient(client: try RawClient(scene.desktop.folder.path + "/run/authd/socket", timeout: 60))
            try await onThread {
                for name in ["s", "t"] {
                    let stream: JSON = .string(name)
                    let call: JSON = ["method": "GET", "path": "/users", "stream": stream, "answer": "stream"]
                    let opened = try held.client.ask("api.request", call)
                    #expect(opened["result"]?["stream"] == stream)
                }
            }
            let rule = "[[rule]]\nname = \"none\"\neffect = \"deny\"\nmethod = \"api.request\"\n"
            try await scene.usePolicy("enforce = false\n" + rule)
            try await onThread {
                let read = try held.client.ask("api.read", ["stream": "s"])
                #expect(read["result"] != nil, "\(read.text())")
            }
            try await scene.usePolicy("enforce = true\n" + rule)
            try await onThread {
                let read = try held.client.ask("api.read", ["stream": "t"])
                #expect(read["result"] == nil && read.errorKind != nil, "\(read.text())")
            }
        }
    }

    @Test("a queued write is not sent if a new rule refuses the program that queued it, and says so")
    func refusedLater() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.forkInTheRoad).status == 0)
            try await scene.backends.setListening(false, .forkInTheRoad)
            let queued = try await scene.authc(["call", "create-collection", "--queue", "name=Later"])
            #expect(queued.status == 0 && queued.err.contains("queued as"), "\(queued.err)")
            try await scene.usePolicy(
                """
                enforce = true
                [[rule]]
                name = "no-collections"
                effect = "deny"
                executable = "\(Programs.folder)/*"
                endpoint = "create-collection"
                """)
            try await scene.backends.setListening(true, .forkInTheRoad)
            _ = try await scene.authc(["outbox", "flush"])
            let left = try OutboxList(await scene.agent.json("outbox", "list")).entries
            #expect(left.count == 1 && left.first?.state == .givenUp && left.first?.error?.cause == "access_rule")
            #expect(scene.backends.counts[.forkInTheRoad, "POST /api/collections"] == 0)
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

    @Test("a locked agent can be unlocked without a terminal, whatever rules are in force, even if a file is broken")
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
                // It may have ended, which is another error.
                #expect(try client.ask("api.close", ["stream": "s"]).errorKind != "denied")
                call["session"] = "fork-in-the-road"
                let closed = try client.ask("api.request", .object(call))
                #expect(Self.isDenied(closed, by: "user.rest"), "\(closed.text())")
            }
        }
    }

    @Test("a token that waits in a batch is not sent after the lock")
    func batch() async throws {
        try await Scene.play { scene in
            try await scene.prepareLock()
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.authc(["token"]).out.trimmingCharacters(in: .newlines)
            let path = scene.desktop.folder.path + "/run/authd/socket"
            try await onThread {
                let (client, other) = (try RawClient(path, timeout: 60), try RawClient(path, timeout: 60))
                let wait = RawClient.request(
                    "session.wait", ["session": "app-template", "until": "signed_out"], id: "wait")
                let elements = [RawClient.request("token.get", id: "token"), wait].map { String($0.dropLast()) }
                try client.send("[" + elements.joined(separator: ",") + "]\n")
                #expect(try client.ask("agent.ping")["result"] != nil)
                #expect(try other.ask("agent.lock")["result"]?["locked"] == true)
                #expect(try other.ask("session.logout", ["session": "app-template"])["result"] != nil)
                let answers = try client.json()
                #expect(!token.isEmpty && !answers.text().contains(token), "\(answers.text())")
                let refused = answers.arrayValue?.first { $0["id"] == "token" }
                #expect(refused?.errorKind == "agent_locked")
                #expect(answers.arrayValue?.contains { $0["id"] == "wait" && $0["result"] != nil } == true)
            }
        }
    }

    /// Answers a GET at once, and a POST after a line of input. It prints its port, and each POST.
    private static let slowServer = """
        import http.server, sys, threading
        gate = threading.Event()
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_): pass
            def answer(self):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"{}")
            do_GET = answer
            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                print("POST", flush=True)
                gate.wait()
                self.answer()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        for _ in sys.stdin: gate.set()
        """

    @Test("a queued write that is being sent when the agent is locked is reported as queued, and sent once")
    func queued() async throws {
        try await Scene.play { scene in
            let server = try await Child(
                ["python3", "-c", Self.slowServer], environment: scene.desktop.environment, input: .held)
            #expect(await server.out.wait(for: "\n"))
            let port = server.out.text.prefix { $0.isNumber }
            try await scene.addProfile(
                """
                name = "slow"
                title = "Slow"
                [environments]
                local = "http://127.0.0.1:\(port)"
                [sign_in.token]
                kind = "key"
                fields = [{ name = "key", label = "Key", kind = "key" }]
                token = "{key}"
                [validation]
                method = "GET"
                path = "/me"
                bearer = true
                [renewal]
                kind = "none"
                [endpoints.add]
                method = "POST"
                path = "/items"
                """, named: "slow")
            try await scene.prepareLock()
            let login = try await scene.authc(["login", "slow", "--password-stdin"], input: "a-key\n")
            #expect(login.status == 0, "\(login.err)")
            let call = try await Child(
                [Programs.authc, "call", "add", "-s", "slow", "--queue"], environment: scene.desktop.environment)
            #expect(await server.out.wait(for: "POST"))
            try await scene.lock()
            let output = await call.output()
            #expect(output.status == 0 && output.err.contains("queued as"), "\(output)")
            let waiting = try OutboxList(await scene.agent.json("outbox", "list")).entries
            #expect(waiting.count == 1 && output.err.contains(waiting.first?.id ?? "none"), "\(output.err)")
            server.tell("go")
            #expect(try await scene.unlock().status == 0)
            #expect(try await until { try await OutboxList(scene.agent.json("outbox", "list")).entries.isEmpty })
            #expect(server.out.text.split(separator: "\n").count { $0 == "POST" } == 1, "\(server.out.text)")
            server.endInput()
            await server.end()
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
