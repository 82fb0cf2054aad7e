import Foundation
import StandInBackends
import TestSupport
import Testing

/// With the programs of the tests in `make test`, with release programs in a Debian without Swift in `make
/// check-packages`.
@Suite("A new user, on a machine with the Debian packages", .serialized, .timeLimit(.minutes(10)))
struct PackageFirstSignInTests {
    /// The answers are typed at once: the rest of a new user's minute is for reading and typing.
    private static let longest = Duration.seconds(60)

    @Test("authc login with nothing configured starts the socket, signs in within a minute, and the session stays")
    func newUser() async throws {
        try await BootedMachine.play(.installed(files: PackageTrial.files)) { machine in
            let packages = try await PackageTrial.assemble(for: machine).old.joined(separator: " ")
            // The user is logged in already, so nothing has started the socket.
            try await machine.apply("rm -f /usr/sbin/policy-rc.d; dpkg --install \(packages)")
            try await machine.person("rm", "-rf", "/people/ada/.config")
            try await machine.startKeyring()
            #expect(try await machine.person("find", "/people/ada", "-path", "*authd*") == "")
            #expect(try await machine.unit("authd.socket", "ActiveState") == "inactive")

            let begin = ContinuousClock.now
            let terminal = try await machine.terminal("login")
            for (question, answer) in [
                ("Number, name or URL: ", "app-template"), ("Address of its API", machine.backends.url(.appTemplate)),
                ("E-mail: ", "ada@example.org"), ("Password: ", "Correct-horse1"),
            ] {
                await terminal.waits(for: question)
                terminal.type("\(answer)\n")
            }
            await terminal.waits(for: "status ")
            await terminal.ends()
            #expect(terminal.text.contains("status 0"), "\(terminal.text)")
            // The package has enabled it: there is nothing to advise.
            #expect(terminal.words.contains("Started authd.socket."), "\(terminal.text)")
            #expect(!terminal.words.contains("systemctl --user enable"), "\(terminal.text)")
            let token = try await machine.authc("token")
            let time = ContinuousClock.now - begin
            #expect(token.status == 0 && token.out.count > 10, "\(token.err)")
            #expect(time < Self.longest)
            try PackageTrial.record(
                "first sign-in",
                "a token \(PackageTrial.seconds(time)) after `authc login`, with each answer typed at once")

            // A boot: the user's manager, the agent and the keyring are new, and nobody starts the socket.
            try await machine.startAgain()
            try await machine.startKeyring()
            #expect(try await machine.unit("authd.socket", "ActiveState") == "active")
            #expect(try await machine.service("ActiveState") == "inactive")
            #expect(try await machine.authc("token").out == token.out)
            let list = try await machine.authc("list", "--format", "{{name}} {{state}}")
            #expect(list.out == "app-template active\n", "\(list)")
            #expect(machine.backends.counts[.appTemplate, "POST /auth/login"] == 1)
        }
    }
}
