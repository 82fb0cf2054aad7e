import Foundation
import StandInBackends
import TestSupport
import Testing

/// With the programs of the tests in `make test`, with release programs in a Debian without Swift in `make check-packages`.
@Suite("The README, on a machine with the Debian packages", .serialized, .timeLimit(.minutes(10)))
struct PackageReadmeTests {
    @Test("its commands take a new user to tokens, even after a wrong password, to completions and the live view")
    func readme() async throws {
        let commands = try BootedMachine.blocks(of: "README.md", "sh").map {
            $0.split(separator: "\n").map { $0.prefix { $0 != "#" }.trimmingCharacters(in: .whitespaces) }
        }
        let enable = try #require(commands[0].last { $0.hasPrefix("systemctl --user enable") })
        let install = try #require(commands.joined().first { $0.hasPrefix("sudo apt install ") })
        let tries = try #require(commands.first { $0 == ["authc try"] })
        #expect(commands.joined().contains("authc watch"))
        let gitHub = try #require(commands.first { $0.contains("authc login github") })
        let add = try #require(gitHub.first)
        var configuration = ProviderStandIn.Configuration()
        configuration.clientID = try #require(add.firstMatch(of: /--client-id (\S+)/).map { String($0.1) })
        try await ProviderStandIn.serving(.github, configuration) { server in
            try await BootedMachine.play(.installed(files: PackageTrial.files)) { machine in
                try await self.install(install, machine)
                try await machine.record("installed with the README's command")
                if PackageTrial.files != "/" {
                    #expect(try await machine.type("command -v swift || command -v swiftc").status == 1)
                }
                // The next login.
                try await machine.startAgain()
                try await machine.startKeyring()

                let enabled = try await machine.type(enable)
                #expect(enabled.status == 0, "\(enabled)")
                for line in tries {
                    let tried = try await machine.type(line)
                    #expect(tried.status == 0 && tried.out.contains("demo-token-2"), "\(tried)")
                }
                try await signIn(gitHub, at: server, machine)
                try await look(machine)
                try await signInByPassword(machine)
                try await lookAtBoth(machine)
                for columns in [80, 40] as [UInt16] { try await watch(machine, columns: columns) }
                try PackageTrial.record(
                    "the README's commands", "authc try; a sign-in at the stand-in for GitHub, and one by password")
            }
        }
    }

    /// Puts the packages where the README expects them. apt downloads nothing and asks no questions.
    private func install(_ command: String, _ machine: BootedMachine) async throws {
        _ = try await PackageTrial.assemble(for: machine)
        try await machine.apply(
            """
            rm -f /usr/sbin/policy-rc.d
            cd \(machine.folder.path)
            mkdir .build
            ln -s ../old .build/packages
            printf '%s\\n' 'APT::Install-Recommends "false";' 'APT::Get::Assume-Yes "true";' >apt.conf
            export APT_CONFIG="$PWD/apt.conf" DEBIAN_FRONTEND=noninteractive
            \(command.dropFirst("sudo ".count))
            """)
    }

