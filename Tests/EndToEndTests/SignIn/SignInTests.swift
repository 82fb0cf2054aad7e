import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// The sign-in rows of the backends' tables, through the real agent; the stand-ins refuse whatever differs from them.
@Suite("Sign-in at the backends", .serialized, .timeLimit(.minutes(2)))
struct SignInTests {
    // MARK: A

    @Test("A: registering with a password names each broken rule, then shows the server's message")
    func registerA() async throws {
        try await Scene.play { scene in
            let arguments = [
                "register", "aws-lambda", "--environment", "local", "--field", "displayName=Grace Hopper",
                "--password-stdin", "--field",
            ]
            let weak = try await scene.authc(arguments + ["email=grace@example.org"], input: "short")
            #expect(weak.status == 65, "\(weak.err)")
            for rule in ["at least 8 characters", "an upper-case letter", "a digit", "one of @"] {
                #expect(weak.err.contains(rule), "\(rule): \(weak.err)")
            }
            let nowhere = try await scene.authc(arguments + ["email=grace"], input: "Correct-horse1!")
            #expect(nowhere.err.contains("an e-mail address"), "\(nowhere.err)")
            #expect(scene.backends.counts[.awsLambda, "POST /auth/register"] == 0)
            let done = try await scene.authc(arguments + ["email=grace@example.org"], input: "Correct-horse1!")
            #expect(done.status == 0, "\(done.err)")
            #expect(done.err.contains("User registered successfully"), "\(done.err)")
            let status = try await scene.agent.status("aws-lambda")
            #expect(status.user?.name == "Grace Hopper")
            #expect(status.user?.email == "grace@example.org")
        }
    }

    @Test("A: a stored session is validated at start; a network error changes nothing, a 401 ends it")
    func validatedAtStart() async throws {
        try await Scene.play { scene in
            _ = try await scene.login(.awsLambda)
            try await scene.agent.child.end()
            await scene.backends.misbehave(.awsLambda, Misbehaviour(path: "/auth/validate", .cut(.beforeAnswer)))
            try await scene.startAgent()
            try await scene.backends.waitForCalls { $0[.awsLambda, "GET /auth/validate"] >= 1 }
            #expect(try await scene.agent.status("aws-lambda").state == .active)
            #expect(try await scene.agent.authc("token").status == 0)
            try await scene.agent.child.end()
            scene.backends.clear(.awsLambda)
            await scene.backends.misbehave(.awsLambda, Misbehaviour(.revokeTokens))
            try await scene.startAgent()
            #expect(try await scene.agent.authc("wait", "--until", "signed_out", "--timeout", "30s").status == 0)
            #expect(try await scene.agent.status("aws-lambda").state == .signInRequired)
            #expect(try await scene.desktop.keyringItems().count == 1)
        }
    }

    @Test("A: an ID token registers a new user, and signs in a known one")
    func federated() async throws {
        try await Scene.play { scene in
            let token = Scene.googleToken(subject: "g-1", email: "grace@example.org")
            let login = ["login", "aws-lambda", "--environment", "local", "--method", "google", "--password-stdin"]
            let new = try await scene.authc(login, input: token)
            #expect(new.status == 0, "\(new.err)")
            #expect(new.err.contains("User registered successfully"), "\(new.err)")
            #expect(try await scene.agent.status("aws-lambda").user?.name == "Grace Hopper")
            #expect(try await scene.agent.authc("logout").status == 0)
            let known = try await scene.authc(login, input: token)
            #expect(known.status == 0, "\(known.err)")
            #expect(known.err.contains("Login successful"), "\(known.err)")
            let counts = scene.backends.counts
            #expect(counts[.awsLambda, "POST /auth/register"] == 2)
            #expect(counts[.awsLambda, "POST /auth/login"] == 1)

            let ended = Scene.googleToken(subject: "g-1", email: "grace@example.org", end: 1_000_000_000)
            let refused = try await scene.authc(login, input: ended)
            #expect(refused.status == 65)
            #expect(refused.err.contains("a token that has not expired"), "\(refused.err)")
            #expect(scene.backends.counts[.awsLambda, "POST /auth/register"] == 2)
            // Somebody else's token for the same address is the backend's own no.
            let stranger = Scene.googleToken(subject: "g-2", email: "grace@example.org")
            #expect(try await scene.authc(login, input: stranger).status == 65)
        }
    }

    // MARK: D and E

    @Test("D and E: registering with a password signs in", arguments: [Backend.forkInTheRoad, .appTemplate])
    func register(backend: Backend) async throws {
        try await Scene.play { scene in
            let done = try await scene.authc(
                [
                    "register", backend.rawValue, "--environment", "local", "--field", "email=grace@example.org",
                    "--field", "name=Grace Hopper", "--password-stdin",
                ], input: "Correct-horse1")
            #expect(done.status == 0, "\(done.err)")
            let status = try await scene.agent.status(backend.rawValue)
            #expect(status.user?.email == "grace@example.org")
            #expect(status.user?.name == "Grace Hopper")
            #expect(status.needsPassword == false)
            let twice = try await scene.authc(
                [
                    "register", backend.rawValue, "--environment", "local", "-s", "second", "--field",
                    "email=grace@example.org", "--field", "name=Grace Hopper", "--password-stdin",
                ], input: "Correct-horse1")
            #expect(twice.status == 65)
            #expect(twice.err.contains("User already exists"), "\(twice.err)")
        }
    }

