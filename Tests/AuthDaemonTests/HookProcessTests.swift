import AuthConcurrency
import AuthModel
import Foundation
import TestSupport
import Testing

@testable import AuthDaemon

@Suite("A hook's process", .timeLimit(.minutes(1)))
struct HookProcessTests {
    @Test("it is killed with its group, if it runs or has not started yet")
    func stop() async throws {
        let folder = try TemporaryFolder()
        let pipe = folder.path + "/pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw Failure("mkfifo: \(errno)") }
        let script = "exec > \(pipe); echo started; sleep 600 & sleep 600"
        let process = HookProcess(command: ["/bin/sh", "-c", script], input: [])
        let reader = try await Child(["cat", pipe], environment: ["PATH": "/usr/bin:/bin"])
        async let outcome = BlockingThread().complete { process.run() }
        #expect(await reader.out.wait(for: "started"))
        process.stop()
        #expect(await outcome == .killed(signal: SIGKILL))
        // The pipe ends when both sleeps have ended.
        #expect(await reader.output().out == "started\n")
        // Its number may belong to another process now.
        process.stop()

        let early = HookProcess(command: ["/bin/sh", "-c", "sleep 600"], input: [])
        early.stop()
        #expect(await BlockingThread().complete { early.run() } == .killed(signal: SIGKILL))
    }

    @Test("its outcome is its exit status, or why it did not start; what it leaves in its group is killed")
    func outcomes() async throws {
        let cases: [([String], HookOutcome)] = [
            (["/bin/true"], .exited(0)), (["/bin/sh", "-c", "sleep 600 & exit 7"], .exited(7)),
            (["/bin/sh", "-c", "kill -TERM $$"], .killed(signal: SIGTERM)),
            (["/bin/sh", "-c", "read line; test \"$line\" = input"], .exited(0)),
            (["/nowhere/x"], .notStarted("cannot start /nowhere/x: No such file or directory")),
        ]
        for (command, expected) in cases {
            let process = HookProcess(command: command, input: Array("input\n".utf8))
            #expect(await BlockingThread().complete { process.run() } == expected, "\(command)")
        }
    }

    @Test("without a user manager the command is started as it is; a unit gets it with its dollar signs doubled")
    func launcher() throws {
        let hook = Hook(on: .renewed, command: ["/bin/$x", "$HOME"])
        let folder = try TemporaryFolder()
        for place in [nil, folder.path] {
            #expect(HookLauncher.command(for: hook, runtimeFolder: place) == hook.command)
        }
        // A manager without the user's bus cannot be called.
        _ = try folder.write("", to: "systemd/private")
        #expect(HookLauncher.command(for: hook, runtimeFolder: folder.path) == hook.command)
        let unit = HookLauncher.unit(for: hook)
        #expect(unit.suffix(3) == ["--", "/bin/$x", "$$HOME"])
        #expect(unit.contains("--property=RuntimeMaxSec=10s") && unit.contains("--user"))
        #expect(unit.contains("--property=KillSignal=SIGKILL"))
    }
}
