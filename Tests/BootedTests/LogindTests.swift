import TestSupport
import Testing

@Suite("Sleep, told by a real logind", .timeLimit(.minutes(3)))
struct LogindTests {
    @Test("case 6: authd delays the sleep for as long as it writes, lets go in time, and delays the next one too")
    func sleep() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            #expect(try await machine.inhibitors().contains("authd"))
            let suspended = try await machine.asRoot(
                "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
                "Suspend", "b", "false")
            #expect(suspended.status == 0, "\(suspended.err)")
            // Awake again, it takes a new lock: the next sleep is delayed as well.
            let again = try await machine.asRoot(
                "timeout", "60", "bash", "-c",
                """
                until journalctl -u systemd-logind -o cat | grep -q finished; do :; done
                until systemd-inhibit --list --no-pager | grep -q authd; do :; done
                """)
            #expect(again.status == 0)
            #expect(try await machine.authc("refresh").status == 0)
            // It was told in time: logind says so when it has to go on without somebody's leave.
            let logind = try await machine.asRoot("journalctl", "-u", "systemd-logind", "-o", "cat")
            #expect(logind.out.contains("finished") && !logind.out.contains("Delay lock is active"), "\(logind.out)")
        }
    }
}

extension BootedMachine {
    fileprivate func inhibitors() async throws -> String {
        try await asRoot("systemd-inhibit", "--list", "--no-pager").out
    }
}