    // MARK: Any

    @Test("a sign-in that a program left unfinished can be ended by the next one")
    func unfinished() async throws {
        try await Scene.play { scene in
            let step = try await scene.ask(
                "login.start", ["provider": "app-template", "environment": "local"])
            #expect(step["kind"] == "fields", "\(step.text())")
            let refused = try await scene.login(.appTemplate)
            #expect(refused.status == 75)
            #expect(refused.err.contains("is in progress"), "\(refused.err)")
            let terminal = try await scene.terminal(
                "authc login app-template --environment local --field email=ada@example.org")
            await terminal.waits(for: "End it and continue? [y/N] ")
            terminal.type("y\n")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
            // Without a terminal, a flag does the same.
            _ = try await scene.ask("login.start", ["provider": "app-template", "environment": "local"])
            #expect(try await scene.login(.appTemplate).err.contains("--replace"))
            let replaced = try await scene.authc(
                [
                    "login", "app-template", "--environment", "local", "--field", "email=ada@example.org",
                    "--password-stdin", "--replace",
                ], input: "Correct-horse1")
            #expect(replaced.status == 0, "\(replaced.err)")
        }
    }

    @Test("a mistyped e-mail address is reported before the password prompt")
    func mistypedAddress() async throws {
        try await Scene.play { scene in
            let terminal = try await scene.terminal("authc login app-template --environment local")
            await terminal.waits(for: "E-mail: ")
            terminal.type("ada\n")
            await terminal.waits(for: "That is not an e-mail address")
            terminal.type("ada@example.org\n")
            await terminal.waits(for: "Password: ")
            terminal.type("Correct-horse1\n")
            await terminal.waits(for: "exit 0")
            await terminal.ends()
        }
    }

    @Test("a sign-in can be remembered beside a token that renews itself, for the time after its end")
    func remembered() async throws {
        try await Scene.play { scene in
            let done = try await scene.authc(
                [
                    "login", "app-template", "--environment", "local", "--field", "email=ada@example.org",
                    "--password-stdin", "--remember",
                ], input: "Correct-horse1")
            #expect(done.status == 0, "\(done.err)")
            #expect(!done.err.contains("Nothing is remembered"), "\(done.err)")
            #expect(try await scene.agent.status("app-template").remembered)
        }
    }

    // MARK: Users

    @Test("the user is fetched again from each backend that has a call for it", arguments: Backend.allCases)
    func fetched(backend: Backend) async throws {
        try await Scene.play { scene in
            _ = try await scene.login(backend)
            let fresh = try await scene.agent.authc("whoami", "--fresh")
            guard backend != .anonymousWall else { return #expect(fresh.status == 64, "\(fresh.err)") }
            #expect(fresh.out == "ada@example.org\n", "\(fresh.err)")
            let user = try await scene.agent.json("whoami")["user"]
            #expect(user?["name"] == "Ada Lovelace" && user?["id"] != nil, "\(user?.text() ?? "")")
        }
    }

    @Test("the user is known offline with its age, and changed by the names that the backend has")
    func users() async throws {
        try await Scene.play { scene in
            let changes: [Backend: JSON] = [
                .awsLambda: ["firstName": "Augusta", "lastName": "King"], .envelope: ["name": "Augusta King"],
                .forkInTheRoad: ["name": "Augusta King"], .appTemplate: ["name": "Augusta King"],
            ]
            for backend in Backend.allCases {
                let session = JSON.string(backend.rawValue)
                _ = try await scene.login(backend)
                guard let change = changes[backend] else {
                    let answer = try await scene.ask("user.update", ["session": session, "fields": ["name": "A"]])
                    #expect(answer["error"]?["data"]?["kind"] == "unsupported")
                    continue
                }
                let unknown = try await scene.ask(
                    "user.update", ["session": session, "fields": ["shoe_size": 42]])
                #expect(unknown["error"]?["data"]?["kind"] == "validation", "\(unknown.text())")
                let changed = try await scene.ask("user.update", ["session": session, "fields": change])
                #expect(changed["user"]?["name"] == "Augusta King", "\(changed.text())")
                try await scene.backends.setListening(false, backend)
                let kept = try await scene.ask("user.get", ["session": session])
                #expect(kept["user"]?["name"] == "Augusta King")
                #expect(kept["raw"] == changed["raw"])
                #expect((kept["age_ms"]?.integerValue).map { (0...60_000).contains($0) } == true)
                #expect(try await scene.agent.authc("whoami", "-s", backend.rawValue).out == "ada@example.org\n")
                let fresh = try await scene.agent.authc("whoami", "--fresh", "-s", backend.rawValue)
                #expect(fresh.status == 75, "\(fresh.err)")
            }
        }
    }
}
