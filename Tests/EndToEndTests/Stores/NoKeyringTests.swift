import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// A machine without a keyring and without a service manager.
@Suite("Without a keyring, with the commands that are printed", .serialized, .timeLimit(.minutes(2)))
struct NoKeyringTests {
    private static func commands(_ text: String) -> [String] { text.matches(of: /`([^`]+)`/).map { String($0.1) } }

    /// What doctor says to do about the store.
    private func hint(_ scene: Scene) async throws -> String {
        let doctor = try await scene.agent.authc("doctor", "--json")
        let checks = try JSON(parsing: Array(doctor.out.utf8))["checks"]?.arrayValue ?? []
        return try #require(checks.first { $0["check"] == "store" }?["hint"]?.stringValue, "\(doctor.out)")
    }

    /// On a terminal, to its end.
    private func run(_ command: String, _ scene: Scene) async throws -> String {
        let terminal = try await scene.terminal(command)
        await terminal.waits(for: "exit ")
        await terminal.ends()
        #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
        return terminal.words
    }

    @Test("as they stand, they lead to a sign-in, even if only the first one was run before")
    func commands() async throws {
        try await Scene.play(keyring: false) { scene in
            let refused = try await scene.login(.appTemplate)
            let hint = try await hint(scene)
            #expect(refused.status == 4 && refused.err.contains(hint), "\(refused.err)")
            let pid = try scene.agent.child.pid
            let restart = ["kill \(pid)", "authd --log-level trace"]
            let commands = Self.commands(hint)
            let expected = ["authc config set store sealed-file"] + restart + ["authc store unlock"]
            #expect(Array(commands.prefix(4)) == expected)

            let changed = try await run(commands[0], scene)
            let text = "store has changed and needs a restart: `\(restart[0])`, then `\(restart[1])`"
            #expect(changed.contains(text), "\(changed)")
            #expect(Self.commands(try await self.hint(scene)) == restart)
            _ = try await run(commands[1], scene)
            _ = try await scene.agent.child.ended()
            // The third command, as another terminal would run it.
            try await scene.startAgent()

            let terminal = try await scene.terminal(commands[3])
            for question in ["New passphrase for your sessions: ", "again: "] {
                await terminal.waits(for: question)
                terminal.type("correct horse battery\n")
            }
            await terminal.waits(for: "exit ")
            await terminal.ends()
            #expect(terminal.text.contains("exit 0"), "\(terminal.text)")
            #expect(try await scene.login(.appTemplate).status == 0)
            #expect(try await scene.agent.authc("reload").err == ReloadResult.unchanged + "\n")
        }
    }
}
