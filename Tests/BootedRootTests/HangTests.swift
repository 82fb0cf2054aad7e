import Foundation
import TestSupport
import Testing

@Suite("An agent that hangs", .serialized, .timeLimit(.minutes(5)))
struct HangTests {
    @Test(
        "the watchdog restarts authd if the thread of the sockets or that of GLib hangs",
        arguments: ["sockets", "glib"])
    func hangs(thread: String) async throws {
        try await BootedMachine.play { machine in
            try await machine.write(
                "[Service]\nWatchdogSec=3s\nTimeoutAbortSec=1s\n", to: ".config/systemd/user/authd.service.d/soon.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let script = try String(
                contentsOf: URL(filePath: #filePath).deletingLastPathComponent().appending(path: "stop-threads.py"),
                encoding: .utf8)
            try await machine.write(script, to: "stop-threads.py")
            let pid = try await machine.service("MainPID")
            let stopped = try await machine.asRoot(
                "timeout", "60", "python3", "/people/ada/stop-threads.py", pid, thread)
            #expect(stopped.status == 0 && stopped.out.hasPrefix("stopped\n"), "\(stopped)")
            #expect(try await machine.journal(until: "restart counter is at 1") != nil)
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.service("MainPID") != pid)
        }
    }
}
