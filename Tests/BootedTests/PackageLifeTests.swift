import Foundation
import StandInBackends
import TestSupport
import Testing

@Suite("Debian packages, on a machine with a user who is signed in", .serialized, .timeLimit(.minutes(10)))
struct PackageLifeTests {
    /// In `make test` the programs of the tests, on a view of this machine's files; `make check-packages` names release programs
    /// and a Debian without Swift.
    private static let programs = setting("PACKAGED_PROGRAMS") ?? Programs.folder
    private static let files = setting("PACKAGE_ROOT") ?? "/"

    private static func setting(_ name: String) -> String? {
        ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// Version 1 of all packages, and version 2 of authd-session, where the machine sees them.
    private func assemble(for machine: BootedMachine) async throws -> (old: [String], new: String) {
        let (old, new) = (try machine.folder.folder("old"), try machine.folder.folder("new"))
        var environment = ProcessInfo.processInfo.environment
        // Unpacked by the test itself: a smaller file is not worth the time.
        (environment["PACKAGE_VERSION"], environment["COMPRESSION"]) = ("1", "-Znone")
        let assembled = try await Child(
            [Self.root.path + "/Sources/Packaging/deb/assemble", Self.programs, old], environment: environment
        ).output()
        try #require(assembled.status == 0, "\(assembled.err)")
        let packages = assembled.out.split(separator: "\n").map(String.init)
        let session = try #require(packages.first { $0.contains("/authd-session_1_") })
        let repacked = try await Child(
            [
                "sh", "-euc",
                """
                dpkg-deb --field "$0" Depends
                dpkg-deb --raw-extract "$0" "$1/tree"
                sed -i 's/^Version: 1$/Version: 2/' "$1/tree/DEBIAN/control"
                dpkg-deb --root-owner-group -Znone --build "$1/tree" "$1" >/dev/null
                rm -r "$1/tree"
                """, session, new,
            ], environment: environment
        ).output()
        try #require(repacked.status == 0, "\(repacked.err)")
        for library in ["libsecret-1-0", "libsystemd0", "libsqlite3-0", "libglib2.0-0"] {
            #expect(repacked.out.contains(library), "\(repacked.out)")
        }
        return (packages, session.replacing("/old/", with: "/new/").replacing("_1_", with: "_2_"))
    }

    private func apply(_ command: String, on machine: BootedMachine) async throws -> Child.Output {
        let output = try await machine.asRoot("sh", "-euc", command)
        #expect(output.status == 0, "\(command): \(output.out)\(output.err)")
        return output
    }

    /// What dpkg itself and the indexes of other packages keep is not listed.
    private func systemFiles(of machine: BootedMachine) async throws -> Set<Substring> {
        let kept = "-path '*/var/lib/dpkg' -o -path '*/var/cache' -o -path '*/var/log' -o -path '*/usr/lib/authd-built'"
        let list = try await apply("find /etc /usr /var -xdev \\( \(kept) \\) -prune -o -print", on: machine)
        return Set(list.out.split(separator: "\n"))
    }

    @Test("an upgrade keeps sessions, and a restart runs it; a removal ends agents; a purge leaves what users have")
    func life() async throws {
        try await BootedMachine.play(.installed(files: Self.files)) { machine in
            let (old, new) = try await assemble(for: machine)
            // Installers of containers refuse to start and stop services.
            _ = try await apply("rm -f /usr/sbin/policy-rc.d", on: machine)
            let before = try await systemFiles(of: machine)

            _ = try await apply("dpkg --install \(old.joined(separator: " "))", on: machine)
            // At the next login the socket listens, and nothing else was enabled.
            try await machine.startAgain()
            try await machine.startKeyring()
            #expect(try await machine.person("systemctl", "--user", "is-active", "authd.socket") == "active\n")
            #expect(try await machine.service("ActiveState") == "inactive")
            let enabled = try await apply("cd /etc/systemd/user && find . -name 'auth*'", on: machine)
            #expect(enabled.out == "./sockets.target.wants/authd.socket\n")
            let preset = try await machine.asRoot("systemctl", "--global", "preset-all")
            #expect(preset.status == 0, "\(preset.err)")
            for (unit, state) in [("authd.socket", "enabled"), ("authd-extra.socket", "disabled")] {
                let seen = try await machine.asRoot("systemctl", "--global", "is-enabled", unit)
                #expect(seen.out == state + "\n", "\(unit)")
            }
            // `journalctl -x` and man(1) find what is new.
            let catalog = try await apply("journalctl --list-catalog", on: machine)
            #expect(catalog.out.contains("authd did not start because of its settings"))

            try await machine.signIn()
            let token = try await machine.authc("token").out
            let pid = try await machine.service("MainPID")
            let signIns = machine.backends.counts[.appTemplate, "POST /auth/login"]

            // The installation does not touch the agent, which restarts when it is idle, or at once if that is requested.
            _ = try await apply("dpkg --install \(new)", on: machine)
            #expect(try await machine.authc("token").out == token)
            try await machine.person("systemctl", "--user", "daemon-reload")
            let restart = try await machine.authc("agent", "restart")
            #expect(restart.status == 0, "\(restart)")
            #expect(try await machine.authc("token").out == token)
            #expect(try await machine.service("MainPID") != pid)

            // Installed again after a removal, the session is there.
            _ = try await apply("dpkg --remove authd-session", on: machine)
            #expect(try await machine.service("ActiveState") == "inactive")
            #expect(try await machine.unit("authd.socket", "ActiveState") == "inactive")
            _ = try await apply("dpkg --install \(new)", on: machine)
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await machine.person("systemctl", "--user", "start", "authd.socket")
            #expect(try await machine.authc("wait", "-s", "app-template", "--timeout", "60s").status == 0)
            #expect(try await machine.authc("token").out == token)
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == signIns)

            let users = try await machine.person("find", "/people/ada", "-path", "*authd*")
            let packages = "authd-session libauthclient0 libauthclient-dev python3-authd-client"
            _ = try await apply("dpkg --purge \(packages)", on: machine)
            try await machine.person("systemctl", "--user", "daemon-reload")
            #expect(try await machine.service("LoadState") == "not-found")
            let left = try await systemFiles(of: machine).subtracting(before).filter { $0.contains(/auth[cd]/) }
            #expect(left.isEmpty, "\(left)")
            #expect(try await machine.person("find", "/people/ada", "-path", "*authd*") == users)
            #expect(users.contains("/people/ada/.config/authd/authd.toml"))
        }
    }
}
