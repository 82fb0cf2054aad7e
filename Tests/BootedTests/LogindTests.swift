import TestSupport
import Testing

@Suite("Sleep, told by a real logind", .timeLimit(.minutes(3)))
struct LogindTests {
    @Test("case 6: authd delays the sleep for as long as it writes, lets go in time, and delays the next one too")
    func sleep() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            #expect(try await machine.waits(until: Self.isDelaying))
            let suspended = try await machine.asRoot(
                "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                "Suspend", "b", "false")
            #expect(suspended.status == 0, "\(suspended.err)")
            // Awake again, it takes a new lock: the next sleep is delayed as well.
            #expect(try await machine.waits(until: "journalctl -u systemd-logind -o cat | grep -q finished"))
            #expect(try await machine.waits(until: Self.isDelaying))
            #expect(try await machine.authc("refresh").status == 0)
            // It was told in time: logind says so when it has to go on without somebody's leave.
            let logind = try await machine.asRoot("journalctl", "-u", "systemd-logind", "-o", "cat")
            #expect(logind.out.contains("finished") && !logind.out.contains("Delay lock is active"), "\(logind.out)")
        }
    }

    private static let isDelaying = "systemd-inhibit --list --no-pager | grep -q authd"
}

extension BootedMachine {
    /// Whether a command succeeds within a minute; each try is a process.
    fileprivate func waits(until command: String) async throws -> Bool {
        try await asRoot("timeout", "60", "bash", "-c", "until \(command); do :; done").status == 0
    }
}
