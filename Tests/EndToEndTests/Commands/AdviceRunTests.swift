import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// AuthClientTests check that authc accepts every command that a message names. Here authc prints real messages, and
/// the commands that they advise are typed as shown, in the same state.
@Suite("Commands that messages advise, run as shown", .serialized, .timeLimit(.minutes(5)))
struct AdviceRunTests {
    /// The commands of a message.
    private static func commands(_ output: Child.Output) -> [String] {
        (output.out + output.err).matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// Types a command at a terminal, and answers what it asks for.
    private static func type(
        _ command: String, in scene: Scene, answering answers: [(String, String)]
    ) async throws {
        let terminal = try await scene.terminal(command)
        for (question, answer) in answers {
            await terminal.waits(for: question)
            terminal.mark()
            terminal.type(answer + "\n")
        }
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"), "\(command): \(terminal.text)")
    }

    @Test("nobody is signed in: the advised command signs in, and after a sign-out to the same environment")
    func signIn() async throws {
        try await Scene.play { scene in
            let refused = try await scene.agent.authc("token")
            #expect(refused.status == 3 && Self.commands(refused) == ["authc login"], "\(refused)")
            let account = [("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1")]
            try await Self.type(
                "authc login", in: scene,
                answering: [("name or URL: ", "app-template"), ("one of these names: ", "local")] + account)
            #expect(try await scene.agent.authc("token").status == 0)

            let left = try await scene.agent.authc("logout")
            let again = try #require(Self.commands(left).first, "\(left)")
            #expect(Self.commands(left).count == 1 && again.hasSuffix(" --environment local"), "\(left)")
            try await Self.type(again, in: scene, answering: account)
            #expect(try await scene.agent.status("app-template").environment == "local")
        }
    }

    @Test("a wrong password without a terminal: the advised command asks for it on one")
    func wrongPassword() async throws {
        try await Scene.play { scene in
            let refused = try await scene.login(.appTemplate, password: "Wrong-horse1")
            let again = try #require(Self.commands(refused).first, "\(refused)")
            #expect(refused.status == 65 && again.hasPrefix("authc login app-template "), "\(refused)")
            try await Self.type(again, in: scene, answering: [("Password: ", "Correct-horse1")])
            #expect(try await scene.agent.authc("token").status == 0)
        }
    }

    @Test("a session is there: after a mistyped or impossible command, every advised one succeeds")
    func mistakes() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            for (line, status) in [
                ("status -s nope", 64), ("use nope", 64), ("login app-tmplate", 64), ("provider show nope", 64),
                ("provider add nope", 64), ("request GET users", 64), ("request GET /nope", 65), ("call nope", 64),
                ("call user", 65), ("outbox show 7", 65), ("http env foo", 64), ("http remove foo", 64),
                ("http list", 0), ("list --jsno", 64), ("status app-template", 64), ("whomai", 64), ("unlock", 65),
                ("store rekey", 64), ("policy test", 64), ("outbox list --json id", 64), ("validate nope", 64),
            ] as [(String, Int32)] {
                let output = try await scene.run("authc " + line)
                let commands = Self.commands(output)
                #expect(output.status == status && !commands.isEmpty, "\(line): \(output)")
                for command in commands where !command.hasSuffix(" -s nope") && !command.hasSuffix(" -s id") {
                    let advised = try await scene.run(command)
                    #expect(advised.status == 0, "\(line), \(command): \(advised)")
                }
            }
            #expect(try await scene.agent.authc("token").status == 0)
        }
    }

    @Test("a known provider has no profile yet: the advised commands write it and load it")
    func newProvider() async throws {
        try await Scene.play { scene in
            let unknown = try await scene.agent.authc("login", "githb")
            let add = try #require(Self.commands(unknown).last)
            #expect(unknown.status == 64 && add == "authc provider add github", "\(unknown)")
            try await Self.type(add, in: scene, answering: [("Client ID", "Iv1.0123456789abcdef")])
            #expect(try await scene.agent.authc("provider", "show", "github").status == 0)

            let written = try await scene.agent.authc(
                "provider", "add", "gitlab", "--client-id", "a", "-o", scene.profilePath("gitlab"))
            #expect(written.status == 0, "\(written)")
            for line in ["login gitlab --no-input", "token -s gitlab"] {
                let unloaded = try await scene.run("authc " + line)
                #expect(unloaded.status == 64 && Self.commands(unloaded).last == "authc reload", "\(unloaded)")
            }
            #expect(try await scene.run("authc reload").status == 0)
            #expect(try await scene.agent.authc("provider", "show", "gitlab").status == 0)
        }
    }

    @Test("a session with the name of a provider or of an environment: the advised command creates it")
    func beforeSignIn() async throws {
        try await Scene.play { scene in
            let file = scene.desktop.folder.path + "/config/authd/authd.toml"
            let url = scene.backends.url(.appTemplate)
            let table = "[providers.app-template.environments]\n"
            let settings = try String(contentsOfFile: file, encoding: .utf8).replacing(
                table, with: "[providers.app-template]\ndefault_environment = \"local\"\n\(table)home = \"\(url)\"\n")
            try settings.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try await scene.agent.authc("reload").status == 0)
            for name in ["app-template", "home"] {
                let refused = try await scene.agent.authc("token", "-s", name)
                let login = try #require(Self.commands(refused).last)
                #expect(refused.status == 64 && login.hasPrefix("authc login app-template"), "\(refused)")
                try await Self.type(
                    login, in: scene,
                    answering: [("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1")])
                #expect(try await scene.agent.authc("token", "-s", name).status == 0)
            }
        }
    }

    @Test("the agent is locked: the advised commands set a passphrase, lock and unlock")
    func locked() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let impossible = try await scene.agent.authc("lock")
            #expect(Self.commands(impossible) == ["authc lock --set-passphrase"], "\(impossible)")
            let answer = Scene.lockPassphrase
            try await Self.type(
                "authc lock --set-passphrase", in: scene,
                answering: [("New passphrase of the lock: ", answer), ("again: ", answer)])
            try await scene.lock()
            let refused = try await scene.agent.authc("token")
            #expect(refused.status == 77 && Self.commands(refused).contains("authc unlock"), "\(refused)")
            try await Self.type("authc unlock", in: scene, answering: [("Passphrase of the lock: ", answer)])
            #expect(try await scene.agent.authc("token").status == 0)
        }
    }

    @Test("sealed files have no passphrase yet: the advised command chooses one, and a sign-in works")
    func closedStore() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "sealed-file"])
            let refused = try await scene.login(.appTemplate)
            #expect(refused.status != 0 && Self.commands(refused).contains("authc store unlock"), "\(refused)")
            let answer = "correct horse battery"
            try await Self.type(
                "authc store unlock", in: scene,
                answering: [("New passphrase for your sessions: ", answer), ("again: ", answer)])
            #expect(try await scene.login(.appTemplate).status == 0)
        }
    }

    @Test("a provider cannot be reached: the advised command reports on it")
    func unreachable() async throws {
        try await Scene.play { scene in
            let file = scene.desktop.folder.path + "/config/authd/authd.toml"
            let settings = try String(contentsOfFile: file, encoding: .utf8).replacing(
                "[providers.app-template.environments]\n",
                // The port of tcpmux, which no machine serves.
                with: "[providers.app-template.environments]\ndead = \"http://127.0.0.1:1\"\n")
            try settings.write(toFile: file, atomically: true, encoding: .utf8)
            #expect(try await scene.agent.authc("reload").status == 0)
            let refused = try await scene.agent.authc(
                "login", "app-template", "--environment", "dead", "--field", "email=ada@example.org",
                "--password-stdin", input: "Correct-horse1")
            #expect(refused.status == 75 && Self.commands(refused).contains("authc doctor"), "\(refused)")
            let doctor = try await scene.run("authc doctor")
            #expect(![64, 70].contains(doctor.status) && doctor.out.contains("network"), "\(doctor)")
        }
    }

    @Test("no agent runs: the advised command starts one that serves the sessions")
    func noAgent() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            let token = try await scene.agent.authc("token").out
            try await scene.agent.child.end()
            for words in [["token"], ["doctor"]] {
                let refused = try await scene.agent.authc(words)
                #expect(refused.status == 69 && Self.commands(refused).contains("authd"), "\(refused)")
            }
            var environment = scene.desktop.environment
            environment["PATH"] = Programs.folder + ":" + (environment["PATH"] ?? "")
            let agent = try await Child(["bash", "-c", "authd"], environment: environment)
            #expect(try await until { try await scene.agent.authc("token").status != 69 })
            let served = try await scene.agent.authc("wait", "--timeout", "30s")
            #expect(served.status == 0, "\(served)")
            #expect(try await scene.agent.authc("token").out == token)
            await agent.end()
        }
    }
}
