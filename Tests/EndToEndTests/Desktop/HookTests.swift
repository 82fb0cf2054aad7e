import AuthWire
import Foundation
import StandInBackends
import TestSupport
import Testing

/// Commands that the settings name for events, run by the real agent.
@Suite("Hooks of the real agent", .serialized, .timeLimit(.minutes(2)))
struct HookTests {
    private static let names = [
        "session.added", "session.active", "session.renewed", "session.ending", "session.sign_in_required",
        "session.signed_out",
    ]

    /// Restarts the agent with hooks that write to a pipe, which a process reads.
    private func play(
        _ more: String = "", _ test: @escaping @Sendable (Scene, Gathered) async throws -> Void
    ) async throws {
        try await Scene.play { scene in
            let pipe = scene.desktop.folder.path + "/pipe"
            guard mkfifo(pipe, 0o600) == 0 else { throw Failure("mkfifo: \(errno)") }
            let program = try scene.desktop.folder.write(
                """
                #!/bin/bash
                exec > "\(pipe)"
                echo "hook $1"; cat; compgen -e | tr '\\n' ' '; echo; ls -m /proc/$$/fd; echo "end $1"
                """, to: "hook")
            try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: program)
            let hooks = Self.names.map { "[[hook]]\non = \"\($0)\"\ncommand = [\"\(program)\", \"\($0)\"]\n" }
            try scene.prependSettings(more + hooks.joined())
            try await scene.restart()
            // Open for writing too, so that it does not end with the first hook.
            let reader = try await Child(
                ["bash", "-c", "exec cat <> \"$0\"", pipe], environment: scene.desktop.environment)
            let result: Result<Void, any Error>
            do {
                result = .success(try await test(scene, reader.out))
            } catch {
                result = .failure(error)
            }
            await reader.end(SIGKILL)
            try result.get()
        }
    }

    @Test("run with the event on stdin, without tokens, authd's variables and its descriptors")
    func events() async throws {
        try await play { scene, pipe in
            _ = try await scene.login(.appTemplate)
            let first = try await scene.authc(["token"]).out.trimmingCharacters(in: .newlines)
            #expect(try await scene.authc(["refresh"]).status == 0)
            let second = try await scene.authc(["token"]).out.trimmingCharacters(in: .newlines)
            #expect(try await scene.authc(["logout"]).status == 0)
            #expect(await pipe.wait(for: "end session.signed_out\n"))
            let text = pipe.text
            let blocks = text.components(separatedBy: "hook ").dropFirst().map { $0.components(separatedBy: "\n") }
            #expect(blocks.map(\.[0]) == ["session.added", "session.renewed", "session.signed_out"], "\(text)")
            for (block, name) in zip(blocks, ["added", "renewed", "signed_out"]) {
                let event = try JSON(parsing: block[1])
                #expect(event["event"]?.stringValue == name && event["session"] == "app-template", "\(block)")
                #expect(event["status"]?["user"]?["email"] == "ada@example.org", "\(block)")
                let variables = Set(block[2].split(separator: " ").map(String.init))
                #expect(variables.isSuperset(of: ["HOME", "PATH", "XDG_RUNTIME_DIR"]), "\(variables)")
                let foreign = variables.filter { name in
                    ["AUTHD", "LISTEN", "NOTIFY", "CREDENTIALS"].contains { name.hasPrefix($0) }
                }
                #expect(foreign.isEmpty, "\(variables)")
                // bash reads the script from 255.
                #expect(block[3] == "0, 1, 2, 255")
            }
            #expect(first != second)
            for token in [first, second] { #expect(!token.isEmpty && !text.contains(token)) }
        }
    }

    @Test("one that fails or cannot start is logged, and the next one runs; a reload changes them")
    func failures() async throws {
        let broken = """
            [[hook]]
            on = "session.added"
            command = ["/nowhere/hook", "a-private-argument"]
            [[hook]]
            on = "session.added"
            command = ["/bin/false"]

            """
        try await play(broken) { scene, pipe in
            _ = try await scene.login(.appTemplate)
            #expect(await pipe.wait(for: "end session.added\n"))
            let log = try scene.agent.child.err
            #expect(await log.wait(for: "A hook ended with status 1."))
            #expect(log.text.contains("cannot start /nowhere/hook") && !log.text.contains("a-private-argument"))
            let settings = scene.desktop.folder.path + "/config/authd/authd.toml"
            let text = try String(contentsOfFile: settings, encoding: .utf8)
            let wrong = text.replacing("session.renewed\"\n", with: "session.renewd\"\n")
            _ = try scene.desktop.folder.write(wrong, to: "config/authd/authd.toml")
            let refused = try await scene.authc(["reload"])
            let line = try #require(wrong.components(separatedBy: "\n").firstIndex { $0.contains("session.renewd\"") })
            #expect(refused.status != 0 && refused.err.contains("authd.toml:\(line + 1): "), "\(refused.err)")
            let without = text.components(separatedBy: "[[hook]]\n").filter { !$0.hasPrefix("on = \"session.renewed") }
            _ = try scene.desktop.folder.write(without.joined(separator: "[[hook]]\n"), to: "config/authd/authd.toml")
            let reloaded = try await scene.authc(["reload"])
            #expect(reloaded.status == 0 && (reloaded.out + reloaded.err).contains("hooks"), "\(reloaded)")
            #expect(try await scene.authc(["refresh"]).status == 0)
            #expect(try await scene.authc(["logout"]).status == 0)
            #expect(await pipe.wait(for: "end session.signed_out\n"))
            #expect(!pipe.text.contains("session.renewed"))
        }
    }

    @Test("one that never ends is killed after 10 s with what it started, and no other one runs meanwhile")
    func slow() async throws {
        try await Scene.play { scene in
            let folder = scene.desktop.folder.path
            for name in ["pipe", "never"] {
                guard mkfifo("\(folder)/\(name)", 0o600) == 0 else { throw Failure("mkfifo: \(errno)") }
            }
            // Both processes wait for a pipe that nothing opens.
            let slow = "echo slow >> \(folder)/pipe; cat < \(folder)/never & read line < \(folder)/never"
            let next = "echo next $1 >> \(folder)/pipe"
            let hooks = [
                ("session.added", ["/bin/sh", "-c", slow]), ("session.added", ["/bin/sh", "-c", next, "sh", "added"]),
                ("session.renewed", ["/bin/sh", "-c", next, "sh", "renewed"]),
            ].map { "[[hook]]\non = \"\($0)\"\ncommand = \(JSON.array($1.map(JSON.string)).text())\n" }
            try scene.prependSettings(hooks.joined())
            try await scene.restart()
            let reader = try await Child(
                ["bash", "-c", "exec cat <> \"$0\"", folder + "/pipe"], environment: scene.desktop.environment)
            _ = try await scene.login(.appTemplate)
            #expect(await reader.out.wait(for: "\n"))
            // The agent serves while it waits.
            #expect(try await scene.authc(["refresh"]).status == 0)
            #expect(reader.out.text == "slow\n", "\(reader.out.text)")
            #expect(try await waiting(scene) == "2\n")
            #expect(await reader.out.wait(for: "next renewed\n"))
            #expect(reader.out.text == "slow\nnext added\nnext renewed\n")
            #expect(try await until { try await waiting(scene) == "0\n" })
            let log = try scene.agent.child.err
            #expect(await log.wait(for: "A hook took longer than 10.0 seconds and was killed."))
            await reader.end(SIGKILL)
        }
    }

    /// The number of processes of the command that never ends; one that was killed has no command line.
    private func waiting(_ scene: Scene) async throws -> String {
        try await scene.desktop.run(["pgrep", "-c", "-f", scene.desktop.folder.path + "/never"]).out
    }
}
