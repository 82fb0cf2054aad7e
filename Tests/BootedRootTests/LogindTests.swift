import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("Sleep, reported by a real logind", .timeLimit(.minutes(3)))
struct LogindTests {
    @Test("case 6: authd delays sleep while it writes, releases the lock in time, and delays the next sleep too")
    func sleep() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            #expect(try await machine.waits(until: Self.isDelaying))
            try await machine.suspend()
            try await machine.wake()
            // After waking it takes a new lock: the next sleep is delayed too.
            #expect(try await machine.waits(until: Self.isDelaying))
            #expect(try await machine.authc("refresh").status == 0)
            // It was notified in time: logind logs it if it has to continue without waiting.
            let logind = try await machine.asRoot("journalctl", "-u", "systemd-logind", "-o", "cat")
            #expect(logind.out.contains("finished") && !logind.out.contains("Delay lock is active"), "\(logind.out)")
        }
    }

    @Test("case 6: a token that expires during sleep is renewed after it, without a request")
    func endDuringSleep() async throws {
        try await OAuthStandIn.serving { provider in
            try await BootedMachine.play { machine in
                try await machine.write(Self.profile(provider), to: ".config/authd/providers/elsewhere.toml")
                let login = try await machine.authc(
                    "login", "elsewhere", "--method", "import", "--password-stdin", input: provider.giveRefreshToken())
                #expect(login.status == 0, "\(login.err)")
                provider.setTokenLifetime(.seconds(3))
                #expect(try await machine.authc("refresh").status == 0)
                #expect(try await machine.waits(until: Self.isDelaying))
                let asleep = try await machine.authc("token").out
                try await machine.suspend()
                let before = provider.counts.refreshes
                // How long it sleeps: longer than the token lives.
                #expect(try await machine.asRoot("sleep", "3.5").status == 0)
                #expect(provider.counts.refreshes == before)
                provider.setTokenLifetime(.seconds(3600))
                try await machine.wake()
                try await provider.waitForCounts { $0.refreshes > before }
                let awake = try await machine.authc("token")
                #expect(awake.status == 0 && awake.out != asleep)
                #expect(provider.counts.refreshes == before + 1)
            }
        }
    }

    private static func profile(_ provider: OAuthStandIn) -> String {
        """
        name = "elsewhere"
        title = "Elsewhere"
        issuer = "\(provider.issuer)"
        client_id = "\(OAuthStandIn.Configuration().clientID)"
        scopes = ["openid", "offline_access"]
        """
    }

    private static let isDelaying = "systemd-inhibit --list --no-pager | grep -q authd"
}

extension BootedMachine {
    /// Returns when it is asleep.
    fileprivate func suspend() async throws {
        let suspended = try await asRoot(
            "busctl", "call", "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
            "Suspend", "b", "false")
        guard suspended.status == 0 else { throw Failure("no sleep: \(suspended.err)") }
        guard try await waits(until: #"grep -q 'State:.*stopped' "/proc/$(pgrep -x authd)/status""#) else {
            throw Failure("the machine does not fall asleep")
        }
    }

    /// Returns when it is awake.
    fileprivate func wake() async throws {
        let woken = try await asRoot("timeout", "60", "sh", "-c", "echo open >/run/lid")
        guard woken.status == 0, try await waits(until: "journalctl -u systemd-logind -o cat | grep -q finished") else {
            throw Failure("the machine does not wake up")
        }
    }

    /// Whether a command succeeds within a minute; each try is a process.
    fileprivate func waits(until command: String) async throws -> Bool {
        try await asRoot("timeout", "60", "bash", "-c", "until \(command); do :; done").status == 0
    }
}