    /// The four commands, with a server of this machine in place of GitHub.
    private func signIn(_ commands: [String], at server: ProviderStandIn, _ machine: BootedMachine) async throws {
        try #require(commands.count == 4)
        let added = try await machine.type(commands[0])
        #expect(added.status == 0 && added.err.contains("authc login github"), "\(added)")
        let file = "$HOME/.config/authd/providers/github.toml"
        try await machine.person(
            "sh", "-c", #"sed -i -E "/^#/!s|https://[A-Za-z0-9.-]+|$0|" "\#(file)""#, server.url)
        let reloaded = try await machine.type("authc reload")
        #expect(reloaded.status == 0, "\(reloaded)")

        let login = try await machine.begin(commands[1])
        #expect(await login.err.wait(for: "code: "))
        let code = try #require(login.err.text.firstMatch(of: /code: ([A-Z]{4}-[A-Z]{4})/)?.1, "\(login.err.text)")
        try await server.waitForCounts { $0.devicePolls >= 1 }
        try server.decide(userCode: String(code), approve: true)
        let signedIn = await login.output()
        #expect(signedIn.status == 0, "\(signedIn)")
        let token = try await machine.type(commands[2])
        #expect(token.status == 0 && token.out.count > 10, "\(token.err)")
        let user = try await machine.type(commands[3])
        #expect(user.status == 0 && user.out.contains("jane"), "\(user)")
    }

    private func look(_ machine: BootedMachine) async throws {
        for line in ["authc list", "authc status"] {
            let shown = try await machine.type(line)
            #expect(shown.status == 0 && shown.out.contains("github"), "\(shown)")
        }
        let prompt = try await machine.type(
            #"eval "$(authc shell-init bash)"; eval "$PROMPT_COMMAND"; echo "$AUTHD_PROMPT""#)
        #expect(prompt.status == 0 && prompt.out.contains("github"), "\(prompt)")
        let completed = try await machine.type(
            """
            . /usr/share/bash-completion/completions/authc
            COMP_WORDS=(authc status -s '') COMP_CWORD=3 COMP_LINE='authc status -s ' COMP_POINT=16
            _authc_and_values authc '' -s; echo "${COMPREPLY[@]}"
            """)
        #expect(completed.out == "github\n", "\(completed)")
        for page in ["authc", "authd", "authd.toml", "authd-profile", "authd-protocol", "authd-recipes"] {
            let found = try await machine.type("man -w \(page)")
            #expect(found.status == 0 && found.out.contains("/usr/share/man/"), "\(found)")
        }
        let doctor = try await machine.type("authc doctor")
        #expect(doctor.out.contains("github"), "\(doctor)")
    }

    /// The password is wrong at first: the address is asked for again, too, because it may be what is wrong.
    private func signInByPassword(_ machine: BootedMachine) async throws {
        let terminal = try await machine.terminal("login", "app-template", "--environment", "local")
        await terminal.waits(for: "E-mail: ")
        terminal.type("ada@example.org\n")
        await terminal.waits(for: "Password: ")
        terminal.type("Wrong-horse1\n")
        await terminal.waits(for: "it says: Invalid email or password")
        await terminal.waits(for: "E-mail [ada@example.org]: ")
        terminal.mark()
        terminal.type("\n")
        await terminal.waits(for: "Password: ")
        terminal.type("Correct-horse1\n")
        await terminal.waits(for: "status ")
        await terminal.ends()
        #expect(terminal.text.contains("status 0"), "\(terminal.text)")
    }

    private func lookAtBoth(_ machine: BootedMachine) async throws {
        let list = try await machine.type("authc list --format '{{name}} {{state}}'")
        #expect(list.out == "app-template active\ngithub active\n", "\(list)")
        let prompt = try await machine.type(
            #"zsh -fc 'eval "$(authc shell-init zsh)"; authd_prompt; print -r -- "$AUTHD_PROMPT"'"#)
        #expect(prompt.status == 0 && prompt.out.contains("github") && prompt.out.contains("app-template"), "\(prompt)")
        let completion = try await machine.type("zsh -fc 'autoload -Uz compinit; compinit -u -D; print $_comps[authc]'")
        #expect(completion.out == "_authc\n", "\(completion)")
    }

    /// `authc watch` on a terminal of 24 lines, which is as before after `q`.
    private func watch(_ machine: BootedMachine, columns: UInt16) async throws {
        let terminal = try await machine.terminal("watch", columns: columns)
        for name in ["app-template", "github"] { await terminal.waits(for: name) }
        terminal.type("q")
        await terminal.waits(for: "status ")
        await terminal.ends()
        #expect(terminal.text.contains("status 0") && terminal.echoes && terminal.readsLines, "\(terminal.text)")
        let parts = terminal.text.components(separatedBy: "\u{1B}[?1049l")
        #expect(parts.count == 2 && parts[0].contains("\u{1B}[?1049h"), "\(terminal.text)")
        var screen = TerminalScreen(columns: Int(columns), rows: 24)
        screen.feed(parts[0])
        #expect(!screen.hasOverflowed && screen.lines.last?.contains("q quit") == true, "\(screen.text)")
        for name in ["app-template", "github"] { #expect(screen.text.contains(name), "\(screen.text)") }
    }
}

extension BootedMachine {
    /// A line at the user's shell.
    func type(_ line: String) async throws -> Child.Output { try await asPerson(["bash", "-c", line]) }

    /// A line at the user's shell that waits for something.
    func begin(_ line: String) async throws -> Child { try await start(Self.asAda + ["bash", "-c", line]) }
}
