import Foundation
import TestSupport
import Testing

@Suite("An agent that hangs", .serialized, .timeLimit(.minutes(5)))
struct HangTests {
    @Test(
        "the watchdog restarts authd if the thread of the sockets, that of GLib, or those of Swift's pool hang",
        // The last one is the end of the name that libdispatch gives the threads of its pool: 15 bytes
        // (pthread_setname_np(3)).
        arguments: ["sockets", "glib", "oot.default-qos"])
    func threads(name: String) async throws {
        try await hang(with: "stop-threads.py", [name])
    }

    @Test("the watchdog restarts authd if the actor of a session hangs, while the other threads of the pool work")
    func actor() async throws {
        // SessionMachine.handle(_:in:), which only the actor of a session calls.
        let function = "$s12AuthMachines14SessionMachineV6handle_2iny"
        let command = BootedMachine.asAda + ["/usr/lib/authd-built/authc", "refresh", "-s", "app-template"]
        try await hang(with: "stop-actor.py", [function] + command)
    }

    private func hang(with program: String, _ arguments: [String]) async throws {
        try await BootedMachine.play { machine in
            try await machine.write(
                "[Service]\nWatchdogSec=3s\nTimeoutAbortSec=1s\n", to: ".config/systemd/user/authd.service.d/soon.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let script = try String(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: program),
                encoding: .utf8)
            try await machine.write(script, to: program)
            let pid = try await machine.service("MainPID")
            let stopped = try await machine.asRoot(
                ["timeout", "60", "python3", "/people/ada/\(program)", pid] + arguments)
            #expect(stopped.status == 0 && stopped.out.hasPrefix("stopped\n"), "\(stopped)")
            #expect(try await machine.journal(until: "restart counter is at 1") != nil)
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.service("MainPID") != pid)
        }
    }
}
