import Foundation
import StandInBackends
import TestSupport
import Testing

/// Prepares what `Docs/first-reader.md` describes, for `make first-reader`, and waits for the reader.
@Suite("A reader who has only the README and a terminal", .serialized, .timeLimit(.minutes(60)))
struct FirstReaderInstalledTests {
    /// In seconds.
    private static let longest = 300
    /// An address on the loopback interface.
    private static let gitHub = "127.0.43.1"
    private static let environment = ProcessInfo.processInfo.environment

    @Test("has a token of GitHub's stand-in within five minutes")
    func token() async throws {
        let path = try #require(Self.environment["FIRST_READER"], "make first-reader sets it")
        var configuration = ProviderStandIn.Configuration()
        let readme = try BootedMachine.blocks(of: "README.md", "sh").joined()
        configuration.clientID = try #require(readme.firstMatch(of: /--client-id (\S+)/).map { String($0.1) })
        try await ProviderStandIn.serving(.github, configuration) { server in
            try await BootedMachine.play(.installed(files: PackageTrial.files)) { machine in
                try await prepare(machine)
                try await withGitHub(at: server, machine) {
                    try await watch(path, server, machine)
                }
            }
        }
    }

    /// The packages where the README expects them, and a user without settings who may use sudo.
    private func prepare(_ machine: BootedMachine) async throws {
        _ = try await PackageTrial.assemble(for: machine)
        try FileManager.default.copyItem(
            atPath: SourceTree.path("README.md"), toPath: machine.folder.path + "/README.md")
        try await machine.apply(
            """
            rm -f /usr/sbin/policy-rc.d
            echo 'APT::Install-Recommends "false";' >/etc/apt/apt.conf.d/90trial
            echo "127.0.1.1 $(hostname)" >>/etc/hosts
            echo 'ada ALL=(ALL) NOPASSWD: ALL' >/etc/sudoers.d/ada
            cd /people/ada
            rm -rf .config
            mkdir -p authd/.build/packages
            cp '\(machine.folder.path)/README.md' authd
            cp '\(machine.folder.path)'/old/*.deb authd/.build/packages
            chown -R ada:ada .
            """)
        try await machine.startKeyring()
    }

    /// The machine finds the stand-in, with a certificate that it trusts, under GitHub's names.
    private func withGitHub(
        at server: ProviderStandIn, _ machine: BootedMachine, _ body: () async throws -> Void
    ) async throws {
        let folder = machine.folder.path
        let made = try await Child(
            [
                "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=github.com",
                "-addext", "subjectAltName=DNS:github.com,DNS:api.github.com", "-keyout", folder + "/github.key",
                "-out", folder + "/github.crt",
            ], environment: Self.environment
        ).output()
        try #require(made.status == 0, "\(made)")
        try await machine.apply(
            """
            echo '\(Self.gitHub) github.com api.github.com' >>/etc/hosts
            cp '\(folder)/github.crt' /usr/local/share/ca-certificates
            update-ca-certificates
            """)
        let authority = server.url.dropFirst("http://".count)
        let front = try await Child(
            [
                "socat",
                "OPENSSL-LISTEN:443,bind=\(Self.gitHub),reuseaddr,fork,verify=0,cert=\(folder)/github.crt,"
                    + "key=\(folder)/github.key", "TCP:\(authority)",
            ], environment: Self.environment)
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        await front.end()
        try result.get()
    }

    /// Opens the terminal, approves each code, and checks what the reader has done.
    private func watch(_ path: String, _ server: ProviderStandIn, _ machine: BootedMachine) async throws {
        let (screen, commands) = (path + "/screen", path + "/commands")
        for name in ["opened", "ended"] { try #require(mkfifo("\(path)/\(name)", 0o600) == 0, "\(path)/\(name)") }
        for file in [screen, commands] { try Data().write(to: URL(filePath: file)) }
        try await openTerminal(path, recording: screen, commands, machine)
        print("The README: \(machine.folder.path)/README.md. The terminal: tmux -S \(path)/terminal attach")
        print("Write a line into \(path)/opened when the README is opened, and end the shell when it is over.")

        let follower = try await Child(["tail", "-n", "+1", "-f", screen], environment: Self.environment)
        let begin = try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await approve(follower, server) }
            _ = try await Child(["cat", path + "/opened"], environment: Self.environment).output()
            let begin = Date()
            _ = try await Child(["cat", path + "/ended"], environment: Self.environment).output()
            group.cancelAll()
            return begin
        }
        await follower.end()

        let typed = try String(contentsOfFile: commands, encoding: .utf8).split(separator: "\n").compactMap(Typed.init)
        for command in typed { print("\(command.seconds(after: begin)) s, status \(command.status): \(command.line)") }
        let token = try #require(
            typed.first { $0.status == 0 && $0.line.hasPrefix("authc token") }, "no token was printed")
        #expect(token.seconds(after: begin) <= Self.longest)
        let shown = try String(contentsOfFile: screen, encoding: .utf8)
        #expect(server.tokens.contains { shown.contains($0) })
    }

    /// A line that the reader typed.
    private struct Typed {
        let end: Double
        let status: Int
        let line: String

        init?(_ recorded: Substring) {
            let words = recorded.split(separator: " ", maxSplits: 2)
            guard words.count == 3, let end = Double(words[0]), let status = Int(words[1]) else { return nil }
            (self.end, self.status) = (end, status)
            // After its number in the shell's history.
            line = String(words[2].drop { $0.isNumber || $0 == " " })
        }

        func seconds(after begin: Date) -> Int { Int(end - begin.timeIntervalSince1970) }
    }

    /// - Parameters:
    ///   - screen: gets all that the terminal shows.
    ///   - commands: gets a line for each command: when it ended, its exit status, and the command.
    private func openTerminal(
        _ path: String, recording screen: String, _ commands: String, _ machine: BootedMachine
    ) async throws {
        let settings = "/etc/trial-shell"
        try await machine.apply(
            """
            cat >\(settings) <<'END'
            PS1='ada@debian:\\w\\$ '
            PROMPT_COMMAND='trial=$?; printf "%s %s %s\\n" "$EPOCHREALTIME" "$trial" "$(history 1)" >&9'
            cd ~/authd
            END
            """)
        let shell = machine.enteringAsAda([
            "TERM=xterm-256color", "LANG=C.UTF-8", "bash", "--rcfile", settings, "-i",
        ])
        let recorded =
            "exec 9>>\(commands); script --quiet --flush --log-out \(screen) --log-timing \(path)/timing --command "
            + "'\(shell.joined(separator: " "))'; echo >\(path)/ended"
        let opened = try await Child(
            [
                "tmux", "-S", path + "/terminal", "-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "24",
                recorded,
            ], environment: Self.environment
        ).output()
        try #require(opened.status == 0, "\(opened)")
    }

    /// Ten seconds after each code is shown: a person needs as long to type it elsewhere.
    private func approve(_ screen: Child, _ server: ProviderStandIn) async throws {
        var shown = 1
        while await screen.out.wait(for: "code:", times: shown) {
            try await Task.sleep(for: .seconds(10))
            // The terminal may break the line, or show the code in bold.
            let codes = screen.out.text.matches(of: /code:[^A-Z]*([A-Z]{4}-[A-Z]{4})/)
            try server.decide(userCode: String(#require(codes.last?.1)), approve: true)
            shown += 1
        }
    }
}
