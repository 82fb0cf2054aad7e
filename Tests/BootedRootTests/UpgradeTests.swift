import StandInBackends
import TestSupport
import Testing

@Suite("An upgrade of the program that runs", .serialized, .timeLimit(.minutes(5)))
struct UpgradeTests {
    private static let built = "/usr/lib/authd-built/authd"

    /// Has the unit run a copy that the test replaces. The agent looks for that once a second.
    private func play(_ test: @escaping @Sendable (BootedMachine) async throws -> Void) async throws {
        try await BootedMachine.play { machine in
            try await machine.person("sh", "-euc", #"mkdir -p "$HOME/bin" && cp "$0" "$HOME/bin/authd""#, Self.built)
            try await machine.write(
                "[Service]\nExecStart=\nExecStart=%h/bin/authd\nWatchdogSec=3s\n",
                to: ".config/systemd/user/authd.service.d/copy.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.signIn()
            try await test(machine)
        }
    }

    /// As dpkg does: the new file is written beside the old one, and renamed.
    private func replace(_ machine: BootedMachine, _ write: String = "cp \(built)") async throws {
        try await machine.person(
            "sh", "-euc", "cd ~/bin && \(write) authd.dpkg-new && chmod 755 authd.dpkg-new && mv authd.dpkg-new authd")
    }

    /// Returns when the unit has another process.
    private func restarted(_ machine: BootedMachine, from pid: String) async throws {
        let another = """
            until now=$(systemctl --user show authd.service --property MainPID --value) && \
                [ "$now" != 0 ] && [ "$now" != "$0" ]; do :; done
            """
        try await machine.person("timeout", "60", "bash", "-c", another, pid)
    }

    /// Starts a client whose request does not end, in a unit `busy`.
    private func startRequest(_ machine: BootedMachine) async throws {
        try await machine.person(
            "systemd-run", "--user", "--quiet", "--unit=busy", "/usr/lib/authd-built/authc", "wait", "-s",
            "app-template", "--until", "signed_out", "--timeout", "5m")
        let waiting = #"until "$0" stats --json | grep -q '"waiting_requests":[1-9]'; do :; done"#
        try await machine.person("timeout", "60", "bash", "-c", waiting, "/usr/lib/authd-built/authc")
    }

    @Test("an idle agent restarts by itself and serves the same session, without a failure or a sign-in")
    func idle() async throws {
        try await play { machine in
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            let signIns = machine.backends.counts[.appTemplate, "POST /auth/login"]
            try await replace(machine)
            try await restarted(machine, from: pid)
            #expect(try await machine.authc("token").out == token)
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == signIns)
            #expect(try await machine.service("NRestarts") == "0")
            let version = try await machine.authc("version", "--json")
            #expect(version.status == 0 && !version.out.contains("restart_pending"), "\(version)")
        }
    }

    @Test("an agent with a request in progress waits for its end, and doctor says so")
    func busy() async throws {
        try await play { machine in
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            try await startRequest(machine)
            try await replace(machine)
            #expect(try await machine.journal(until: "does not restart yet: requests are in progress") != nil)
            #expect(try await machine.service("MainPID") == pid)
            let doctor = try await machine.authc("doctor", "--json")
            #expect(doctor.out.contains("the program was upgraded"), "\(doctor)")
            try await machine.person("systemctl", "--user", "stop", "busy.service")
            try await restarted(machine, from: pid)
            #expect(try await machine.authc("token").out == token)
        }
    }

    @Test("a program that fails its check leaves the old agent running, until it is replaced by a better one")
    func broken() async throws {
        try await play { machine in
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            try await replace(machine, #"printf '#!/bin/sh\nexit 7\n' >"#)
            #expect(try await machine.journal(until: "fails the check (status 7)") != nil)
            let refused = try await machine.authc("agent", "restart")
            #expect(refused.status == 65 && refused.err.contains("/bin/authd --check` shows why"), "\(refused)")
            #expect(try await machine.service("MainPID") == pid)
            #expect(try await machine.authc("token").out == token)
            try await replace(machine)
            try await restarted(machine, from: pid)
            #expect(try await machine.authc("token").out == token)
        }
    }

    @Test("authc agent restart does not wait: it ends a request that does not end, and keeps the session")
    func atOnce() async throws {
        try await play { machine in
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            try await startRequest(machine)
            // Then only the service manager has the session.
            try await machine.lockKeyring()
            let restart = try await machine.authc("agent", "restart")
            #expect(restart.status == 0, "\(restart)")
            let now = try await machine.service("MainPID")
            #expect(now != pid && restart.out.hasSuffix("process \(now)\n"), "\(restart)")
            #expect(try await machine.authc("token").out == token)
        }
    }
}
