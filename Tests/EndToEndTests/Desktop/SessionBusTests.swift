import AuthWire
import Foundation
import Glibc
import StandInBackends
import TestSupport
import Testing

/// `org.authd` on a real session bus, with sessions. The clients are busctl, gdbus and GLib's object manager.
@Suite("The session bus", .timeLimit(.minutes(2)))
struct SessionBusTests {
    private static let path = "/org/authd/session/app_2dtemplate"
    private static let sandbox = [
        "bwrap", "--die-with-parent", "--dev-bind", "/", "/", "--unshare-pid", "--unshare-user",
    ]

    @Test("a sign-in is a new object, a renewal changes its properties, and a sign-out removes it")
    func objects() async throws {
        try await Scene.play { scene in
            try await scene.waitForName()
            let watching = try await scene.watchBus()
            #expect(await watching.out.wait(for: "objects\n"))
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(await watching.out.wait(for: "added \(Self.path)\n"))
            let chosen = try await scene.busctl(
                "get-property", "org.authd", "/org/authd", "org.authd.Agent1", "DefaultSession")
            #expect(chosen.out == "o \"\(Self.path)\"\n", "\(chosen)")

            let state = try await scene.busctl("get-property", "org.authd", Self.path, "org.authd.Session1", "State")
            #expect(state.out == "s \"active\"\n", "\(state)")
            let user = try await scene.busctl("get-property", "org.authd", Self.path, "org.authd.Session1", "User")
            #expect(user.out.contains("\"email\" s \"ada@example.org\""), "\(user)")
            let tree = try await scene.busctl("tree", "--list", "org.authd")
            #expect(tree.out.split(separator: "\n").map(String.init).contains(Self.path), "\(tree)")
            let shown = try await scene.desktop.run([
                "gdbus", "introspect", "--session", "--dest", "org.authd", "--object-path", Self.path,
            ])
            #expect(shown.status == 0 && shown.out.contains("readonly s Provider = 'app-template'"), "\(shown)")
            #expect(shown.out.contains("GetToken("), "\(shown)")

            // So that its end differs from that of the token before.
            await scene.backends.setTokenLifetime(.seconds(7200), at: .appTemplate)
            let renewed = try await scene.busctl("call", "org.authd", Self.path, "org.authd.Session1", "Refresh")
            #expect(renewed.status == 0, "\(renewed)")
            let end = try await scene.busctl("get-property", "org.authd", Self.path, "org.authd.Session1", "ExpiresAt")
            #expect(end.out.hasPrefix("x "), "\(end)")
            #expect(await watching.out.wait(for: "changed \(Self.path) ExpiresAt \(end.out.dropFirst(2))"))

            let left = try await scene.busctl(
                "call", "org.authd", Self.path, "org.authd.Session1", "SignOut", "a{sv}", "1", "revoke", "b", "false")
            #expect(left.status == 0, "\(left)")
            #expect(await watching.out.wait(for: "removed \(Self.path)\n"))
            let gone = try await scene.busctl("get-property", "org.authd", Self.path, "org.authd.Session1", "State")
            #expect(gone.status != 0 && gone.err.contains("There is no such object"), "\(gone)")
            watching.endInput()
            #expect(await watching.ended() == 0, "\(watching.err.text)")
        }
    }

    @Test("the token comes through a descriptor; messages do not contain it, and the audit log names the caller")
    func token() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let monitor = try await Child(["dbus-monitor", "--session"], environment: scene.desktop.environment)
            #expect(await monitor.out.wait(for: "NameLost"), "\(monitor.err.text)")
            let token = try await scene.authc(["token"]).out
            let got = try await scene.busToken(Self.path, ["purpose=test"])
            #expect(got.status == 0 && got.out == token, "\(got.err)")
            #expect(got.err.contains("['expires_at', 'session', 'token_type', 'valid_ms'] app-template"), "\(got.err)")
            #expect(await monitor.out.wait(for: "file descriptor"))
            await monitor.end()
            let secret = token.trimmingCharacters(in: .newlines)
            #expect(!secret.isEmpty && !monitor.out.text.contains(secret))

