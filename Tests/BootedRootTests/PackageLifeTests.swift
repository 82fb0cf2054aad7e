import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("Debian packages, on a machine with a user who is signed in", .serialized, .timeLimit(.minutes(10)))
struct PackageLifeTests {
    /// What dpkg itself and the indexes of other packages keep is not listed.
    private func systemFiles(of machine: BootedMachine) async throws -> Set<Substring> {
        let kept = "-path '*/var/lib/dpkg' -o -path '*/var/cache' -o -path '*/var/log' -o -path '*/usr/lib/authd-built'"
        let list = try await machine.apply("find /etc /usr /var -xdev \\( \(kept) \\) -prune -o -print")
        return Set(list.out.split(separator: "\n"))
    }

    @Test("an upgrade keeps sessions, and a restart runs it; a removal ends agents; a purge leaves what users have")
    func life() async throws {
        try await BootedMachine.play(.installed(files: PackageTrial.files)) { machine in
            let (old, new) = try await PackageTrial.assemble(for: machine)
            // Installers of containers refuse to start and stop services.
            try await machine.apply("rm -f /usr/sbin/policy-rc.d")
            let before = try await systemFiles(of: machine)

            try await machine.apply("dpkg --install \(old.joined(separator: " "))")
            // At the next login the socket listens, and nothing else was enabled.
            try await machine.startAgain()
            try await machine.startKeyring()
            #expect(try await machine.person("systemctl", "--user", "is-active", "authd.socket") == "active\n")
            #expect(try await machine.service("ActiveState") == "inactive")
            #expect(try await machine.authc("http", "list").out.isEmpty)
            let sockets = try await machine.person("systemctl", "--user", "list-sockets", "--no-legend", "auth*")
            #expect(
                !sockets.isEmpty && sockets.split(separator: "\n").allSatisfy { $0.contains(" authd.socket") },
                "\(sockets)")
            let programs = try await machine.asRoot(
                "sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null | grep -cx authd-gateway")
            #expect(programs.out == "0\n", "\(programs)")
            let enabled = try await machine.apply("cd /etc/systemd/user && find . -name 'auth*'")
            #expect(enabled.out == "./sockets.target.wants/authd.socket\n")
            let preset = try await machine.asRoot("systemctl", "--global", "preset-all")
            #expect(preset.status == 0, "\(preset.err)")
            for (unit, state) in [
                ("authd.socket", "enabled"), ("authd-extra.socket", "disabled"), ("authd-http.socket", "disabled"),
                ("authd-http.service", "disabled"),
            ] {
                let seen = try await machine.asRoot("systemctl", "--global", "is-enabled", unit)
                #expect(seen.out == state + "\n", "\(unit)")
            }
            // `journalctl -x` and man(1) find what is new.
            let catalog = try await machine.apply("journalctl --list-catalog")
            #expect(catalog.out.contains("authd did not start because of its settings"))

            try await machine.record("installed")

            try await machine.signIn()
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            let signIns = machine.backends.counts[.appTemplate, "POST /auth/login"]

            // The installation does not touch the agent, which restarts when it is idle, or at once if that is requested.
            try await machine.apply("dpkg --install \(new)")
            #expect(try await machine.authc("token").out == token)
            try await machine.person("systemctl", "--user", "daemon-reload")
            let restart = try await machine.authc("agent", "restart")
            #expect(restart.status == 0, "\(restart)")
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.service("MainPID") != pid)
            try await machine.record("upgraded, with a session that is kept")

            // Installed again after a removal, the session is there.
            try await machine.apply("dpkg --remove authd-session")
            #expect(try await machine.service("ActiveState") == "inactive")
            #expect(try await machine.unit("authd.socket", "ActiveState") == "inactive")
            try await machine.record("authd-session removed")
            try await machine.apply("dpkg --install \(new)")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.person("systemctl", "--user", "start", "authd.socket")
            #expect(try await machine.authc("wait", "-s", "app-template", "--timeout", "60s").status == 0)
            #expect(try await machine.authc("token").out == token)
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == signIns)
            try await machine.record("installed again, with the session")

            let users = try await machine.person("find", "/people/ada", "-path", "*authd*")
            let packages = "authd-session libauthclient0 libauthclient-dev python3-authd-client"
            try await machine.apply("dpkg --purge \(packages)")
            try await machine.person("systemctl", "--user", "daemon-reload")
            #expect(try await machine.service("LoadState") == "not-found")
            let left = try await systemFiles(of: machine).subtracting(before).filter { $0.contains(/auth[cd]/) }
            #expect(left.isEmpty, "\(left)")
            try await machine.record("purged, without a file left except the user's")
            #expect(try await machine.person("find", "/people/ada", "-path", "*authd*") == users)
            #expect(users.contains("/people/ada/.config/authd/authd.toml"))
        }
    }
}
