import StandInBackends
import TestSupport
import Testing

@Suite("A second agent, authd@NAME.service", .serialized, .timeLimit(.minutes(5)))
struct SecondAgentTests {
    private static let socket = "/run/user/1000/authd-work/socket"

    /// `authc` for the second agent.
    private func authc(_ machine: BootedMachine, _ arguments: String..., input: String? = nil) async throws
        -> Child.Output
    {
        try await machine.asPerson(
            ["env", "AUTHD_SOCKET=\(Self.socket)", "/usr/lib/authd-built/authc"] + arguments, input: input)
    }

    @Test("has its own settings, sessions and socket, and serves them again after a restart")
    func separate() async throws {
        try await BootedMachine.play { machine in
            let settings = try await machine.person("cat", "/people/ada/.config/authd/authd.toml")
            let key = "/people/ada/.config/authd-work/key"
            try await machine.write(
                "sealed_key = \"\(key)\"\ndbus = false\n" + settings, to: ".config/authd-work/authd/authd.toml")
            try await machine.person("sh", "-c", "umask 077; head -c 32 /dev/urandom >\(key)")
            try await machine.person("systemctl", "--user", "enable", "--now", "authd@work.socket")
            try await machine.signIn()
            let first = try await machine.authc("token").out

            #expect(try await machine.person("stat", "-c", "%a", "/run/user/1000/authd-work") == "700\n")
            #expect(try await authc(machine, "token").status == 3)
            let login = try await authc(
                machine, "login", Backend.appTemplate.rawValue, "--environment", "local", "--field",
                "email=ada@example.org", "--password-stdin", input: "Correct-horse1")
            try #require(login.status == 0, "\(login.err)")
            let second = try await authc(machine, "token").out
            let log = try await machine.asRoot("journalctl", "-o", "cat", "-t", "authd@work")
            #expect(log.out.contains("Serving."), "\(log)")
            #expect(!second.isEmpty && second != first)
            #expect(try await machine.authc("token").out == first)
            let files = "/people/ada/.local/state/authd-work/authd/sessions"
            #expect(try await machine.person("ls", files) == "app-template.session\nindex\nkey\n")

            try await machine.person("systemctl", "--user", "restart", "authd@work.service")
            #expect(try await authc(machine, "token").out == second)
            // A stop hands nothing over: what the next start has is from the files.
            try await machine.person("systemctl", "--user", "stop", "authd@work.service")
            #expect(try await authc(machine, "token").out == second)
            #expect(try await authc(machine, "logout").status == 0)
            #expect(try await authc(machine, "token").status == 3)
            #expect(try await machine.authc("token").out == first)
        }
    }

    @Test("cannot have a name whose folder another socket of the agent uses")
    func reservedName() async throws {
        try await BootedMachine.play { machine in
            #expect(try await machine.authc("status").status == 3)
            for name in ["extra", "http", "proxy"] {
                let started = try await machine.asPerson(["systemctl", "--user", "start", "authd@\(name).socket"])
                #expect(started.status != 0)
                #expect(try await machine.unit("authd@\(name).socket", "ActiveState") == "failed")
            }
        }
    }
}
