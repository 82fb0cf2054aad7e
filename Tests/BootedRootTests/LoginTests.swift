import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("Without a desktop, and with several logins", .timeLimit(.minutes(5)))
struct LoginTests {
    @Test("at each boot, a service gets its token: lingering, sealed files, a key from systemd's credentials")
    func boot() async throws {
        try await BootedMachine.play { machine in
            try await machine.keepInSealedFiles()
            try await machine.signIn()
            try await machine.enableReport()

            // Nobody logs in, nobody runs authc, and the session is in the sealed files only.
            for _ in 1...2 {
                try await machine.removeReport()
                try await machine.reboot()
                #expect(try await machine.report(until: "ada@example.org").contains("ada@example.org"))
                #expect(try await machine.asRoot("loginctl", "list-sessions", "--no-legend").out == "")
            }
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == 1)
        }
    }

    @Test("two logins, su and sudo use one agent, which stays when a login ends")
    func logins() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            let command = "/usr/lib/authd-built/authc"

            // PAM makes a login session of each, as sshd and login do. The first one ends, the second one begins after that.
            for terminal in ["pts/one", "pts/two"] {
                let login = try await machine.asRoot(
                    BootedMachine.loggedIn("--pipe") + [
                        "--setenv=TERMINAL=\(terminal)", "sh", "-c",
                        #"echo "$XDG_SESSION_ID" >&2; "# + command + " token",
                    ])
                #expect(login.out == token, "\(login)")
                #expect(!login.err.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty, "no login session")
            }
            #expect(try await machine.service("MainPID") == pid)

            // Neither of them has XDG_RUNTIME_DIR.
            for change in [["su", "-", "ada", "-c", command + " token"], ["sudo", "-u", "ada", command, "token"]] {
                let changed = try await machine.asRoot(["env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"] + change)
                #expect(changed.out == token, "\(change): \(changed)")
            }
            // The command that is named there works there, too.
            try await machine.person("systemctl", "--user", "stop", "authd.socket", "authd.service")
            let bare = ["env", "-u", "XDG_RUNTIME_DIR", "-u", "DBUS_SESSION_BUS_ADDRESS"]
            let stopped = try await machine.asPerson(bare + [command, "list"])
            #expect(stopped.status == 69, "\(stopped)")
            let start = try #require(stopped.err.firstMatch(of: /`(XDG_RUNTIME_DIR=\S+ systemctl [^`]+)`/)?.1)
            let started = try await machine.asPerson(bare + ["sh", "-c", String(start)])
            #expect(started.status == 0, "\(started)")
            #expect(try await machine.authc("token").out == token)
            // root is another user, who has no agent here.
            try await machine.apply("echo 'ada ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ada")
            let root = try await machine.asPerson(["sudo", command, "token"])
            #expect(root.status == 69 && root.out == "" && root.err.contains("Run it without sudo."), "\(root)")
        }
    }

    @Test("a job of cron finds the socket without a variable")
    func cron() async throws {
        try await BootedMachine.play { machine in
            try await machine.signIn()
            let token = try await machine.authc("token").out
            let job = "@reboot /usr/lib/authd-built/authc token >$HOME/cron.out 2>$HOME/cron.err; echo $? >$HOME/cron\n"
            let written = try await machine.asPerson(["crontab", "-"], input: job)
            #expect(written.status == 0, "\(written.err)")
            // The jobs of a boot are started with it.
            let started = try await machine.asRoot(
                "sh", "-c", "rm -f /run/crond.reboot; systemd-run --quiet --unit=cron-trial cron -f")
            #expect(started.status == 0, "\(started.err)")
            let status = #"grep -m1 . < <(exec timeout 60 tail -n +1 -F "$HOME/cron" 2>/dev/null)"#
            #expect(try await machine.person("bash", "-c", status) == "0\n")
            let output = try await machine.person("sh", "-c", #"cat "$HOME/cron.out" "$HOME/cron.err""#)
            #expect(output == token, "\(output)")
        }
    }
}
