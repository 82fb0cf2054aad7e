import StandInBackends
import TestSupport
import Testing

/// At a boot, nobody logs in and nobody runs authc: the user's manager starts a service that needs a token.
@Suite("Sessions in etcd, at each boot", .serialized, .timeLimit(.minutes(5)))
struct ClusterBootTests {
    private static let passphrase = "correct horse battery"
    private static let wait = "authc-wait@app-template.service"

    /// etcd is not on the machine, but shares its network: so it runs while the machine boots.
    private static func play(
        sealedKey: String, _ test: @escaping @Sendable (BootedMachine) async throws -> Void
    ) async throws {
        try await EtcdMembers.running { members in
            let settings = """
                sealed_key = "\(sealedKey)"
                [etcd]
                endpoints = \(members.endpoints)
                prefix = "/authd/ada"

                """
            try await BootedMachine.play { machine in
                let former = try await machine.person("cat", "/people/ada/.config/authd/authd.toml")
                try await machine.write(settings + former, to: ".config/authd/authd.toml")
                try await test(machine)
            }
        }
    }

    @Test("a service gets its token if the host's key is a credential of systemd")
    func credential() async throws {
        try await Self.play(sealedKey: "credential") { machine in
            try await machine.sealWithCredential(in: "etcd")
            try await machine.signIn()
            try await machine.enableReport()
            for _ in 1...2 {
                try await machine.removeReport()
                try await machine.reboot()
                #expect(try await machine.report(until: "ada@example.org").contains("ada@example.org"))
                #expect(try await until { try await machine.service("StatusText").hasPrefix("app-template active") })
                #expect(try await machine.asRoot("loginctl", "list-sessions", "--no-legend").out == "")
            }
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == 1)
        }
    }

    @Test("a service waits if a passphrase opens the host's key, and gets its token after authc store unlock")
    func passphrase() async throws {
        try await Self.play(sealedKey: "passphrase") { machine in
            try await machine.write(
                "[Service]\nExecStart=\nExecStart=/usr/lib/authd-built/authd --store etcd\n",
                to: ".config/systemd/user/authd.service.d/store.conf")
            try await machine.person("systemctl", "--user", "daemon-reload")
            try await Self.unlock(machine)
            try await machine.signIn()
            try await machine.enableReport()
            for _ in 1...2 {
                try await machine.removeReport()
                try await machine.reboot()
                #expect(try await machine.journal(until: "run `authc store unlock`") != nil)
                let locked = "store etcd locked (authc store unlock), app-template keyring_locked"
                #expect(try await until { try await machine.service("StatusText") == locked })
                #expect(try await machine.unit(Self.wait, "ActiveState") == "activating")
                #expect(try await machine.unit("report.service", "ActiveState") == "inactive")
                let token = try await machine.authc("token")
                #expect(token.status == 4 && token.err.contains("authc store unlock"), "\(token)")
                let list = try await machine.authc("list")
                #expect(list.status == 0 && list.out.hasPrefix("app-template  keyring_locked "), "\(list)")
                #expect(list.err.contains("authc store unlock"), "\(list)")
                try await Self.unlock(machine)
                #expect(try await machine.report(until: "ada@example.org").contains("ada@example.org"))
                #expect(try await machine.asRoot("loginctl", "list-sessions", "--no-legend").out == "")
            }
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == 1)
        }
    }

    private static func unlock(_ machine: BootedMachine) async throws {
        let unlocked = try await machine.authc("store", "unlock", "--passphrase-stdin", input: passphrase)
        #expect(unlocked.status == 0, "\(unlocked)")
    }
}
