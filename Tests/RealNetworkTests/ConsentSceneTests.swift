import AuthWire
import Foundation
import TestSupport
import Testing

/// A notification server (python-dbusmock) on a private session bus.
@Suite("Consent, asked on the desktop", .serialized, .timeLimit(.minutes(2)))
struct ConsentSceneTests {
    private static let rules = """
        enforce = true
        [[rule]]
        name = "asked"
        effect = "ask"
        class = "token"
        """

    private static func play(
        with environment: [String: String] = [:],
        _ test: @escaping @Sendable (NetworkLab, MockBus) async throws -> Void
    ) async throws {
        let bus = try await MockBus([.notifications])
        try await NetworkLab.play(
            { lab, _ in
                try await lab.applyRules(rules)
                try await test(lab, bus)
            }, with: environment.merging(["DBUS_SESSION_BUS_ADDRESS": bus.address]) { $1 })
        await bus.end()
    }

    @Test("the buttons answer, a click beside them does not, and closing refuses")
    func answers() async throws {
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            #expect(await bus.asked.wait(for: "\"refuse\""))
            let text = bus.asked.text
            #expect(text.contains(Programs.authc) && text.contains("(process \(waiting.pid))"), "\(text)")
            #expect(text.contains("Request: token.get for the session lab") && text.contains("Unit: "), "\(text)")
            #expect(text.contains("\"once\"") && text.contains("\"hour\"") && !text.contains("\"default\""), "\(text)")
            try await bus.choose(notification: 1, action: "default")
            try await bus.pretendChoice(notification: 1)
            #expect(try await lab.authc("status").status == 0)
            try await bus.choose(notification: 1, action: "hour")
            #expect(await waiting.output().status == 0)
            // Remembered for the program.
            #expect(try await lab.authc("token").status == 0)
            #expect(bus.asked.text.matches(of: /Notify "authd"/).count == 1)
        }
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            try await bus.dismiss(notification: 1)
            let refused = await waiting.output()
            #expect(refused.status == 77 && refused.err.contains("and refused"), "\(refused)")
            let paused = try await lab.authc("token")
            #expect(paused.status == 77 && paused.err.contains("not asked about it again"), "\(paused)")
            #expect(bus.asked.text.matches(of: /Notify "authd"/).count == 1)
        }
    }

    @Test("a button counts if the desktop closes the notification at the click", arguments: ["once", "hour", "refuse"])
    func closes(button: String) async throws {
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            try await bus.click(notification: 1, action: button)
            let output = await waiting.output()
            #expect(output.status == (button == "refuse" ? 77 : 0), "\(output)")
        }
    }

    @Test("an answer of a server other than the one that shows the question does not count")
    func servers() async throws {
        try await Self.play { lab, bus in
            let waiting = try await lab.start(["token"])
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            try await bus.replaceNotifications()
            try await bus.choose(notification: 1, action: "once")
            // Nobody else can be asked: there is no login session.
            let refused = await waiting.output()
            #expect(refused.status == 77 && refused.out.isEmpty, "\(refused)")
            #expect(refused.err.contains("user.asked") && refused.err.contains("no login session"), "\(refused)")
        }
    }

    @Test("without a terminal a sign-out is carried out only after the user has allowed it")
    func account() async throws {
        try await Self.play { lab, bus in
            let waiting = try await Child(
                ["setsid", "-w", Programs.authc, "logout", "--no-input"], environment: lab.environment)
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            #expect(await bus.asked.wait(for: "\"refuse\""))
            #expect(bus.asked.text.contains("Request: session.logout for the session lab"), "\(bus.asked.text)")
            #expect(try await lab.authc("status").status == 0)
            try await bus.choose(notification: 1, action: "once")
            #expect(await waiting.output().status == 0)
        }
    }

    @Test("if a login session is open, a question that no desktop shows waits for its terminal")
    func terminal() async throws {
        let system = try await MockBus([.logind])
        try await system.addLoginSession("c1", of: geteuid())
        try await NetworkLab.play(
            { lab, agent in
                try await lab.applyRules(Self.rules)
                let waiting = try await lab.start(["token"])
                #expect(await agent.err.wait(for: "A program waits for your answer"))
                let terminal = try await Terminal("authc approve", environment: lab.environment)
                await terminal.waits(for: "[y/N]")
                await waiting.end(SIGTERM)
                #expect(await waiting.output().out.isEmpty)
            },
            with: [
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "DBUS_SYSTEM_BUS_ADDRESS": system.address,
            ])
        await system.end()
    }

    /// Asks for the token of the default session, and prints the response.
    private static let asking = """
        import socket, sys
        agent = socket.socket(socket.AF_UNIX)
        agent.connect(sys.argv[1])
        agent.sendall(b'{"jsonrpc":"2.0","id":1,"method":"token.get"}\\n')
        print(agent.makefile().readline())
        """

    @Test("with Landlock, a program in the home that was allowed for an hour is asked about again only if it changes")
    func home() async throws {
        try await Self.play(with: ["AUTHD_LANDLOCK": "on"]) { lab, bus in
            // The kernel may have no Landlock.
            let info = try RawClient(lab.socket).ask("agent.info")["result"]
            guard info?["landlock"] != "unsupported" else { return }
            #expect(info?["landlock"] == "on", "\(String(describing: info))")
            let program = lab.folder.path + "/home/python"
            let system = URL(filePath: NetworkLab.python).resolvingSymlinksInPath().path
            try FileManager.default.copyItem(atPath: system, toPath: program)
            func ask() async throws -> Child {
                try await Child(
                    [program, "-c", Self.asking, lab.socket],
                    environment: ["PATH": "/usr/bin:/bin", "PYTHONHOME": "/usr"])
            }
            func questions() -> Int { bus.asked.text.matches(of: /Notify "authd"/).count }
            let waiting = try await ask()
            #expect(await bus.asked.wait(for: "Notify \"authd\""))
            #expect(await bus.asked.wait(for: "\"hour\""))
            #expect(bus.asked.text.contains("/home/python (process"), "\(bus.asked.text)")
            try await bus.choose(notification: 1, action: "hour")
            #expect(await waiting.output().out.contains("access_token"))
            #expect(try await ask().output().out.contains("access_token"))
            #expect(questions() == 1)
            let file = try FileHandle(forWritingTo: URL(filePath: program))
            try file.seekToEnd()
            try file.write(contentsOf: Data("changed".utf8))
            try file.close()
            let changed = try await ask()
            #expect(try await until { questions() == 2 })
            await changed.end(SIGKILL)
        }
    }
}