            let entry = try #require(try AuditList(try await scene.agent.json("log")).entries.last)
            #expect(entry.listener == "dbus" && entry.method == "token.get" && entry.rule == "default.token")
            #expect(entry.exe?.contains("python") == true && entry.session?.text == "app-template")
            #expect(entry.purpose == "test" && entry.token?.count == 16 && entry.pid != nil)
        }
    }

    @Test("errors have the names and the texts of the socket's errors")
    func errors() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let missing = try await scene.busToken("/org/authd/session/missing")
            let text = try await scene.authc(["token", "-s", "missing"]).err
            #expect(missing.out.isEmpty && missing.err.contains("org.authd.Error."), "\(missing)")
            let message = missing.err.split(separator: ": ").dropFirst().joined(separator: ": ")
            #expect(text.contains(message.prefix(20)), "\(missing.err) \(text)")
            for (option, reason) in [("sesion=x", "sesion"), ("min_valid_ms=soon", "min_valid_ms")] {
                let wrong = try await scene.busToken(Self.path, [option])
                #expect(wrong.out.isEmpty && wrong.err.contains("Error.Validation"), "\(wrong)")
                #expect(wrong.err.contains(reason), "\(wrong)")
            }
            for options in [
                (0..<600).map { "option\($0)=x" },
                (0..<11).map { "option\($0)=" + String(repeating: "x", count: 100_000) },
            ] {
                let large = try await scene.busToken(Self.path, options)
                #expect(large.out.isEmpty && large.err.contains("too large"), "\(large)")
            }
            #expect(try await scene.authc(["logout"]).status == 0)
            let signedOut = try await scene.busToken(Self.path)
            #expect(signedOut.out.isEmpty && signedOut.err.contains("org.authd.Error."), "\(signedOut)")
            for (call, reason) in [
                (["/org/authd/session/app-template", "org.authd.Session1", "Refresh"], "nvalid"),
                (["/org/authd/session/a_2Db", "org.authd.Session1", "Refresh"], "There is no such object"),
                (["/org/authd", "org.authd.Session1", "Forget"], "There is no method org.authd.Session1.Forget"),
                ([Self.path, "org.authd.Session1", "GetToken"], "arguments of the signature 'a{sv}'"),
                (["/org/authd", "org.freedesktop.DBus.Properties", "GetAll", "s", "a.b"], "has no interface a.b"),
            ] {
                let wrong = try await scene.busctl(["call", "org.authd"] + call)
                #expect(wrong.status != 0 && wrong.err.contains(reason), "\(wrong)")
            }
        }
    }

    @Test(
        "a client in a sandbox gets what [listener.extra] allows: nothing by default, and no signal of other sessions")
    func sandbox() async throws {
        try await Scene.play { scene in
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let inside = Self.sandbox
            let list = ["call", "org.authd", "/org/authd", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"]
            for attempt in [
                list, ["get-property", "org.authd", Self.path, "org.authd.Session1", "State"],
                ["call", "org.authd", Self.path, "org.authd.Session1", "GetToken", "a{sv}", "0"],
                ["call", "org.authd", Self.path, "org.authd.Session1", "Refresh"],
                ["call", "org.authd", Self.path, "org.authd.Session1", "SignOut", "a{sv}", "0"],
            ] {
                let refused = try await scene.desktop.run(
                    inside + ["busctl", "--user"] + attempt)
                #expect(refused.status != 0 && refused.out.isEmpty, "\(attempt): \(refused)")
                #expect(refused.err.contains("sandbox") && refused.err.contains("[listener.extra]"), "\(refused)")
            }
            // The rules list a session, so that it is the only one.
            #expect(try await scene.login(.envelope).status == 0)
            _ = try await scene.openExtra("sessions = [\"envelope\"]\nclasses = [\"status\"]")
            let seen = try await scene.desktop.run(inside + ["busctl", "--user"] + list)
            #expect(seen.status == 0 && seen.out.contains("/org/authd/session/envelope"), "\(seen)")
            #expect(!seen.out.contains("app_2dtemplate"), "\(seen)")
            let watching = try await scene.watchBus(through: inside)
            #expect(await watching.out.wait(for: "objects /org/authd/session/envelope\n"))
            #expect(try await scene.authc(["refresh", "-s", "app-template"]).status == 0)
            #expect(try await scene.authc(["logout", "-s", "app-template"]).status == 0)
            #expect(try await scene.authc(["logout", "-s", "envelope"]).status == 0)
            #expect(await watching.out.wait(for: "removed /org/authd/session/envelope\n"))
            #expect(!watching.out.text.contains("app_2dtemplate"), "\(watching.out.text)")
            await watching.end(SIGKILL)
        }
    }

    @Test("a client in a sandbox that answers for the bus has limited access all the same")
    func forged() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let forge = try Peer.Program.busClient.command(["forge", Self.path, "\(getpid())"])
            let forged = try await scene.desktop.run(Self.sandbox + forge)
            let errors = forged.out.split(separator: "\n")
            #expect(forged.status == 0 && errors.count == 20, "\(forged)")
            #expect(errors.allSatisfy { $0.contains("[listener.extra]") }, "\(forged)")
        }
    }

    @Test("of many connections in sandboxes, those above the limit are refused with an error")
    func crowd() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            try await scene.waitForName()
            let crowd = try Peer.Program.busClient.command(["crowd", "66"])
            let refused = try await scene.desktop.run(Self.sandbox + crowd)
            let errors = refused.out.split(separator: "\n")
            #expect(refused.status == 0 && errors.count == 66, "\(refused)")
            #expect(errors.prefix(64).allSatisfy { $0.contains("[listener.extra]") }, "\(refused)")
            #expect(errors.suffix(2).allSatisfy { $0.contains("Error.Busy") }, "\(refused)")
            // The connections of the user are not among them.
            #expect(try await scene.busctl("tree", "--list", "org.authd").status == 0)
        }
    }

    @Test("at the end of the agent, a request in progress is answered")
    func stopped() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            await scene.backends.misbehave(
                .appTemplate, Misbehaviour(path: "/auth/refresh", .delay(.milliseconds(500))))
            let refresh = try await Child(
                ["busctl", "--user", "call", "org.authd", Self.path, "org.authd.Session1", "Refresh"],
                environment: scene.desktop.environment)
            try await scene.backends.waitForCalls { $0[.appTemplate, "POST /auth/refresh"] >= 1 }
            #expect(try await scene.agent.child.end() == 0)
            let answered = await refresh.output()
            #expect(answered.status == 0, "\(answered)")
        }
    }

    @Test("a bus that ends and starts again, or a name that is taken, does not disturb the agent")
    func restarted() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            await scene.desktop.killBus()
            #expect(try await scene.authc(["token"]).status == 0)
            #expect(try await scene.agent.child.err.wait(for: "authd tries again when there is one"))
            try await scene.desktop.startBusAgain()
            try await scene.waitForName()
            let token = try await scene.authc(["token"]).out
            #expect(try await scene.busToken(Self.path).out == token)

            // Another agent of the same user, with a separate socket.
            let folder = try scene.desktop.folder.folder("other")
            let other = try await Child(
                [Programs.authd, "--store", "memory", "--socket", folder + "/socket"],
                environment: scene.desktop.environment)
            #expect(await other.err.wait(for: "Another program owns the name org.authd"), "\(other.err.text)")
            try await scene.agent.child.end()
            #expect(await other.err.wait(for: "Serving."))
            try await scene.waitForName()
            await other.end()
            try await scene.startAgent(["--store", "memory"])
        }
    }

    @Test("a flood of calls is answered in turn with requests on the socket")
    func flood() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            let flood = try await scene.busClient(["flood", "20000"])
            #expect(await flood.out.wait(for: "sent"))
            for _ in 0..<20 { #expect(try await scene.authc(["token"]).status == 0) }
            #expect(await flood.ended() == 0, "\(flood.err.text)")
            let counts = flood.out.text.split(separator: "\n").last ?? ""
            #expect(counts.contains("answered") && !counts.contains("org.authd.Error"), "\(counts)")
        }
    }

    @Test("the recipes show the state and each change of it, and get the token")
    func recipes() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            #expect(try await scene.login(.appTemplate).status == 0)
            try await scene.waitForName()
            func recipe(_ line: String) throws -> String {
                try Recipes.block(with: line).replacing("/session/work", with: "/session/app_2dtemplate")
            }
            let state = try await scene.shell(recipe("busctl --user get-property"))
            #expect(state.out == "s \"active\"\n", "\(state)")
            let program = try scene.desktop.folder.write(recipe("\"GetToken\""), to: "token.py")
            let token = try await scene.desktop.run(["/usr/bin/python3", program])
            let length = try await scene.authc(["token"]).out.utf8.count - 1
            #expect(token.out == "Bearer \(length)\n", "\(token)")
            let module = try scene.desktop.folder.write(recipe("DBusObjectManagerClient"), to: "waybar.py")
            let shown = try await Child(["/usr/bin/python3", module], environment: scene.desktop.environment)
            #expect(await shown.out.wait(for: "{\"text\": \"work: active\", \"class\": \"active\"}"))
            #expect(try await scene.authc(["logout"]).status == 0)
            #expect(await shown.out.wait(for: "work: signed_out"), "\(shown.err.text)")
            await shown.end()
        }
    }

    @Test("the setting takes it off the bus at a reload, and puts it there again")
    func setting() async throws {
        try await Scene.play(keyring: false) { scene in
            try await scene.restart(["--store", "memory"])
            try await scene.waitForName()
            try scene.prependSettings("dbus = false\n")
            let off = try await scene.authc(["reload"])
            #expect(off.err.contains("the session bus is no longer served"), "\(off)")
            #expect(try await until { try await scene.busctl("status", "org.authd").status != 0 })
            let file = scene.desktop.folder.path + "/config/authd/authd.toml"
            let text = try String(contentsOfFile: file, encoding: .utf8)
            _ = try scene.desktop.folder.write(
                text.replacing("dbus = false\n", with: ""), to: "config/authd/authd.toml")
            #expect(try await scene.authc(["reload"]).status == 0)
            try await scene.waitForName()
        }
    }
}

extension Scene {
    func waitForName() async throws {
        let named = try await desktop.run(["gdbus", "wait", "--session", "--timeout", "30", "org.authd"])
        guard named.status == 0 else { throw Failure("org.authd is not on the bus: \(named.err)") }
    }

    func busctl(_ arguments: String...) async throws -> Child.Output { try await busctl(arguments) }

    func busctl(_ arguments: [String]) async throws -> Child.Output {
        try await desktop.run(["busctl", "--user"] + arguments)
    }

    func busClient(_ arguments: [String], through: [String] = []) async throws -> Child {
        try await Child(
            through + Peer.Program.busClient.command(arguments), environment: desktop.environment, input: .held)
    }

    func watchBus(through: [String] = []) async throws -> Child { try await busClient(["watch"], through: through) }

    func busToken(_ path: String, _ options: [String] = []) async throws -> Child.Output {
        try await desktop.run(try Peer.Program.busClient.command(["token", path] + options))
    }
}
